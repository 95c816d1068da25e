// A server for clients that leave: whatever goes wrong because of them is printed or ends the process.
import Fastify from 'fastify'
import mcpPlugin from 'fastify-mcp-plugin'

const app = Fastify({ http2: process.env.HTTP2 === '1', logger: { level: 'error', stream: process.stderr } })
app.get('/stats', async () => app.mcp.stats())
await app.register(mcpPlugin)
app.mcp.tools.add({
  name: 'chatty',
  description: 'Reports progress and says something, again and again.',
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  async handler ({ n }, ctx) {
    for (let i = 1; i <= n; i++) {
      await ctx.progress(i, n)
      await ctx.message('info', `line ${i}`)
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    return 'done'
  }
})
process.on('warning', warning => console.error(String(warning)))
process.once('SIGTERM', async () => {
  await app.close()
  process.exit(0)
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
