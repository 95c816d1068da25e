// npm run bench streams: what idle streams and sessions hold beside a plain Fastify route of server-sent events, and how fast one change reaches all of them.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { fileURLToPath } from 'node:url'

const STREAMS = 5_000
const SESSIONS = 10_000
const AT_ONCE = 100
const CALLS = 20
const server = fileURLToPath(new URL('lib/streams-server.js', import.meta.url))

const handshake = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } } }
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function start (kind) {
  const child = fork(server, [kind], { execArgv: ['--expose-gc'], env: { ...process.env, NODE_ENV: 'production' } })
  const [{ port }] = await once(child, 'message')
  const ask = async question => {
    child.send(question)
    const [answer] = await once(child, 'message')
    return answer[question]
  }
  return {
    port,
    ask,
    async stop () {
      child.disconnect()
      await once(child, 'exit')
    }
  }
}

/** `total` times, a few at once. */
async function each (total, run) {
  let next = 0
  await Promise.all(Array.from({ length: AT_ONCE }, async () => { while (next < total) await run(next++) }))
}

const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })

function post (port, headers, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, path: '/mcp', method: 'POST', agent, headers: { ...accept, ...headers } }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => { text += chunk }).on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
    request.on('error', reject).end(JSON.stringify(body))
  })
}

/** A stream as its bytes: its first ones have come, and `heard` gets those that follow. */
function open (port, text, heard) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
    let begun = ''
    socket.setEncoding('utf8').on('error', reject).on('data', chunk => {
      if (begun === undefined) return heard?.(chunk)
      begun += chunk
      if (!begun.includes('\r\n\r\n')) return
      if (!begun.startsWith('HTTP/1.1 200')) return reject(new Error(`no stream: ${begun.slice(0, 300)}`))
      begun = undefined
      resolve(socket)
    })
  })
}

const get = headers => `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n${headers}\r\n`
function listen (id) {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: meta } })
  return `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

async function session (port) {
  const { headers } = await post(port, {}, handshake)
  const id = headers['mcp-session-id']
  await post(port, { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }, { jsonrpc: '2.0', method: 'notifications/initialized' })
  return id
}

const hosted = (text, port) => text.replace('Host: 127.0.0.1', `Host: 127.0.0.1:${port}`)
const rows = []

/** What is held, each in a server of its own: `prepare` comes before the first look at the memory. */
async function held (title, kind, total, run, prepare) {
  const one = await start(kind)
  const prepared = await prepare?.(one.port)
  const before = await one.ask('memory')
  const sockets = []
  await each(total, async i => { sockets.push(await run(one.port, i, prepared)) })
  const after = await one.ask('memory')
  rows.push({ what: title, number: total, 'heap, KiB each': kib((after.heap - before.heap) / total), 'rss, KiB each': kib((after.rss - before.rss) / total) })
  return { one, sockets }
}

const kib = bytes => (bytes / 1024).toFixed(1)

async function end ({ one, sockets }) {
  for (const socket of sockets) socket?.destroy?.()
  await one.stop()
}

await end(await held('plain Fastify route of server-sent events', 'plain', STREAMS, port => open(port, hosted(get(''), port))))
await end(await held('GET stream of a session', 'plugin', STREAMS, (port, i, ids) => open(port, hosted(get(`Mcp-Session-Id: ${ids[i]}\r\n`), port)), async port => {
  const ids = []
  await each(STREAMS, async () => { ids.push(await session(port)) })
  return ids
}))
await end(await held('HTTP+SSE stream, with its session', 'plugin', STREAMS, port => open(port, hosted(get(''), port))))
await end(await held('session without a stream', 'plugin', SESSIONS, port => session(port)))

let heard = 0
let all
const listening = await held('subscriptions/listen stream', 'plugin', STREAMS, (port, i) => open(port, hosted(listen(i), port), chunk => {
  heard += chunk.split('notifications/tools/list_changed').length - 1
  if (heard === STREAMS) all(Date.now())
}))
console.table(rows)

const last = new Promise(resolve => { all = resolve })
const cpu = await listening.one.ask('cpu')
const began = await listening.one.ask('change')
const took = await last - began
console.log(`one change to ${STREAMS} listen streams: ${took} ms to the last, ${((await listening.one.ask('cpu') - cpu) / 1000).toFixed(0)} ms of CPU`)
await end(listening)

const one = await start('plugin')
const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'steps' }
const call = i => post(one.port, headers, { jsonrpc: '2.0', id: i, method: 'tools/call', params: { name: 'steps', _meta: { ...meta, progressToken: `p${i}` } } })
await call(0)
const before = { cpu: await one.ask('cpu'), time: performance.now() }
const answers = await Promise.all(Array.from({ length: CALLS }, (_, i) => call(i + 1)))
const events = answers.reduce((sum, { text }) => sum + text.split('notifications/progress').length - 1, 0)
const seconds = (performance.now() - before.time) / 1000
if (events !== CALLS * 1_000) throw new Error(`${events} of ${CALLS * 1_000} progress events came`)
console.log(`progress: ${Math.round(events / seconds)} events a second on ${CALLS} streams, ${((await one.ask('cpu') - before.cpu) / events).toFixed(1)} µs of CPU each`)
await one.stop()
agent.destroy()
process.exit()
