// Opens streams, closes the app, and has to end by itself; prints what would have kept it.
import http from 'node:http'
import Fastify from 'fastify'
import mcpPlugin from 'fastify-mcp-plugin'

const app = Fastify()
await app.register(mcpPlugin)
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address()

const request = (method, headers, body) => new Promise((resolve, reject) => {
  const sent = http.request({ port, host: '127.0.0.1', path: '/mcp', method, agent: false, headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers } }, resolve)
  sent.on('error', reject)
  sent.end(body && JSON.stringify(body))
})
const opened = await request('POST', {}, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } })
opened.resume()
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const streams = await Promise.all([
  request('GET', { accept: 'text/event-stream', 'mcp-session-id': opened.headers['mcp-session-id'] }),
  request('GET', { accept: 'text/event-stream' }),
  request('POST', { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }, { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: meta } })
])
for (const stream of streams) stream.resume()
const stats = app.mcp.stats()
await app.close()
await Promise.all(streams.map(stream => stream.complete || new Promise(resolve => stream.on('close', resolve))))
const resources = process.getActiveResourcesInfo().filter(name => /Timeout|TCP|Immediate/.test(name))
console.log(JSON.stringify({ streams: stats.streams, resources }))
