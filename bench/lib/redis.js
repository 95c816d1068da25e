import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Redis } from 'ioredis'
import mcpPlugin from 'fastify-mcp-plugin'
import { tools } from './tools.js'
import { serverInfo } from './workloads.js'

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** The plugin as one of several processes, with a Redis of its own. */
export default async function serve (app) {
  const port = await freePort()
  const store = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' })
  store.on('error', error => { throw new Error(`redis-server cannot be started: ${error.message}`) })
  process.once('exit', () => store.kill())
  const redis = new Redis(port, '127.0.0.1')
  redis.on('error', () => {}) // until it is up
  while (await redis.ping().catch(() => '') !== 'PONG') await new Promise(resolve => setTimeout(resolve, 50))
  await app.register(mcpPlugin, { serverInfo, tools, redis })
}
