// Ends by itself although sessions are open: none of their timers holds the process.
import Fastify from 'fastify'
import mcpPlugin from 'fastify-mcp-plugin'

const app = Fastify()
await app.register(mcpPlugin)
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
for (let i = 0; i < 3; i++) await app.inject({ method: 'POST', url: '/mcp', payload: { jsonrpc: '2.0', id: 1, method: 'initialize', params } })
console.log(JSON.stringify({ sessions: app.mcp.stats().sessions }))
