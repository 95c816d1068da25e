import net from 'node:net'
import Fastify from 'fastify'
import type { FastifyReply } from 'fastify'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { cut, hearClose } from '../../lib/transports/queued.js'
import { build } from '../support/app.js'
import { until } from '../support/time.js'

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }

function post (method: string, id: number, params: { name?: string, [more: string]: unknown }): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })
  const headers = ['Host: localhost', 'Content-Type: application/json', 'Accept: application/json, text/event-stream', 'MCP-Protocol-Version: 2026-07-28', `Mcp-Method: ${method}`, ...(params.name === undefined ? [] : [`Mcp-Name: ${params.name}`]), `Content-Length: ${Buffer.byteLength(body)}`]
  return `POST /mcp HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`
}

const GET = 'GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n'
const listen = (id: number) => post('subscriptions/listen', id, { notifications: { toolsListChanged: true } })
const slow = (id: number) => post('tools/call', id, { name: 'slow', arguments: { ms: 60_000 } })

/** One connection with all of it at once. */
async function connect (t: Test, url: string, text: string): Promise<net.Socket> {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => {}).resume()
  await once(socket, 'connect')
  socket.write(text.replaceAll('Host: localhost', `Host: ${new URL(url).host}`))
  return socket
}

t.test('requests that wait for their turn on a connection end with it', async t => {
  const rows: [string, string, (stats: { sessions: number, streams: number, calls: number }) => boolean][] = [
    ['listen streams', listen(1) + listen(2) + listen(3), ({ streams }) => streams === 3],
    ['calls', slow(1) + slow(2) + slow(3), ({ calls }) => calls === 3],
    ['HTTP+SSE', GET + GET, ({ streams, sessions }) => streams === 2 && sessions === 2]
  ]
  for (const [what, text, begun] of rows) {
    const { app, url, slow: calls } = await build(t)
    const socket = await connect(t, url, text)
    t.ok(await until(() => begun(app.mcp.stats())), `${what} have begun`)
    socket.destroy()
    t.ok(await until(() => JSON.stringify(app.mcp.stats()) === '{"sessions":0,"streams":0,"calls":0}'), `${what} are gone: ${JSON.stringify(app.mcp.stats())}`)
    if (what === 'calls') t.strictSame(calls.map(({ outcome }) => outcome), ['aborted', 'aborted', 'aborted'], 'each handler was told')
    const began = Date.now()
    await app.close()
    t.ok(Date.now() - began < 900, `${what} do not hold up the end`)
  }
})

t.test('streams that wait for their turn do not hold up the end of the server', async t => {
  const { app, url } = await build(t, { options: { closeTimeout: 200 } })
  await connect(t, url, listen(1) + listen(2) + listen(3))
  t.ok(await until(() => app.mcp.stats().streams === 3))
  const began = Date.now()
  await app.close()
  t.ok(Date.now() - began < 5_000)
})

t.test('a hundred on one connection bring no warning of listeners, and each is answered in its turn', async t => {
  const warnings: string[] = []
  const warned = ({ message }: Error) => { warnings.push(message) }
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const { url } = await build(t)
  const socket = await connect(t, url, Array.from({ length: 100 }, (_, i) => post('tools/call', i, { name: 'echo', arguments: { text: `n${i}` } })).join(''))
  let text = ''
  socket.on('data', chunk => { text += chunk })
  t.ok(await until(() => text.includes('n99')))
  t.strictSame([...text.matchAll(/"text":"n(\d+)"/g)].map(([, n]) => Number(n)), Array.from({ length: 100 }, (_, i) => i))
  t.strictSame(warnings, [])
})

t.test('a response whose connection was gone before is cut at once, and one that has its turn is left to Node', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  const replies: FastifyReply[] = []
  app.get('/', (_, reply) => { replies.push(reply) })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = await connect(t, url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2))
  t.ok(await until(() => replies.length === 2))
  const [first, second] = replies as [FastifyReply, FastifyReply]
  hearClose(first)
  t.equal(first.request.raw.socket.listeners('close').length, second.request.raw.socket.listenerCount('close'))
  socket.destroy()
  t.ok(await until(() => first.raw.destroyed))
  t.equal(second.raw.destroyed, false, 'Node tells it nothing')
  let closed = 0
  second.raw.on('close', () => { closed++ })
  hearClose(second)
  t.strictSame([second.raw.destroyed, closed], [true, 1])
  cut(second.raw)
  t.equal(closed, 1, 'once')
})
