// One of several processes that serve one endpoint: node server.js, with REDIS_URL and PORT in its environment.
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import mcpPlugin, { defineResource, defineTool } from 'fastify-mcp-plugin'

const notes = { uri: 'note://today', name: 'today' }

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
redis.on('error', () => {}) // the plugin says when it is lost and when it is back
const app = Fastify({ logger: { level: 'warn' } })
await app.register(mcpPlugin, {
  serverInfo: { name: 'cluster', version: '1.0.0' },
  redis: { client: redis, prefix: 'example:' },
  hosts: ['127.0.0.1'], // that of the proxy, whatever its port
  tools: [
    defineTool({ name: 'where', description: 'Which process answers.', handler: () => `process ${process.pid}` }),
    defineTool({
      name: 'change',
      description: 'Changes the note of today, and tells whoever subscribed to it, at whatever process.',
      handler: (_, ctx) => {
        ctx.app.mcp.resources.updated(notes.uri)
        return `changed at process ${process.pid}`
      }
    })
  ],
  resources: [defineResource({ ...notes, read: () => 'a note' })]
})
app.addHook('onClose', async () => { redis.disconnect() })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => { app.close() })
await app.listen({ port: Number(process.env.PORT ?? 0) })
process.send?.(app.server.address().port)
