// What the processes that serve one endpoint owe a client, wherever it goes.
import t from 'tap'
import { Type } from '@sinclair/typebox'
import mcpPlugin from '../../lib/index.js'
import { defineTool } from '../support/app.js'
import { send } from '../support/http.js'
import { Inbox } from '../support/stdio.js'
import { until, wait } from '../support/time.js'
import { apps, heard, lastId, methods, onEach, Roamer } from './cluster.js'

const { defineResource } = mcpPlugin
const resources = ['mem://a', 'mem://b'].map(uri => defineResource({ uri, name: uri, read: () => uri }))
const tools = [
  defineTool({
    name: 'steps',
    inputSchema: Type.Object({ n: Type.Integer(), ms: Type.Integer(), leave: Type.Optional(Type.Integer()) }),
    async handler ({ n, ms, leave }, ctx) {
      for (let i = 1; i <= n; i++) {
        await ctx.progress(i, n)
        if (i === leave) await ctx.closeStream()
        await wait(ms)
      }
      return 'all done'
    }
  }),
  defineTool({
    name: 'ask_roots',
    async handler (_, ctx) { return (await ctx.roots()).map(one => one.uri).join() }
  }),
  defineTool({
    name: 'pay',
    inputSchema: Type.Object({ amount: Type.Integer() }),
    async handler ({ amount }, ctx) {
      const { action } = await ctx.elicit('Sure?', Type.Object({ sure: Type.Boolean() }), { singleUse: true })
      return action === 'accept' ? `paid ${amount}` : 'not paid'
    }
  }),
  defineTool({
    name: 'say',
    async handler (_, ctx) {
      for (const level of ['debug', 'info', 'error'] as const) await ctx.message(level, level)
      return 'said'
    }
  })
]
const options = { tools, resources }
const progress = { _meta: { progressToken: 'p' } }
const steps = (answer: { messages: any[] }) => answer.messages.map(one => one.params?.progress).filter(Boolean)

onEach(t, 'what a session was told in one process holds in all', async (t, sharing) => {
  const [a, b, c] = await apps(t, sharing, 3, options) as [any, any, any]
  const [client, other] = [new Roamer(t), new Roamer(t)]
  await client.open(a)
  await other.open(b)
  t.match(await client.ask(b, 'logging/setLevel', { level: 'error' }), { result: {} })
  const said = async (by: Roamer) => {
    const answer = await by.call(c, 'say').answer
    await answer.over()
    return answer.messages.map(one => one.params?.level).filter(Boolean)
  }
  t.strictSame(await said(client), ['error'])
  t.strictSame(await said(other), ['info', 'error'], 'BB-073 and no other session')
  t.match(await client.post(a.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-protocol-version': '2025-06-18' }), { status: 400 }, 'the revision, too')
  t.match(await client.ask(c, 'tools/call', { name: 'who' }), { result: { content: [{ text: /roamer.*elicitation/ }] } }, 'and who the client is')
})

onEach(t, 'BB-073 subscriptions of sessions do not mix, whatever process they are made in', async (t, sharing) => {
  const [a, b, c] = await apps(t, sharing, 3, options) as [any, any, any]
  const [one, two] = [new Roamer(t), new Roamer(t)]
  for (const client of [one, two]) await client.open(a)
  for (const at of [a, b]) await one.ask(at, 'resources/subscribe', { uri: 'mem://a' })
  await two.ask(c, 'resources/subscribe', { uri: 'mem://a' })
  const [first, second] = [await one.listen(b).answer, await two.listen(c).answer]
  await two.ask(a, 'resources/unsubscribe', { uri: 'mem://a' })
  c.app.mcp.resources.updated('mem://a')
  c.app.mcp.resources.updated('mem://b')
  t.ok(await heard(first, message => message.params?.uri === 'mem://a'))
  await wait(100)
  t.strictSame([methods(first), methods(second)], [['notifications/resources/updated'], []])
})

onEach(t, 'a change is told once to each session, by its newest stream', async (t, sharing) => {
  const [a, b, c] = await apps(t, sharing, 3, options) as [any, any, any]
  const client = new Roamer(t)
  await client.open(a)
  const older = await client.listen(a).answer
  const newest = client.listen(b)
  const newer = await newest.answer
  c.app.mcp.tools.disable('noargs')
  t.ok(await heard(newer, () => true))
  await wait(100)
  t.strictSame([methods(older), methods(newer)], [[], ['notifications/tools/list_changed']])
  newest.abort()
  t.ok(await until(() => b.app.mcp.stats().streams === 0))
  await wait(100)
  c.app.mcp.tools.enable('noargs')
  t.ok(await heard(older, () => true), 'the one that is left brings what comes after')
})

onEach(t, 'a stream that was lost goes on in another process with what was missed, and with that alone', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, options) as [any, any]
  const client = new Roamer(t)
  await client.open(a)
  await client.ask(b, 'resources/subscribe', { uri: 'mem://a' })
  const first = client.listen(a)
  const stream = await first.answer
  t.ok(await until(() => lastId(stream) !== undefined), 'the first event says where it begins')
  a.app.mcp.resources.updated('mem://a')
  t.ok(await heard(stream, () => true))
  first.abort()
  t.ok(await until(() => a.app.mcp.stats().streams === 0))
  await wait(50)
  b.app.mcp.resources.updated('mem://a')
  a.app.mcp.resources.updated('mem://b')
  await wait(50)
  a.app.mcp.tools.disable('noargs')
  await wait(50)
  const again = await client.listen(b, lastId(stream)).answer
  t.ok(await until(() => again.messages.length === 2))
  a.app.mcp.resources.updated('mem://a')
  t.ok(await until(() => again.messages.length === 3))
  t.strictSame(methods(again), ['notifications/resources/updated', 'notifications/tools/list_changed', 'notifications/resources/updated'])
  t.strictSame(new Set(again.events.map(one => one.id)).size, 3, 'each with an id of its own')
})

onEach(t, 'a call that lets its connection go is followed wherever the client comes back', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, options) as [any, any]
  const client = new Roamer(t)
  await client.open(a)
  const call = client.call(a, 'steps', { n: 6, ms: 60, leave: 2 }, progress)
  const first = await call.answer
  t.ok(await first.over(), 'the connection is let go')
  const rest = await client.listen(b, lastId(first)).answer
  t.ok(await rest.over())
  t.strictSame([...steps(first), ...steps(rest)], [1, 2, 3, 4, 5, 6])
  t.match(rest.messages.at(-1), { id: call.id, result: {} })
  const replayed = await client.listen(a, first.events[0]?.id).answer
  t.ok(await replayed.over())
  t.strictSame(steps(replayed), [1, 2, 3, 4, 5, 6], 'and again from the beginning')
})

onEach(t, 'an event id of another session, of nothing, or of what is not kept, is refused', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, options) as [any, any]
  const [client, thief] = [new Roamer(t), new Roamer(t)]
  for (const one of [client, thief]) await one.open(a)
  const answer = await client.call(a, 'steps', { n: 2, ms: 1 }, progress).answer
  await answer.over()
  const id = lastId(answer) as string
  for (const wrong of ['x', '', '0', id.replace(/\.\d+-/, '.'), `${id}x`, id.replace(/^\w{4}/, '0000')]) {
    if (wrong !== '') t.equal((await client.listen(b, wrong).answer).status, 400, wrong)
  }
  t.equal((await thief.listen(b, id).answer).status, 400, 'of another session')
  t.equal((await client.listen(b, id).answer).status, 200)
})

onEach(t, 'a call is cancelled from any process', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, options) as [any, any]
  const [client, other] = [new Roamer(t), new Roamer(t)]
  for (const one of [client, other]) await one.open(a)
  const mine = client.call(a, 'slow', { ms: 3_000 })
  const theirs = other.call(a, 'slow', { ms: 400 })
  t.ok(await until(() => a.app.mcp.stats().calls === 2))
  t.equal((await client.notify(b, 'notifications/cancelled', { requestId: mine.id })).status, 202)
  t.ok(await until(() => a.slow.length === 1))
  t.strictSame(a.slow, [{ ms: 3_000, outcome: 'aborted' }])
  t.match((await theirs.answer).messages.at(-1), { result: { content: [{ text: 'done' }] } }, 'that of another session with the same id is not')
})

onEach(t, 'calls of one id in two processes are both cancelled, wherever that comes in', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, options) as [any, any]
  const client = new Roamer(t)
  await client.open(a)
  const body = { jsonrpc: '2.0', id: 'twice', method: 'tools/call', params: { name: 'slow', arguments: { ms: 3_000 } } }
  for (const one of [a, b]) client.post(one.url, body).catch(() => {})
  t.ok(await until(() => a.app.mcp.stats().calls === 1 && b.app.mcp.stats().calls === 1))
  t.equal((await client.notify(a, 'notifications/cancelled', { requestId: 'twice' })).status, 202)
  t.ok(await until(() => a.slow.length === 1 && b.slow.length === 1))
  t.strictSame([a.slow, b.slow], [[{ ms: 3_000, outcome: 'aborted' }], [{ ms: 3_000, outcome: 'aborted' }]])
})

onEach(t, 'sessions that nobody uses shut no others out, and one that gave its place here is still one', async (t, sharing) => {
  const [a] = await apps(t, sharing, 1, { ...options, sessions: { max: 3 } }) as [any]
  const open = async () => {
    const client = new Roamer(t)
    return { client, status: (await client.open(a)).status }
  }
  const first = await open()
  const ping = async ({ client }: { client: Roamer }) => (await client.post(a.url, { jsonrpc: '2.0', id: 1, method: 'ping' })).status
  t.equal(await ping(first), 200)
  const [second, third] = [await open(), await open()]
  const fourth = await open()
  t.equal(fourth.status, 200, 'one that was used gives its place')
  t.equal((await open()).status, 503, 'those that have had no time to be used do not')
  t.strictSame([await ping(first), await ping(second), await ping(third), await ping(fourth)], [200, 200, 200, 200], 'none is over: each can be read again')
  const [fifth, sixth, seventh] = [await open(), await open(), await open()]
  t.strictSame([fifth.status, sixth.status, seventh.status, (await open()).status], [200, 200, 200, 503])
  await wait(5_100)
  t.equal((await open()).status, 200, 'after a while they do')
  t.equal(a.app.mcp.stats().sessions, 3)
})

onEach(t, 'a call or a stream keeps its session, however short its idle time', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, { ...options, sessions: { idle: 300 } }) as [any, any]
  const client = new Roamer(t)
  await client.open(a)
  const stream = await client.listen(b).answer
  const call = await client.call(a, 'steps', { n: 15, ms: 100 }, progress).answer
  t.ok(await call.over(5_000))
  t.match(call.messages.at(-1), { result: { content: [{ text: 'all done' }] } })
  await wait(4_000)
  t.equal(await stream.over(1), false)
  t.match(await client.ask(a, 'ping'), { result: {} })
})

onEach(t, 'a question of a call without a stream is asked on the stream of its session, in another process', async (t, sharing) => {
  const [a, b, c] = await apps(t, sharing, 3, options) as [any, any, any]
  const client = new Roamer(t)
  await client.open(a, { roots: {} })
  const jsonOnly = { accept: 'application/json' }
  const body = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask_roots', arguments: {} } })
  const refused = await client.post(a.url, body(50), jsonOnly)
  await refused.over()
  t.match(refused.messages[0], { result: { isError: true } }, 'without any stream it cannot be')
  const stream = await client.listen(b).answer
  const answer = client.post(a.url, body(51), jsonOnly)
  t.ok(await heard(stream, message => message.method === 'roots/list'))
  await client.answer(c, stream.messages[0]?.id, { roots: [{ uri: 'file:///x' }] })
  const done = await answer
  await done.over()
  t.match(done.messages[0], { id: 51, result: { content: [{ text: 'file:///x' }] } })
})

onEach(t, 'HTTP+SSE: messages come in at any process, and are answered on the stream', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, options) as [any, any]
  const { answer, abort } = send(a.url, { method: 'GET', headers: { accept: 'text/event-stream' } }, new Inbox(), (message, answer) => answer.inbox.push(message))
  t.teardown(abort)
  const stream = await answer
  t.ok(await until(() => stream.events.length === 1))
  const endpoint = new URL(stream.events[0]?.data as string, b.url).href
  const client = new Roamer(t)
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' } } }
  t.equal((await client.post(endpoint, initialize)).status, 202)
  t.ok(await heard(stream, message => message.id === 1))
  t.equal((await client.post(endpoint, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'far' } } })).status, 202)
  t.ok(await heard(stream, message => message.result?.content?.[0].text === 'far'))
  t.equal((await client.post(endpoint.replace(/.$/, '0').replace(/sessionId=..../, 'sessionId=0000'), initialize)).status, 404)
  abort()
  t.ok(await until(() => a.app.mcp.stats().sessions === 0))
  await wait(50)
  t.equal((await client.post(endpoint, initialize)).status, 404, 'the session is as old as its stream')
})

onEach(t, 'a session that is over is over in all processes, and an unknown one is unknown', async (t, sharing) => {
  const [a, b] = await apps(t, sharing, 2, { ...options, sessions: { idle: 1_000 } }) as [any, any]
  const client = new Roamer(t)
  await client.open(a)
  const ping = async (at: any) => (await client.post(at.url, { jsonrpc: '2.0', id: 1, method: 'ping' })).status
  for (let i = 0; i < 5; i++) {
    t.equal(await ping(i % 2 === 0 ? a : b), 200, 'use in any process keeps it')
    await wait(250)
  }
  const stream = client.listen(b)
  await stream.answer
  stream.abort()
  await wait(2_000)
  t.strictSame([await ping(a), await ping(b)], [404, 404], 'idle in all of them')
  await client.open(a)
  t.equal((await client.end(b)).status, 204)
  t.equal(await ping(a), 404)
  client.session = '11111111-1111-4111-8111-111111111111'
  t.equal(await ping(b), 404)
})

onEach(t, 'BB-063 a state that counts once counts once in all processes, and any process opens it', async (t, sharing) => {
  const [a, b, c] = await apps(t, sharing, 3, options) as [any, any, any]
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
  const pay = async ({ url }: any, more: object = {}) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'pay' }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: { amount: 5 }, _meta: meta, ...more } }
    return await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json() as any
  }
  const { result } = await pay(a)
  const [key] = Object.keys(result.inputRequests)
  const retry = { requestState: result.requestState, inputResponses: { [key as string]: { action: 'accept', content: { sure: true } } } }
  const answers = await Promise.all([b, c, a].map(one => pay(one, retry)))
  t.strictSame(answers.map(one => one.result?.content[0].text ?? one.error.code).sort(), [-32602, -32602, 'paid 5'])
})

t.test('a server alone is well', async t => {
  const [a] = await apps(t, async () => () => ({}), 1) as [any]
  t.strictSame(a.app.mcp.health(), { ok: true })
})

onEach(t, 'BB-066 a session belongs to its user in all processes, over HTTP and HTTP+SSE', async (t, sharing) => {
  const authenticate = ({ headers }: { headers: Record<string, unknown> }) => headers['x-user'] === undefined ? undefined : { subject: String(headers['x-user']), scopes: [] }
  const [a, b] = await apps(t, sharing, 2, { ...options, auth: { authenticate: authenticate as never } }) as [any, any]
  const as = (user: string) => ({ 'x-user': user })
  const [ada, bob] = [new Roamer(t, '2025-11-25', as('ada')), new Roamer(t, '2025-11-25', as('bob'))]
  await ada.open(a)
  bob.session = ada.session
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  for (const at of [b, a]) {
    t.strictSame([(await ada.post(at.url, ping)).status, (await bob.post(at.url, ping)).status], [200, 404])
    t.strictSame([(await bob.listen(at).answer).status, (await bob.end(at)).status], [404, 404])
  }
  t.equal((await ada.post(b.url, ping)).status, 200, 'it is still there')
  const { answer, abort } = send(a.url, { method: 'GET', headers: { accept: 'text/event-stream', ...as('ada') } }, new Inbox(), (message, answer) => answer.inbox.push(message))
  t.teardown(abort)
  const stream = await answer
  t.ok(await until(() => stream.events.length === 1))
  const endpoint = new URL(stream.events[0]?.data as string, b.url).href
  t.strictSame([(await bob.post(endpoint, ping)).status, (await ada.post(endpoint, ping)).status], [404, 202])
  t.ok(await heard(stream, message => message.id === 1))
  await wait(50)
  t.equal(stream.messages.length, 1)
})

onEach(t, 'a stream ends with the token that opened it', async (t, sharing) => {
  const authenticate = () => ({ subject: 'ada', scopes: [], expiresAt: Date.now() + 1_500 })
  const [a, b] = await apps(t, sharing, 2, { ...options, auth: { authenticate: authenticate as never } }) as [any, any]
  const client = new Roamer(t)
  await client.open(a)
  const stream = await client.listen(b).answer
  t.equal(stream.status, 200)
  t.ok(await stream.over(8_000))
  t.equal((await client.listen(a, lastId(stream)).answer).status, 200, 'and can be taken up with a new one')
})
