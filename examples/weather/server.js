import Fastify from 'fastify'
import weather from './app.js'

const app = Fastify({ logger: true })
await app.register(weather)

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => app.close())

const address = await app.listen({ host: process.env.HOST ?? '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
app.log.info(`Give this URL to an MCP client: ${address}/mcp`)
