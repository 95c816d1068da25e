// Runs a snippet of the documentation, whatever port it asks for, and tells its parent what its endpoints answer.
import { channel } from 'node:diagnostics_channel'
import net from 'node:net'
import { pathToFileURL } from 'node:url'

const { listen } = net.Server.prototype
net.Server.prototype.listen = function (options, ...rest) {
  return listen.call(this, typeof options === 'object' ? { ...options, port: 0 } : options, ...rest)
}

const apps = []
channel('fastify.initialization').subscribe(({ fastify }) => {
  const paths = new Set()
  apps.push({ fastify, paths })
  fastify.addHook('onRoute', ({ method, url, config }) => { if (method === 'POST' && config?.mcp?.transport === 'http') paths.add(url) })
})

const { default: Fastify } = await import('fastify')
const { default: snippet } = await import(pathToFileURL(process.argv[2]).href)
if (apps.length === 0 && typeof snippet === 'function') await Fastify().register(snippet)

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const questions = {
  initialize: { headers: {}, params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'reader', version: '1' } } },
  'server/discover': { headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }, params: { _meta: meta } }
}
const [origin] = process.argv.slice(3)
const wanted = 'authorization,content-type,accept,mcp-protocol-version,mcp-session-id,mcp-method,mcp-name,mcp-param-region,last-event-id'
const answers = []
for (const { fastify, paths } of apps) {
  await fastify.ready()
  for (const url of paths) {
    for (const [method, { headers, params }] of Object.entries(questions)) {
      const reply = await fastify.inject({ method: 'POST', url, headers: { ...headers, ...(origin && { origin }) }, payload: { jsonrpc: '2.0', id: 1, method, params } })
      answers.push({ url, method, status: reply.statusCode, headers: reply.headers, answer: reply.json() })
    }
    if (origin === undefined) continue
    const headers = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': wanted }
    const preflight = await fastify.inject({ method: 'OPTIONS', url, headers })
    answers.push({ url, method: 'preflight', wanted, status: preflight.statusCode, headers: preflight.headers })
  }
  await fastify.close()
}
process.send(answers, () => process.exit(0))
