import { connect } from 'node:net'
import Fastify from 'fastify'
import type { InjectOptions } from 'fastify'
import t from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions, Revision } from '../../types/index.js'
import { build } from '../support/app.js'
import { legacy, modern, send } from '../support/http.js'
import type { HttpPeer } from '../support/http.js'
import { Inbox } from '../support/stdio.js'
import { until } from '../support/time.js'

const request = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const call = (name: string, args = {}, more: object = {}) => request('tools/call', { name, arguments: args, ...more })
const hello = (version: Revision = '2025-11-25') => request('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'c', version: '1' } })
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const note = { jsonrpc: '2.0', method: 'notifications/initialized' }

/** An app that is asked without a socket. */
async function quiet (t: Parameters<typeof build>[0], options: McpOptions = {}) {
  const { app, ...rest } = await build(t, { options, listen: false })
  const ask = (method: 'GET' | 'POST' | 'DELETE', payload?: unknown, headers = {}) =>
    app.inject({ method, url: '/mcp', headers: JSON.parse(JSON.stringify(headers)), ...(payload === undefined ? {} : { payload }) } as InjectOptions)
  const post = (payload: unknown, headers = {}) => ask('POST', payload, headers)
  return { app, ask, post, session: async () => (await post(hello())).headers['mcp-session-id'] as string, ...rest }
}

/** A GET whose stream stays open. */
async function listen (t: Parameters<typeof build>[0], url: string, headers: Record<string, string>) {
  const { answer, abort } = send(url, { method: 'GET', headers }, new Inbox(), (message, answer) => answer.inbox.push(message))
  t.teardown(abort)
  return await answer
}

t.test('one message is one POST', async t => {
  const { post } = await quiet(t)
  const rows: [string, unknown, object, number, object | undefined][] = [
    ['a request', request('ping'), {}, 200, { id: 1, result: {} }],
    ['an unknown method', request('x/y'), {}, 200, { id: 1, error: { code: -32601 } }],
    ['a notification', note, {}, 202, undefined],
    ['a response to nothing', { jsonrpc: '2.0', id: 5, result: {} }, {}, 400, { error: { code: -32600 } }],
    ['no message', { id: 7 }, {}, 400, { id: 7, error: { code: -32600 } }],
    ['null as id', { ...request('ping'), id: null }, {}, 400, { id: undefined, error: { code: -32600 } }],
    ['nothing', '', { 'content-type': 'application/json' }, 400, { error: { code: -32600 } }],
    ['no JSON', '{"a":', { 'content-type': 'application/json' }, 400, { error: { code: -32700 } }],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}', { 'content-type': 'application/json' }, 400, { error: { code: -32600 } }],
    ['another charset', '{}', { 'content-type': 'application/json; charset=iso-8859-1' }, 415, { error: { code: -32600, message: /UTF-8/ } }],
    ['another charset in quotes', '{}', { 'content-type': 'application/json;x=1; Charset="UTF-16"' }, 415, { error: { code: -32600, message: /UTF-8/ } }],
    ['another type', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415, { error: { code: -32600 } }],
    ['JSON with a charset', JSON.stringify(request('ping')), { 'content-type': 'application/json; charset=utf-8' }, 200, { result: {} }]
  ]
  for (const [what, payload, headers, status, body] of rows) {
    const reply = await post(typeof payload === 'number' ? String(payload) : payload, headers)
    t.equal(reply.statusCode, status, what)
    if (body === undefined) t.equal(reply.body, '', what)
    else t.match([reply.json(), reply.headers['content-type']], [{ jsonrpc: '2.0', ...body }, /^application\/json/], what)
  }
})

t.test('Accept is read leniently', async t => {
  const { post } = await quiet(t)
  const rows: [string | undefined, number, RegExp][] = [
    [undefined, 200, /json/], ['*/*', 200, /json/], ['application/json', 200, /json/],
    ['application/json, text/event-stream', 200, /json/], ['text/event-stream', 200, /event-stream/], ['text/html', 406, /json/]
  ]
  for (const [accept, status, type] of rows) t.match(await post(request('ping'), { accept }), { statusCode: status, headers: { 'content-type': type } }, String(accept))
})

t.test('a body may be as long as the option says, or as the app', async t => {
  const long = call('echo', { text: 'x'.repeat(300) })
  const { post } = await quiet(t, { limits: { body: 200 } })
  t.match([(await post(request('ping'))).statusCode, (await post(long)).statusCode], [200, 413])
  const app = Fastify({ bodyLimit: 200 })
  t.teardown(() => app.close())
  await app.register(mcpPlugin)
  t.equal((await app.inject({ method: 'POST', url: '/mcp', payload: long })).statusCode, 413)
})

t.test('what is not there is 405, and Allow names what is', async t => {
  const rows: [McpOptions, Record<string, number>, string][] = [
    [{}, { PUT: 405, PATCH: 405, HEAD: 405, GET: 400, DELETE: 400 }, 'GET, POST, DELETE'],
    [{ sessions: false }, { GET: 405, DELETE: 405, HEAD: 405 }, 'POST'],
    [{ sessions: false, httpSse: true }, { DELETE: 405 }, 'GET, POST'],
    [{ revisions: ['2026-07-28'] }, { GET: 405, DELETE: 405 }, 'POST']
  ]
  for (const [options, verbs, allow] of rows) {
    const { app } = await quiet(t, options)
    for (const [method, status] of Object.entries(verbs)) {
      const reply = await app.inject({ method: method as 'GET', url: '/mcp', headers: { 'mcp-protocol-version': '2025-11-25', accept: 'text/event-stream' } })
      t.equal(reply.statusCode, status, `${method} ${JSON.stringify(options)}`)
      if (status === 405) t.equal(reply.headers.allow, allow, method)
    }
  }
})

t.test('a session is opened by initialize, found by its header, and ended by DELETE', async t => {
  const { app, ask, post, session } = await quiet(t)
  const id = await session()
  const headers = { 'mcp-session-id': id }
  t.match(id, /^[\x21-\x7e]+$/)
  t.match(await post(call('who'), headers), { statusCode: 200, body: /session.*true/ })
  t.match(await post(note, headers), { statusCode: 202 })
  t.not(await session(), id, 'initialize opens another one')
  t.match(await post(hello(), headers), { statusCode: 200, headers: { 'mcp-session-id': String } }, 'whatever session it names')
  const wrong = { ...headers, 'mcp-protocol-version': '2025-06-18' }
  for (const reply of [await post(request('ping'), wrong), await post(note, wrong), await ask('DELETE', undefined, wrong), await post({ jsonrpc: '2.0', id: 1, result: {} }, wrong)]) t.equal(reply.statusCode, 400)
  t.match(await post({ jsonrpc: '2.0', id: 1, result: {} }, headers), { statusCode: 202 })
  t.match(await ask('DELETE', undefined, headers), { statusCode: 204, body: '' })
  for (const reply of [await post(request('ping'), headers), await post(note, headers), await ask('DELETE', undefined, headers), await ask('GET', undefined, { ...headers, accept: 'text/event-stream' })]) {
    t.match([reply.statusCode, reply.json()], [404, { error: { code: -32600 } }])
  }
  t.equal(app.mcp.stats().sessions, 2)
})

t.test('initialize is refused where there is no room, and answered all the same where there are no sessions', async t => {
  const full = await quiet(t, { sessions: { max: 1 } })
  t.match(await full.post(hello()), { statusCode: 200, headers: { 'mcp-session-id': String } })
  t.match(await full.post(hello()), { statusCode: 503, headers: { 'retry-after': /\d/, 'mcp-session-id': undefined } })
  const { post } = await quiet(t, { sessions: false })
  t.match(await post(hello()), { statusCode: 200, headers: { 'mcp-session-id': undefined } })
  t.match((await post(hello())).json().result.capabilities, { tools: { listChanged: undefined } })
})

t.test('2026-07-28 repeats in headers what the body says, and knows no session', async t => {
  const { post } = await quiet(t)
  const version = { 'mcp-protocol-version': '2026-07-28' }
  const discover = { ...version, 'mcp-method': 'server/discover' }
  const rows: [string, object, object, number, object][] = [
    ['all there', request('server/discover', { _meta: meta }), discover, 200, { result: { resultType: 'complete' } }],
    ['a session that is none', request('server/discover', { _meta: meta }), { ...discover, 'mcp-session-id': 'nope' }, 200, { result: {} }],
    ['an unknown method', request('x/y', { _meta: meta }), { ...version, 'mcp-method': 'x/y' }, 404, { error: { code: -32601 } }],
    ['no version', request('server/discover', { _meta: meta }), { 'mcp-method': 'server/discover' }, 400, { error: { code: -32020 } }],
    ['another method', request('server/discover', { _meta: meta }), { ...version, 'mcp-method': 'tools/list' }, 400, { error: { code: -32020 } }],
    ['no name', call('noargs', {}, { _meta: meta }), { ...version, 'mcp-method': 'tools/call' }, 400, { error: { code: -32020 } }],
    ['a tool that is not there', call('none', {}, { _meta: meta }), { ...version, 'mcp-method': 'tools/call', 'mcp-name': 'none' }, 200, { error: { code: -32602 } }]
  ]
  for (const [what, payload, headers, status, body] of rows) {
    const reply = await post(payload, headers)
    t.match([reply.statusCode, reply.json()], [status, { id: 1, ...body }], what)
  }
})

t.test('a version that nobody speaks is refused, whatever is sent with it', async t => {
  const { ask, post, session } = await quiet(t)
  const version = { 'mcp-protocol-version': '1999-01-01' }
  const headers = { ...version, 'mcp-session-id': await session(), accept: 'text/event-stream' }
  for (const [what, reply] of Object.entries({
    'a request': await post(request('ping'), version),
    'a request in a session': await post(request('ping'), headers),
    'a notification in a session': await post(note, headers),
    'a notification': await post(note, version),
    GET: await ask('GET', undefined, headers),
    DELETE: await ask('DELETE', undefined, headers)
  })) t.equal(reply.statusCode, 400, `${what} (2025-11-25 basic/transports, Protocol Version Header)`)
})

t.test('a batch is answered with an array, and one of notifications with nothing', async t => {
  const { post } = await quiet(t, { limits: { batch: 3 } })
  t.match((await post([request('ping', {}, 1), note, request('x/y', {}, 2)])).json(), [{ id: 1, result: {} }, { id: 2, error: { code: -32601 } }])
  t.match(await post([note, note]), { statusCode: 202, body: '' })
  t.match(await post([5]), { statusCode: 200, body: /-32600/ })
  t.match(await post([request('ping')], { accept: 'text/event-stream' }), { statusCode: 200, headers: { 'content-type': /event-stream/ }, body: /data: \[/ })
  for (const payload of [[], [note, note, note, note]]) t.match(await post(payload), { statusCode: 400 })
  t.match(await post([request('ping')], { 'mcp-protocol-version': '2025-11-25' }), { statusCode: 400, body: /no batches/ })
})

t.test('what precedes the answer makes a stream of it', async t => {
  const { url } = await build(t)
  for (const client of [await legacy(url, '2025-11-25', { t }), modern(url, { t })]) {
    const { answer, notes, result } = await client.call('progress', { n: 2 }, { meta: { progressToken: 'p' } })
    t.match(answer?.headers, { 'content-type': /^text\/event-stream/, 'cache-control': /no-transform/, 'x-accel-buffering': 'no' })
    t.match([notes, result], [[{ params: { progress: 1 } }, { params: { progress: 2 } }], { content: [{ text: 'done' }] }])
    t.equal(await answer?.over(), true)
  }
})

t.test('a long call is given a stream, so that its connection is kept alive', async t => {
  const { url } = await build(t, { options: { sse: { after: 20, keepAlive: 20 } } })
  const { answer } = await modern(url, { t }).call('slow', { ms: 200 })
  await answer?.over()
  t.ok(Number(answer?.comments.length) > 0)
})

t.test('who leaves cancels the call, unless the session can give the answer later', async t => {
  const { url, app, slow } = await build(t)
  for (const [client, outcome] of [[modern(url, { t }), 'aborted'], [await legacy(url, '2025-11-25', { t }), 'finished']] as const) {
    const { abort } = client.start('tools/call', { name: 'slow', arguments: { ms: 200 } })
    t.ok(await until(() => app.mcp.stats().calls === 1))
    abort()
    t.ok(await until(() => app.mcp.stats().calls === 0))
    t.equal(slow.at(-1)?.outcome, outcome, client.dialect.revision)
  }
})

t.test('who takes nothing but JSON is told that its call was cancelled, or its session ended', async t => {
  const { url, app } = await build(t)
  const ends: [string, (client: HttpPeer) => Promise<unknown>, RegExp][] = [
    ['cancelled', client => client.notify('notifications/cancelled', { requestId: 'c', reason: 'enough' }), /^Cancelled: .*enough/],
    ['ended', client => client.delete(), /^Cancelled: .*session/]
  ]
  const slow = { jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { name: 'slow', arguments: { ms: 60_000 } } }
  for (const [what, end, message] of ends) {
    for (const body of [slow, [slow]]) {
      const client = await legacy(url, '2025-03-26', { t, headers: { Accept: 'application/json' } })
      const pending = client.post(body)
      t.ok(await until(() => app.mcp.stats().calls === 1))
      await end(client)
      const { status, type, json } = await pending
      t.match([status, type, [json].flat()], [200, 'application/json', [{ id: 'c', error: { code: -32603, message } }]], `${what}${Array.isArray(body) ? ' in a batch' : ''}`)
    }
  }
})

t.test('a stream closes the connection where its client says so, or cannot say otherwise', async t => {
  const { port } = await build(t)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'progress', arguments: { n: 1 }, _meta: { progressToken: 'p' } } })
  for (const [version, connection, closes] of [['1.1', 'Connection: close\r\n', true], ['1.0', '', true], ['1.1', '', false]] as const) {
    let text = ''
    let ended = false
    const socket = connect(port, '127.0.0.1', () => { socket.write(`POST /mcp HTTP/${version}\r\nHost: localhost:${port}\r\n${connection}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`) })
    t.teardown(() => socket.destroy())
    socket.on('data', data => { text += data }).on('end', () => { ended = true })
    t.ok(await until(() => /"id":1/.test(text) && (ended || !closes)), `HTTP/${version} ${connection}`)
    t.match(text, closes ? /^connection: close\r$/im : /^connection: keep-alive\r$/im)
    t.equal(ended, closes)
  }
})

/** An app with a session of a revision, and streams on it. */
async function listening (t: Parameters<typeof build>[0], version: Revision = '2025-11-25') {
  const { url, app } = await build(t, { options: { limits: { streams: 2 } } })
  const session = (await app.inject({ method: 'POST', url: '/mcp', payload: hello(version) })).headers['mcp-session-id'] as string
  const open = (more: Record<string, string> = {}) => listen(t, url, { accept: 'text/event-stream', 'mcp-session-id': session, ...more })
  return { app, open, change: () => app.mcp.tools.remove('echo'), changed: { method: 'notifications/tools/list_changed' } }
}

for (const version of ['2024-11-05', '2025-03-26', '2025-11-25'] as const) {
  t.test(`${version}: GET listens for changes in a session, and only the newest stream hears them`, async t => {
    const { open, change, changed } = await listening(t, version)
    const [first, second] = [await open(), await open()]
    change()
    t.match(await second.inbox.first('the change', () => true), changed)
    t.strictSame(first.messages, [])
    t.equal((await open()).status, 503, 'there are no more than there may be')
  })
}

for (const version of ['2024-11-05', '2025-11-25'] as const) {
  t.test(`${version}: when the newest stream is closed, the one before it hears`, async t => {
    const { app, open, change, changed } = await listening(t, version)
    const [first, second] = [await open(), await open()]
    second.close()
    t.ok(await until(() => app.mcp.stats().streams === 1))
    change()
    t.match(await first.inbox.first('the change', () => true), changed, 'one stream of the session is connected, so a message goes to that one')
  })
}

for (const version of ['2024-11-05', '2025-11-25'] as const) {
  t.test(`${version}: a session that ends takes its streams with it: they do not count any more`, async t => {
    const { app, url } = await build(t, { options: { limits: { streams: 2 } } })
    for (let i = 1; i <= 3; i++) {
      const session = (await app.inject({ method: 'POST', url: '/mcp', payload: hello(version) })).headers['mcp-session-id'] as string
      t.equal((await listen(t, url, { accept: 'text/event-stream', 'mcp-session-id': session })).status, 200, `stream ${i}, where there may be two at a time`)
      await app.inject({ method: 'DELETE', url: '/mcp', headers: { 'mcp-session-id': session } })
      t.ok(await until(() => app.mcp.stats().streams === 0))
    }
  })
}

t.test('nor do those that nobody is connected to', async t => {
  const { app, url } = await build(t, { options: { limits: { streams: 1 } } })
  for (let i = 1; i <= 3; i++) {
    const session = (await app.inject({ method: 'POST', url: '/mcp', payload: hello() })).headers['mcp-session-id'] as string
    const stream = await listen(t, url, { accept: 'text/event-stream', 'mcp-session-id': session })
    t.equal(stream.status, 200, `client ${i}, where one stream may be open`)
    stream.close()
    t.ok(await until(() => app.mcp.stats().streams === 0))
  }
})

t.test('a stream that was lost is taken up after the last event that came', async t => {
  const { app, open, change, changed } = await listening(t)
  const lost = await open()
  t.match(await until(() => lost.events.length === 1) && lost.events[0], { id: /\S/, data: '' }, 'the first event is for coming back')
  lost.close()
  t.ok(await until(() => app.mcp.stats().streams === 0))
  change()
  await new Promise(resolve => setImmediate(resolve))
  const again = await open({ 'last-event-id': lost.events[0]?.id ?? '' })
  t.match(await again.inbox.first('the change', () => true), changed)
  t.equal((await open({ 'last-event-id': 'nobody.1' })).status, 400)
  const older = await listening(t, '2024-11-05')
  t.match(await older.open({ 'last-event-id': 'nobody.1' }), { status: 200, events: [] }, 'a revision without resuming has no such ids')
})

for (const version of ['2024-11-05', '2025-11-25'] as const) {
  t.test(`${version}: a stream holds its session`, async t => {
    const { app, url } = await build(t, { options: { sessions: { idle: 60 } } })
    const session = (await app.inject({ method: 'POST', url: '/mcp', payload: hello(version) })).headers['mcp-session-id'] as string
    const stream = await listen(t, url, { accept: 'text/event-stream', 'mcp-session-id': session })
    await new Promise(resolve => setTimeout(resolve, 250))
    t.equal(app.mcp.stats().sessions, 1)
    stream.close()
    t.ok(await until(() => app.mcp.stats().sessions === 0))
  })
}

for (const version of ['2024-11-05', '2025-11-25'] as const) {
  t.test(`${version}: over a few streams in a session the oldest is ended, and the newest hears`, async t => {
    const { app, url } = await build(t)
    const session = (await app.inject({ method: 'POST', url: '/mcp', payload: hello(version) })).headers['mcp-session-id'] as string
    const open = (more = {}) => listen(t, url, { accept: 'text/event-stream', 'mcp-session-id': session, ...more })
    const streams = []
    for (let i = 0; i < 12; i++) streams.push(await open())
    t.ok(await until(() => app.mcp.stats().streams === 8), `${app.mcp.stats().streams} streams`)
    app.mcp.tools.remove('echo')
    t.match(await streams[11]?.inbox.first('the change', () => true), { method: 'notifications/tools/list_changed' })
    t.strictSame(streams.slice(0, 11).flatMap(stream => stream.messages), [])
    if (version === '2024-11-05') return
    const back = await open({ 'last-event-id': streams[0]?.events[0]?.id ?? '' })
    app.mcp.tools.remove('big')
    t.match(await back.inbox.first('the change', () => true), { method: 'notifications/tools/list_changed' }, 'who comes back to one that was ended is the newest again')
  })
}

t.test('GET needs the literal text/event-stream, and a revision that has it', async t => {
  const { ask, session } = await quiet(t)
  const id = await session()
  for (const accept of [undefined, '*/*', 'application/json', 'text/html', 'text/*']) {
    for (const headers of [{}, { 'mcp-session-id': id }]) {
      const reply = await Promise.race([ask('GET', undefined, { ...headers, accept }), new Promise<{ statusCode: string }>(resolve => setTimeout(resolve, 500, { statusCode: 'a stream' }))])
      t.equal(reply.statusCode, 406, `${accept} ${headers['mcp-session-id'] === undefined ? 'alone' : 'in a session'}`)
    }
  }
  t.match(await ask('GET', undefined, { accept: 'text/event-stream', 'mcp-protocol-version': '2026-07-28' }), { statusCode: 405, headers: { allow: 'POST' } })
})
