// Section 5: an app that closes while streams are open.
import { execFile } from 'node:child_process'
import net from 'node:net'
import tls from 'node:tls'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions } from '../../types/index.js'
import { build } from '../support/app.js'
import { until } from '../support/audit.js'
import { httpSse, legacy, modern, send, type Answer } from '../support/http.js'
import { Inbox, sleep, subscriptionId, type Call } from '../support/stdio.js'
import { callBody, PATIENCE, pingBody } from './host.js'

/** One stream of each kind on a new app. */
async function open (t: Test, options: McpOptions) {
  const server = await build(t, { options })
  const client = await legacy(server.url, '2025-11-25', { t })
  const listen = modern(server.url, { t }).listen({ toolsListChanged: true }, { id: 'sub-1' })
  listen.reply.catch(() => {})
  const held: Record<string, Answer> = {
    GET: await client.get(),
    'HTTP+SSE': (await httpSse(server.url, { t })).stream,
    listen: await listen.answer as Answer
  }
  await held.listen?.inbox.first('the acknowledgment', () => true)
  const call = (ms: number, accept: string): Call => {
    const call = client.start('tools/call', { name: 'slow', arguments: { ms } }, { headers: { Accept: accept } })
    call.reply.catch(() => {})
    return call
  }
  return { ...server, held, call }
}

async function timed (what: () => PromiseLike<unknown>): Promise<number> {
  const before = Date.now()
  await what()
  return Date.now() - before
}

t.test('BB-042 streams that wait for changes do not hold an app back', async t => {
  const { app, held } = await open(t, {})
  t.equal(app.mcp.stats().streams, 3)
  const ms = await timed(() => app.close())
  t.ok(ms < 1000, `closed in ${ms} ms`)
  for (const [kind, answer] of Object.entries(held)) {
    t.ok(await answer.over(), `${kind} has ended`)
    t.notOk(answer.cut, `${kind} ended in good order`)
  }
  const [acknowledged, completed, cancelled, ...more] = held.listen?.messages ?? []
  t.match(acknowledged, { method: 'notifications/subscriptions/acknowledged' })
  t.match(completed, { id: 'sub-1', result: { resultType: 'complete', _meta: { [subscriptionId]: 'sub-1' } } }, 'the subscription is completed')
  t.match(cancelled, { method: 'notifications/cancelled', params: { requestId: 'sub-1' } }, 'and then cancelled')
  t.strictSame(more, [])
  t.strictSame(app.mcp.stats(), { sessions: 0, streams: 0, calls: 0 })
})

t.test('BB-042 calls in flight may finish in the time they are given', async t => {
  const { app, call, slow } = await open(t, { closeTimeout: 3000, sse: { after: 20 } })
  const calls = [call(300, 'application/json'), call(300, 'text/event-stream')]
  t.ok(await until(() => app.mcp.stats().calls >= 2, PATIENCE))
  const ms = await timed(() => app.close())
  t.ok(ms < 2900, `closed in ${ms} ms, as soon as they were through`)
  for (const { reply } of calls) t.match((await reply).result, { content: [{ text: 'done' }] })
  t.strictSame(slow.map(one => one.outcome), ['finished', 'finished'])
})

t.test('BB-042 and are stopped when it is over', async t => {
  const { app, call, slow, held } = await open(t, { closeTimeout: 100, sse: { after: 20 } })
  const calls = [call(60_000, 'application/json'), call(60_000, 'text/event-stream')]
  t.ok(await until(() => app.mcp.stats().calls >= 2, PATIENCE))
  const answer = await calls[1]?.answer
  const ms = await timed(() => app.close())
  t.ok(ms < 1500, `closed in ${ms} ms`)
  t.strictSame(slow.map(one => one.outcome), ['aborted', 'aborted'], 'the handlers are told')
  t.ok(await answer?.over())
  t.notOk(answer?.cut, 'the stream of the call ends in good order')
  for (const [kind, one] of Object.entries(held)) t.notOk(one.cut, `and so does ${kind}`)
})

t.test('BB-042 a handler that does not listen is not waited for', async t => {
  const { app, url } = await build(t, { options: { closeTimeout: 100 } })
  app.mcp.tools.add({ name: 'deaf', handler: () => new Promise(() => {}) })
  for (const accept of ['application/json', 'text/event-stream']) {
    const call = modern(url, { t, headers: { Accept: accept } }).start('tools/call', { name: 'deaf' })
    call.reply.catch(() => {})
    call.answer?.catch(() => {})
  }
  t.ok(await until(() => app.mcp.stats().calls === 2, PATIENCE))
  const ms = await timed(() => app.close())
  t.ok(ms < 1500, `closed in ${ms} ms`)
})

t.test('BB-042 connections that nobody uses do not hold an app back', async t => {
  const { app, url } = await build(t, { options: { closeTimeout: 100 } })
  const { port, host } = new URL(url)
  const connect = async () => {
    const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    await new Promise(resolve => socket.once('connect', resolve))
    return socket
  }
  const [silent, asking] = [await connect(), await connect()]
  const answers: string[] = []
  asking.on('data', chunk => answers.push(String(chunk)))
  const ask = (name: string, args: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: name, method: 'tools/call', params: { name, arguments: args } })
    asking.write(`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  }
  ask('echo', { text: 'first' })
  t.ok(await until(() => answers.join('').includes('"id":"echo"'), PATIENCE))
  t.notMatch(answers.join(''), /connection: close/i, 'it may be used again')
  answers.length = 0
  ask('slow', { ms: 60_000 })
  t.ok(await until(() => app.mcp.stats().calls === 1, PATIENCE))
  const gone = [silent, asking].map(socket => new Promise(resolve => socket.once('close', resolve)))
  const ms = await timed(() => app.close())
  t.ok(ms < 1100, `closed in ${ms} ms`)
  await Promise.all(gone)
  t.match(answers.join(''), /connection: close\r\n[^]*"id":"slow"/i, 'the answer has gone out before')
})

/** A client that writes as it likes. */
async function connect (t: Test, url: string) {
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  let text = ''
  socket.on('data', chunk => { text += String(chunk) })
  const closed = new Promise(resolve => socket.once('close', resolve))
  await new Promise(resolve => socket.once('connect', resolve))
  return { socket, closed, text: () => text }
}

const pieces = (url: string, path = '/mcp') => {
  const body = JSON.stringify(callBody('echo', { text: 'late' }, 7))
  const head = `POST ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  return { head, body, whole: head + body }
}

t.test('BB-042 a request that never comes in full holds no app back', async t => {
  const halves: Record<string, (url: string) => string> = {
    'half a body': url => pieces(url).head + '{"jsonrpc"',
    'no body': url => pieces(url).head,
    'half a head': () => 'POST /mcp HT',
    'half a body after an answer': url => pieces(url).whole + pieces(url).head + '{',
    'half a head after an answer': url => pieces(url).whole + 'POST /mcp HT',
    'half a body that was refused': url => pieces(url).head.replace(/Host: .*/, 'Host: evil.example') + '{'
  }
  for (const [what, half] of Object.entries(halves)) {
    const { app, url } = await build(t, { options: { closeTimeout: 100 } })
    const { socket, closed } = await connect(t, url)
    socket.write(half(url))
    await sleep(50)
    const ms = await timed(() => app.close())
    t.ok(ms < 1100, `${what}: closed in ${ms} ms`)
    await closed
  }
})

t.test('BB-042 one that is on its way has the same time as a call in flight', async t => {
  const { app, url } = await build(t, { options: { closeTimeout: 3000 } })
  const { socket, text } = await connect(t, url)
  const { head, body } = pieces(url)
  socket.write(head)
  await sleep(50)
  const closing = timed(() => app.close())
  await sleep(100)
  socket.write(body)
  t.ok(await closing < 2900)
  t.ok(await until(() => /connection: close[^]*late/i.test(text())), text())
})

t.test('BB-042 requests to other routes are waited for, and then their connections are let go', async t => {
  const app = Fastify({ keepAliveTimeout: 60_000 })
  await app.register(mcpPlugin, { closeTimeout: 50 })
  app.post('/other', async () => 'said')
  app.get('/slow', async () => { await sleep(700); return 'done' })
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const url = `http://127.0.0.1:${(app.server.address() as net.AddressInfo).port}/mcp`
  const [slow, late] = [await connect(t, url), await connect(t, url)]
  slow.socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /sl')
  const { head, body } = pieces(url, '/other')
  late.socket.write(head)
  await sleep(50)
  const closing = timed(() => app.close())
  await sleep(400)
  late.socket.write(body)
  const ms = await closing
  t.ok(ms > 500 && ms < 2000, `closed in ${ms} ms`)
  t.match([slow.text(), late.text()], [/done$/, /said$/])
})

t.test('BB-042 over TLS it is the same, and half a handshake holds it back no more', async t => {
  const psk = Buffer.alloc(32, 7) // in the place of a certificate
  const common = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const
  const app = Fastify({ https: { ...common, pskCallback: () => psk } }) as unknown as FastifyInstance
  await app.register(mcpPlugin, { closeTimeout: 100 })
  app.get('/slow', async () => { await sleep(500); return 'done' })
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as net.AddressInfo
  const url = `https://127.0.0.1:${port}/mcp`
  const secure = async (text: string) => {
    const socket = tls.connect({ port, host: '127.0.0.1', ...common, pskCallback: () => ({ psk, identity: 'x' }), checkServerIdentity: () => undefined }).on('error', () => {})
    t.teardown(() => socket.destroy())
    let said = ''
    socket.on('data', chunk => { said += String(chunk) })
    await new Promise(resolve => socket.once('secureConnect', resolve))
    socket.write(text)
    return () => said
  }
  const greeting = await connect(t, url)
  greeting.socket.write(Buffer.from([22, 3, 1, 2, 0, 1]))
  await secure(pieces(url).head)
  await secure('POST /mcp HT')
  const answer = await secure('GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await sleep(100)
  const ms = await timed(() => app.close())
  t.ok(ms < 1500, `closed in ${ms} ms`)
  t.match(answer(), /done$/)
})

t.test('BB-042 a client that does not read is not waited for', async t => {
  const { app, url } = await build(t, { options: { closeTimeout: 100, sse: { maxBuffered: 64 * 1024 * 1024 } } })
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => {}).pause()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'big', arguments: { bytes: 20_000_000 } } })
  socket.write(`POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  t.ok(await until(() => app.mcp.stats().streams === 1, PATIENCE))
  const ms = await timed(() => app.close())
  t.ok(ms < 1500, `closed in ${ms} ms`)
})

t.test('BB-042 a request that comes while the app closes is not left hanging', async t => {
  const { app, url, call } = await open(t, { closeTimeout: 400 })
  const running = call(200, 'application/json')
  t.ok(await until(() => app.mcp.stats().calls >= 1, PATIENCE))
  const closing = app.close()
  // Fastify itself answers 503 from here on, in a shape of its own.
  const late = send(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(pingBody()) }, new Inbox(), () => {})
  const outcome = await Promise.race([late.answer.then(({ status }) => status, () => 'refused'), closing.then(() => sleep(1000)).then(() => 'hanging')])
  t.ok([200, 503, 'refused'].includes(outcome), `it is answered with ${outcome}`)
  t.match((await running.reply).result, { content: [{ text: 'done' }] })
  await closing
})

t.test('BB-042 a closed app leaves nothing that holds its process', async t => {
  const program = fileURLToPath(new URL('programs/close-process.js', import.meta.url))
  const { code, out, err } = await new Promise<{ code: unknown, out: string, err: string }>(resolve => {
    execFile(process.execPath, [program], { timeout: 20_000 }, (error, out, err) => resolve({ code: error?.code ?? error?.signal ?? 0, out, err }))
  })
  t.strictSame({ code, err }, { code: 0, err: '' }, 'it ends by itself')
  t.match(JSON.parse(out), { streams: 3, resources: [] })
})
