import { connect } from 'node:net'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import { build } from '../support/app.js'
import { httpSse, send } from '../support/http.js'
import { Inbox } from '../support/stdio.js'
import { until, wait } from '../support/time.js'

const request = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params })
const hello = request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } })

/** Opens the stream and gives its first event, with the answer still running. */
async function open (t: Test, url: string, headers = {}) {
  const inbox = new Inbox()
  const { answer, abort } = send(url, { method: 'GET', headers: { Accept: 'text/event-stream', ...headers } }, inbox, message => inbox.push(message))
  t.teardown(abort)
  const stream = await answer
  await until(() => !stream.streams || stream.events.length > 0)
  return { stream, inbox, abort, endpoint: stream.events[0]?.data ?? '' }
}

const post = (base: string, endpoint: string, body: unknown) =>
  fetch(new URL(endpoint, base), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

t.test('the first event names the URL for messages, by a path alone', async t => {
  const { url } = await build(t)
  const { stream, endpoint } = await open(t, url + '?x=1')
  t.equal(stream.events[0]?.event, 'endpoint')
  t.match(endpoint, /^\/mcp\/messages\?sessionId=[\w-]{32,}$/)
  const other = await open(t, url)
  t.not(other.endpoint, endpoint, 'each stream has a session of its own')
})

t.test('the URL for messages is a path whatever the target was', async t => {
  const app = Fastify({ routerOptions: { ignoreDuplicateSlashes: true } })
  t.teardown(() => app.close())
  for (const prefix of ['', '/:tenant']) await app.register(async scope => { await scope.register(mcpPlugin, { hosts: '*' }) }, { prefix })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const rows = [['http://evil.example/mcp', '/mcp/messages?'], ['HTTPS://user@evil.example:1/mcp?x=1', '/mcp/messages?'], ['//mcp', '/mcp/messages?'], ['/\\evil.example/mcp', '/evil.example/mcp/messages?']]
  for (const [target = '', begin = ''] of rows) {
    const endpoint = await new Promise<string>(resolve => {
      const socket = connect(Number(port), '127.0.0.1', () => { socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: text/event-stream\r\n\r\n`) })
      let text = ''
      socket.on('data', data => {
        const [, found] = /event: endpoint\ndata: (.*)\n/.exec(text += data) ?? []
        if (found === undefined) return
        socket.destroy()
        resolve(found)
      })
      socket.on('close', () => resolve(text))
    })
    t.ok(endpoint.startsWith(begin), `${target}: ${endpoint}`)
  }
})

t.test('a prefix that a trusted proxy has taken off is put back, if it is one', async t => {
  const rows: [boolean, string, string][] = [
    [true, '/api/v1', '/api/v1/mcp/messages?'],
    [true, '/api/', '/api/mcp/messages?'],
    [true, '//evil.example', '/mcp/messages?'],
    [true, 'https://evil.example', '/mcp/messages?'],
    [true, '/a\\evil', '/mcp/messages?'],
    [false, '/api', '/mcp/messages?']
  ]
  for (const [trustProxy, prefix, begin] of rows) {
    const app = Fastify({ trustProxy })
    t.teardown(() => app.close())
    await app.register(mcpPlugin)
    const { endpoint } = await open(t, await app.listen({ port: 0, host: '127.0.0.1' }) + '/mcp', { 'X-Forwarded-Prefix': prefix })
    t.ok(endpoint.startsWith(begin), `${prefix} ${trustProxy ? 'trusted' : 'not trusted'}: ${endpoint}`)
  }
})

t.test('messages are accepted by POST and answered on the stream, always in 2024-11-05', async t => {
  const { url } = await build(t)
  const { inbox, endpoint } = await open(t, url)
  const accepted = await post(url, endpoint, hello)
  t.strictSame([accepted.status, await accepted.text()], [202, ''])
  const { result } = await inbox.first('the introduction', message => message.id === 0)
  t.match(result, { protocolVersion: '2024-11-05', serverInfo: { name: 'audited', title: undefined } })
  await post(url, endpoint, request(1, 'tools/call', { name: 'echo', arguments: { text: 'hi' } }))
  t.match(await inbox.first('the answer', message => message.id === 1), { result: { content: [{ text: 'hi' }] } })
})

t.test('what cannot be served is told on the stream, what cannot be read by the POST', async t => {
  const { url } = await build(t)
  const { inbox, endpoint } = await open(t, url)
  await post(url, endpoint, request(1, 'server/discover'))
  t.match(await inbox.first('the refusal', message => message.id === 1), { error: { code: -32601 } })
  const path = endpoint.split('?')[0] as string
  const rows: [string, string, unknown, number][] = [
    ['no session', path, hello, 400],
    ['two sessions', `${path}?sessionId=a&sessionId=b`, hello, 400],
    ['an unknown session', `${path}?sessionId=nope`, hello, 404]
  ]
  for (const [what, to, body, status] of rows) {
    const refused = await post(url, to, body)
    t.equal(refused.status, status, what)
    t.match(await refused.json(), { jsonrpc: '2.0', error: { code: -32600 } }, what)
  }
})

t.test('a session of one transport is none of the other', async t => {
  const { url, app } = await build(t)
  const { endpoint } = await open(t, url)
  const id = endpoint.split('sessionId=')[1] as string
  const mine = await app.inject({ method: 'POST', url: '/mcp', headers: { 'mcp-session-id': id }, payload: request(1, 'ping') })
  t.equal(mine.statusCode, 404)
  const opened = await app.inject({ method: 'POST', url: '/mcp', payload: hello })
  const theirs = await app.inject({ method: 'POST', url: `/mcp/messages?sessionId=${opened.headers['mcp-session-id']}`, payload: hello })
  t.equal(theirs.statusCode, 404)
})

t.test('the session is as old as the stream, and its calls go with it', async t => {
  const { url, app, slow } = await build(t)
  const client = await httpSse(url, { t })
  client.start('tools/call', { name: 'slow', arguments: { ms: 5000 } })
  t.ok(await until(() => app.mcp.stats().calls === 1))
  t.match(app.mcp.stats(), { sessions: 1, streams: 1 })
  client.stream.close()
  t.ok(await until(() => app.mcp.stats().sessions === 0))
  t.match(app.mcp.stats(), { sessions: 0, streams: 0, calls: 0 })
  t.match(slow, [{ outcome: 'aborted' }])
  t.equal((await post(url, client.endpoint, request(9, 'ping'))).status, 404)
})

t.test('streams count among the sessions', async t => {
  const { url } = await build(t, { options: { sessions: { max: 1 } } })
  await open(t, url)
  const { stream } = await open(t, url)
  await stream.over()
  t.strictSame([stream.status, stream.headers['retry-after'] !== undefined], [503, true])
})

t.test('changes are told on the stream, but not before the client has introduced itself', async t => {
  const { url, app } = await build(t)
  const { inbox, endpoint } = await open(t, url)
  const told = () => inbox.messages.filter(message => message.method === 'notifications/tools/list_changed').length
  app.mcp.tools.disable('echo')
  await wait(50)
  t.equal(told(), 0, 'the initialization is the first interaction (2024-11-05 basic/lifecycle)')
  await post(url, endpoint, hello)
  app.mcp.tools.enable('echo')
  t.ok(await until(() => told() > 0))
})

t.test('a server that closes lets calls finish first, then ends the stream', async t => {
  const { url, app, slow } = await build(t, { options: { closeTimeout: 2000 } })
  const client = await httpSse(url, { t })
  const call = client.start('tools/call', { name: 'slow', arguments: { ms: 150 } })
  t.ok(await until(() => app.mcp.stats().calls === 1))
  await app.close()
  t.match(slow, [{ outcome: 'finished' }])
  t.match(await call.reply.catch((error: Error) => error.message), { result: { content: [{ text: 'done' }] } })
  t.equal(client.stream.cut, false)
})

t.test('it is off where the option says so, where there are no sessions, and where its revision is not served', async t => {
  for (const options of [{ httpSse: false }, { sessions: false as const }, { revisions: ['2025-11-25' as const] }]) {
    const { app } = await build(t, { options, listen: false })
    const opened = await app.inject({ method: 'GET', url: '/mcp', headers: { accept: 'text/event-stream' } })
    t.ok([400, 405].includes(opened.statusCode), JSON.stringify(options))
    t.equal((await app.inject({ method: 'POST', url: '/mcp/messages?sessionId=x', payload: hello })).statusCode, 404)
  }
})

t.test('a handler is given the request that brought the message, with its logger', async t => {
  const seen: unknown[] = []
  const app = Fastify({ genReqId: request => String(request.headers['x-id'] ?? 'none') })
  t.teardown(() => app.close())
  app.decorateRequest('user', '')
  app.addHook('onRequest', async request => { (request as any).user = request.headers['x-user'] })
  await app.register(mcpPlugin, { tools: [{ name: 'who', handler: (_: unknown, ctx: any) => { seen.push([ctx.request.id, ctx.request.user, ctx.log === ctx.request.log, ctx.request.mcp.transport]); return 'seen' } }] as never })
  const url = await app.listen({ port: 0, host: '127.0.0.1' }) + '/mcp'
  const { endpoint, inbox } = await open(t, url)
  const say = async (body: unknown) => await fetch(new URL(endpoint, url), { method: 'POST', headers: { 'content-type': 'application/json', 'x-id': 'r-7', 'x-user': 'ada' }, body: JSON.stringify(body) })
  await say(hello)
  await say(request(1, 'tools/call', { name: 'who' }))
  await inbox.first('the answer', one => one.id === 1)
  t.strictSame(seen, [['r-7', 'ada', true, 'http-sse']])
})
