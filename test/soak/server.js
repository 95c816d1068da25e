// The server of the soak test: says over IPC what is left of everything when nobody is there.
import Fastify from 'fastify'
import { Type } from '@sinclair/typebox'
import mcpPlugin, { defineResource, defineTool } from 'fastify-mcp-plugin'

const wait = (ms, signal) => new Promise((resolve, reject) => {
  const over = () => { clearTimeout(timer); reject(signal.reason) }
  const timer = setTimeout(() => { signal.removeEventListener('abort', over); resolve() }, ms)
  signal.addEventListener('abort', over, { once: true })
})

const tools = [
  defineTool({ name: 'echo', inputSchema: Type.Object({ text: Type.String() }), handler: ({ text }) => text }),
  defineTool({ name: 'slow', inputSchema: Type.Object({ ms: Type.Integer() }), handler: async ({ ms }, { signal }) => { await wait(ms, signal); return 'done' } }),
  defineTool({ name: 'steps', handler: async (_, ctx) => { for (let i = 1; i < 20; i++) { await ctx.progress(i, 20); await wait(5, ctx.signal) } return 'done' } }),
  defineTool({ name: 'ask', handler: async (_, ctx) => (await ctx.elicit('Sure?', Type.Object({ sure: Type.Boolean() }))).action }),
  defineTool({ name: 'broken', handler: () => { throw new Error('broken') } })
]

const app = Fastify({ forceCloseConnections: true })
await app.register(mcpPlugin, {
  tools,
  resources: [defineResource({ uri: 'mem://a', name: 'a', read: () => 'a' })],
  sessions: { idle: 1_000 },
  sse: { keepAlive: 200, after: 50, replay: { ttl: 500 } }
})
await app.listen({ port: 0, host: '127.0.0.1' })

const changes = setInterval(() => { app.mcp.resources.updated('mem://a') }, 50)

const gauges = {
  sockets: () => new Promise((resolve, reject) => app.server.getConnections((error, count) => error ? reject(error) : resolve(count))),
  timers: async () => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout' || kind === 'Immediate').length,
  listeners: async () => [process, app.server].reduce((sum, emitter) => sum + emitter.eventNames().reduce((all, name) => all + emitter.listenerCount(name), 0), 0),
  async heap () {
    for (let i = 0; i < 4; i++) {
      global.gc()
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    return process.memoryUsage().heapUsed
  }
}

async function measure () {
  const measured = { ...app.mcp.stats() }
  for (const [name, gauge] of Object.entries(gauges)) measured[name] = await gauge()
  return measured
}

process.on('message', async what => {
  if (what === 'measure') process.send(await measure())
  else {
    clearInterval(changes)
    await app.close()
    process.disconnect()
  }
})
process.on('disconnect', () => process.exit())
process.send(`http://127.0.0.1:${app.server.address().port}/mcp`)
