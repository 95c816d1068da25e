// A server that holds many streams, in a process of its own: node --expose-gc streams-server.js <plugin | plain>
import { fastifySSE } from '@fastify/sse'
import Fastify from 'fastify'
import mcpPlugin, { defineTool } from 'fastify-mcp-plugin'

const [,, kind] = process.argv
const app = Fastify()
if (kind === 'plugin') {
  const steps = defineTool({ name: 'steps', handler: async (_, ctx) => { for (let i = 1; i <= 1_000; i++) await ctx.progress(i, 1_000) } })
  await app.register(mcpPlugin, { tools: [steps], sessions: { max: 50_000 }, limits: { streams: 50_000 } })
} else {
  await app.register(fastifySSE)
  app.get('/mcp', { sse: true }, async (_, reply) => {
    reply.sse.keepAlive()
    reply.sse.sendHeaders()
    reply.raw.flushHeaders()
  })
}
await app.listen({ host: '127.0.0.1', port: 0, backlog: 5_000 })

const answers = {
  /** Heap and buffers in bytes, after a collection. */
  async memory () {
    for (let i = 0; i < 4; i++) {
      globalThis.gc()
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    const { heapUsed, external, rss } = process.memoryUsage()
    return { heap: heapUsed + external, rss }
  },
  cpu () {
    const { user, system } = process.cpuUsage()
    return user + system
  },
  async change () {
    app.mcp.tools.add(defineTool({ name: `t${Date.now()}`, handler: () => 'a' }))
    return Date.now()
  }
}
process.on('message', async question => process.send({ [question]: await answers[question]() }))
process.on('disconnect', () => process.exit())
process.send({ port: app.server.address().port })
