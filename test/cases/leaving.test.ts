// Section 5: clients that leave, and what their leaving means.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import { build, type Server } from '../support/app.js'
import { said, until } from '../support/audit.js'
import { legacy, modern } from '../support/http.js'
import { sleep } from '../support/stdio.js'
import { callBody, host, PATIENCE } from './host.js'

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }

interface Program { url: URL, stop: () => Promise<{ code: number | null, out: string, err: string }> }

/** A server in a process of its own, so that what would end a process ends that one. */
async function start (t: Test, env: Record<string, string>): Promise<Program> {
  const file = fileURLToPath(new URL('programs/leaving.js', import.meta.url))
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', file], { env: { ...process.env, ...env } })
  t.teardown(() => { child.kill('SIGKILL') })
  let [out, err] = ['', '']
  child.stderr.on('data', chunk => { err += chunk })
  const lines = createInterface(child.stdout)
  lines.on('line', line => { out += line + '\n' })
  const [first] = await once(lines, 'line') as [string]
  return {
    url: new URL(first),
    async stop () {
      child.kill('SIGTERM')
      const [code] = await once(child, 'close') as [number | null]
      return { code, out: out.slice(first.length + 1), err }
    }
  }
}

/** Writes a request by hand and leaves after `leave` says so, with whatever has come by then. */
function abandon (url: URL, request: string, leave: (received: string) => boolean): Promise<void> {
  return new Promise(resolve => {
    const socket = net.connect(Number(url.port), url.hostname, () => socket.write(request))
    let received = ''
    const look = () => { if (leave(received)) socket.destroy() }
    socket.setTimeout(5000, () => socket.destroy()).on('error', () => {}).on('close', () => resolve())
    socket.on('data', chunk => {
      received += chunk
      look()
    })
    setTimeout(look, 5)
  })
}

const events = (received: string) => received.split('event: message').length - 1

t.test('BB-039 whenever a client leaves, the server lives on', async t => {
  const { url, stop } = await start(t, {})
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'chatty', arguments: { n: 50 }, _meta: { ...meta, progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' } } })
  const head = (length = body.length) => [
    'POST /mcp HTTP/1.1', `Host: ${url.host}`, 'Content-Type: application/json', 'Accept: application/json, text/event-stream', 'MCP-Protocol-Version: 2026-07-28',
    'Mcp-Method: tools/call', 'Mcp-Name: chatty', `Content-Length: ${length}`, '', ''
  ].join('\r\n')
  const ways: Array<[string, (received: string) => boolean]> = [
    [head() + body, () => true],
    [head() + body, received => events(received) >= 3],
    [head() + body, received => received.includes('"id":1')],
    [head(body.length * 2) + body, () => true]
  ]
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 20 }, (_, n) => abandon(url, ...ways[n % ways.length] as [string, () => boolean])))
  await settled(async () => (await fetch(new URL('/stats', url))).text())
  const { code, out, err } = await stop()
  t.strictSame({ code, out, err }, { code: 0, out: '', err: '' }, 'no crash, no warning, no error in the log')
})

/** Waits until the server says that nothing is under way. */
async function settled (stats: () => Promise<string>) {
  const idle = '{"sessions":0,"streams":0,"calls":0}'
  let last = ''
  for (const end = Date.now() + PATIENCE; last !== idle && Date.now() < end; await sleep(20)) last = await stats()
  t.equal(last, idle, 'nothing is left of them')
}

t.test('BB-039 over HTTP/2 as well', async t => {
  const { url, stop } = await start(t, { HTTP2: '1' })
  const session = http2.connect(url.origin)
  t.teardown(() => session.destroy())
  session.on('error', () => {})
  const ask = (headers: Record<string, string>, body?: unknown) => {
    const stream = session.request({ ':method': body === undefined ? 'GET' : 'POST', 'content-type': 'application/json', ...headers })
    stream.on('error', () => {})
    if (body !== undefined) stream.end(JSON.stringify(body))
    return stream
  }
  const text = async (stream: http2.ClientHttp2Stream) => {
    let received = ''
    for await (const chunk of stream.setEncoding('utf8')) received += chunk
    return received
  }
  const chatty = (n: number) => ({ ...callBody('chatty', { n }), params: { name: 'chatty', arguments: { n }, _meta: { ...meta, progressToken: 1 } } })
  const headers = { ':path': '/mcp', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'chatty' }
  t.match(JSON.parse(await text(ask({ ':path': '/mcp', accept: 'application/json' }, callBody('chatty', { n: 0 })))), { id: 1, result: { content: [{ text: 'done' }] } }, 'JSON')
  const streamed = await text(ask(headers, chatty(3)))
  t.equal(events(streamed), 4, 'a stream: three notifications and the answer')
  t.match(streamed, '"text":"done"')
  for (let i = 0; i < 50; i++) {
    const stream = ask(headers, chatty(50))
    if (i % 2 === 0) await once(stream, 'data')
    stream.close(http2.constants.NGHTTP2_CANCEL)
  }
  await settled(() => text(ask({ ':path': '/stats' })))
  session.close()
  const { code, out, err } = await stop()
  t.strictSame({ code, out, err }, { code: 0, out: '', err: '' })
})

t.test('BB-040 whether leaving cancels depends on the revision', async t => {
  const both = 'application/json, text/event-stream'
  const table: Array<[string, (server: Server) => Promise<{ headers?: object, client: Awaited<ReturnType<typeof legacy>> }>, 'aborted' | 'finished']> = [
    ['a session, by stream', async ({ url }) => ({ client: await legacy(url, '2025-11-25', { t, headers: { Accept: 'text/event-stream' } }) }), 'finished'],
    ['a session, by JSON', async ({ url }) => ({ client: await legacy(url, '2025-06-18', { t, headers: { Accept: both } }) }), 'finished'],
    ['no session', async ({ url }) => ({ client: await legacy(url, '2025-06-18', { t, handshake: false }) }), 'aborted'],
    ['2026-07-28, by stream', async ({ url }) => ({ client: modern(url, { t, headers: { Accept: 'text/event-stream' } }) }), 'aborted'],
    ['2026-07-28, by JSON', async ({ url }) => ({ client: modern(url, { t, headers: { Accept: 'application/json' } }) }), 'aborted']
  ]
  for (const [title, connect, outcome] of table) {
    const server = await build(t)
    const { client } = await connect(server)
    const ms = outcome === 'finished' ? 800 : 60_000
    const call = client.start('tools/call', { name: 'slow', arguments: { ms } })
    t.ok(await until(() => server.app.mcp.stats().calls === 1, PATIENCE), title)
    await sleep(50)
    call.abort()
    t.ok(await until(() => server.slow.length === 1, PATIENCE), title)
    t.strictSame(server.slow, [{ ms, outcome }], `${title}: ${outcome}`)
    t.ok(await until(() => JSON.stringify({ ...server.app.mcp.stats(), sessions: 0 }) === '{"sessions":0,"streams":0,"calls":0}', PATIENCE), `${title}: nothing is left`)
  }
})

t.test('BB-041 a patient client is not taken for one that has left', async t => {
  const { url, slow } = await build(t)
  for (const accept of ['application/json', 'text/event-stream']) {
    for (const client of [modern(url, { t }), await legacy(url, '2025-11-25', { t }), await legacy(url, '2025-11-25', { t, handshake: false })]) {
      t.equal(said(await client.call('slow', { ms: 300 }, { headers: { Accept: accept } })), 'done', `${client.dialect.revision} ${accept}`)
    }
  }
  t.ok(slow.every(({ outcome }) => outcome === 'finished'))
})

t.test('BB-041 nor is one that sends slowly', async t => {
  const { port, app } = await build(t)
  const body = JSON.stringify(callBody('echo', { text: 'x'.repeat(200_000) }))
  const answer = await new Promise<string>(resolve => {
    const socket = net.connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', chunk => { received += chunk }).on('close', () => resolve(received))
    socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`)
    for (let i = 0; i < 20; i++) setTimeout(() => socket.write(body.slice(i * 11_000, (i + 1) * 11_000)), i * 10)
  })
  t.match(answer, /^HTTP\/1.1 200 /)
  t.equal(answer.split('x'.repeat(200_000)).length, 2, 'the whole text comes back')
  t.equal(app.mcp.stats().calls, 0)
})

t.test('BB-041 nor is one that has closed its half of the connection, where the server keeps the other', async t => {
  let aborted = 0
  const { app, port } = await host(t, async app => {
    // Node ends its own half at once unless it is told not to.
    Object.assign(app.server, { httpAllowHalfOpen: true })
    await app.register(mcpPlugin)
    app.mcp.tools.add({
      name: 'slow',
      async handler (_, { signal }) {
        signal.addEventListener('abort', () => { aborted++ })
        await sleep(200)
        return 'done'
      }
    })
  })
  const answer = await new Promise<string>(resolve => {
    const body = JSON.stringify(callBody('slow'))
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let received = ''
    socket.on('data', chunk => { received += chunk }).on('end', () => resolve(received))
    socket.end(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  t.match(answer, /"text":"done"/)
  t.equal(aborted, 0)
  t.equal(app.mcp.stats().calls, 0)
})
