// Opens sessions and forgets them; prints the size of the heap before the first and after the last has gone.
import Fastify from 'fastify'
import mcpPlugin from 'fastify-mcp-plugin'

const IDLE = 100
const ROUND = 2000

const app = Fastify()
await app.register(mcpPlugin, { sessions: { idle: IDLE } })
app.mcp.tools.add({ name: 'echo', handler: () => 'x' })

async function abandon (many) {
  for (let i = 0; i < many; i++) {
    const params = { protocolVersion: '2025-11-25', capabilities: { roots: {}, experimental: { x: { i } } }, clientInfo: { name: `client ${i}`, version: '1' } }
    const opened = await app.inject({ method: 'POST', url: '/mcp', payload: { jsonrpc: '2.0', id: 1, method: 'initialize', params } })
    const headers = { 'mcp-session-id': opened.headers['mcp-session-id'] }
    await app.inject({ method: 'POST', url: '/mcp', headers, payload: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo' } } })
    await app.inject({ method: 'POST', url: '/mcp', headers, payload: { jsonrpc: '2.0', id: 3, method: 'logging/setLevel', params: { level: 'debug' } } })
  }
}

async function heap () {
  while (app.mcp.stats().sessions > 0) await new Promise(resolve => setTimeout(resolve, IDLE))
  for (let i = 0; i < 5; i++) {
    globalThis.gc()
    await new Promise(resolve => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

// Once around first: what is compiled and cached for the first requests is no leak.
await abandon(ROUND / 4)
const before = await heap()
await abandon(ROUND)
const after = await heap()
console.log(JSON.stringify({ sessions: app.mcp.stats().sessions, before, after }))
