// Redis, three processes of one server, a round-robin proxy before them, and a client: node examples/cluster/run.js
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { roundRobin } from './proxy.js'

const PROCESSES = 3
const file = fileURLToPath(new URL('server.js', import.meta.url))

/** A Redis of its own, unless REDIS_URL names one. */
async function redis () {
  if (process.env.REDIS_URL !== undefined) return { url: process.env.REDIS_URL, stop () {} }
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address()
  free.close()
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' })
  const failed = once(child, 'error').then(([error]) => { throw new Error(`There is no redis-server (${error.message}): install one, or set REDIS_URL`) })
  await Promise.race([failed, once(child, 'spawn')])
  return { url: `redis://127.0.0.1:${port}`, stop: () => child.kill() }
}

const { url, stop } = await redis()
const servers = Array.from({ length: PROCESSES }, () => fork(file, { env: { ...process.env, REDIS_URL: url, PORT: '0' } }))
const ports = await Promise.all(servers.map(async server => (await once(server, 'message'))[0]))
const proxy = roundRobin(ports.map(port => `127.0.0.1:${port}`)).listen(0, '127.0.0.1')
await once(proxy, 'listening')
const endpoint = `http://127.0.0.1:${proxy.address().port}/mcp`
console.log(`${PROCESSES} processes (${servers.map(({ pid }) => pid).join(', ')}) behind ${endpoint}`)

const client = new Client({ name: 'example', version: '1.0.0' })
let told
const heard = new Promise(resolve => { told = resolve })
client.setNotificationHandler('notifications/resources/updated', ({ params }) => { told(params.uri) })
await client.connect(new StreamableHTTPClientTransport(new URL(endpoint)))

const said = async name => (await client.callTool({ name })).content[0].text
for (let i = 0; i < PROCESSES; i++) console.log(`a call of one session: answered by ${await said('where')}`)
await client.subscribeResource({ uri: 'note://today' })
console.log(`the note: ${await said('change')}`)
console.log(`the client, on its stream at one process, is told that ${await heard} has changed`)

await client.close()
proxy.closeAllConnections()
proxy.close()
for (const server of servers) server.kill('SIGTERM')
await Promise.all(servers.map(server => once(server, 'exit')))
stop()
