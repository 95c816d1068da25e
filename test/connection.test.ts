import Fastify from 'fastify'
import type { FastifyRequest, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import mcpPlugin from '../lib/index.js'
import type { Session } from '../lib/session.js'
import { httpSse, send } from './support/http.js'
import { Inbox } from './support/stdio.js'
import { until, wait } from './support/time.js'

const request = (method: string, params?: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const client = { name: 'c', version: '1' }
const hello = (protocolVersion = '2025-06-18') => request('initialize', { protocolVersion, capabilities: { roots: {} }, clientInfo: client })
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { sampling: {} }, 'io.modelcontextprotocol/clientInfo': { name: 'm', version: '2' } }
const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }

function seen ({ mcp }: FastifyRequest) {
  if (mcp === null || mcp === undefined) return mcp
  const { transport, endpoint, session, stream, auth, revision, client, capabilities } = mcp
  return { transport, endpoint, session: session?.id, stream, auth, revision, client, capabilities }
}

type Seen = ReturnType<typeof seen>

/** An app whose hooks keep what they see of request.mcp. */
async function watching (t: Test) {
  const hooks: Record<string, Seen[]> = { onRequest: [], preParsing: [], preValidation: [], preHandler: [], onSend: [], onResponse: [] }
  const app = Fastify()
  t.teardown(() => app.close())
  for (const name of Object.keys(hooks)) app.addHook(name as 'onRequest', async request => { hooks[name]?.push(seen(request)) })
  await app.register(mcpPlugin)
  app.get('/own', async () => 'mine')
  const inject = async (options: InjectOptions) => {
    for (const list of Object.values(hooks)) list.length = 0
    return await app.inject(options)
  }
  const post = (payload: unknown, headers: Record<string, string> = {}) => inject({ method: 'POST', url: '/mcp', payload: payload as object, headers })
  return { app, hooks, inject, post, last: (name: string) => hooks[name]?.at(-1) }
}

t.test('transport, endpoint and session are there in every hook', async t => {
  const { hooks, post } = await watching(t)
  const session = (await post(hello())).headers['mcp-session-id'] as string
  await post(request('ping'), { 'mcp-session-id': session })
  for (const [hook, list] of Object.entries(hooks)) t.match(list, [{ transport: 'http', endpoint: '/mcp', session, stream: false, auth: undefined }], hook)
})

t.test('revision, client and capabilities are there from preHandler on', async t => {
  const { post, last } = await watching(t)
  const session = (await post(hello())).headers['mcp-session-id'] as string
  const ofSession = { revision: '2025-06-18', client, capabilities: { roots: {} } }
  const rows: [string, unknown, Record<string, string>, object][] = [
    ['in a session', request('ping'), { 'mcp-session-id': session }, ofSession],
    ['a notification in a session', { jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': session }, ofSession],
    ['with a context', request('server/discover', { _meta: meta }), modern, { revision: '2026-07-28', client: { name: 'm', version: '2' }, capabilities: { sampling: {} } }],
    ['with a header', request('ping'), { 'mcp-protocol-version': '2025-11-25' }, { revision: '2025-11-25', client: undefined, capabilities: {} }],
    ['with nothing', request('ping'), {}, { revision: '2025-03-26', client: undefined, capabilities: {} }],
    ['initialize', hello('2024-11-05'), {}, { revision: '2024-11-05', client, capabilities: { roots: {} } }]
  ]
  for (const [what, payload, headers, expected] of rows) {
    await post(payload, headers)
    t.match(last('preHandler'), expected, what)
    t.match(last('onResponse'), expected, `${what}, in onResponse`)
  }
})

t.test('what is refused has no revision, and nothing is thrown', async t => {
  const { post, last } = await watching(t)
  const rows: [string, unknown, Record<string, string>][] = [
    ['a version that nobody speaks', request('ping'), { 'mcp-protocol-version': '1999-01-01' }],
    ['no message', { a: 1 }, {}],
    ['a context that is none', request('ping', { _meta: { ...meta, 'io.modelcontextprotocol/clientCapabilities': 5 } }), modern],
    ['params that are none', { ...request('ping'), params: [] }, { 'mcp-protocol-version': '1999-01-01' }],
    ['a session that is none', request('ping'), { 'mcp-session-id': 'nope', 'mcp-protocol-version': '1999-01-01' }]
  ]
  for (const [what, payload, headers] of rows) {
    await post(payload, headers)
    t.match(last('preHandler'), { session: undefined, revision: undefined, capabilities: {} }, what)
  }
})

t.test('it is the same object throughout a request', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  const objects: unknown[] = []
  for (const hook of ['onRequest', 'preHandler', 'onResponse'] as const) app.addHook(hook, async request => { objects.push(request.mcp) })
  await app.register(mcpPlugin)
  await app.inject({ method: 'POST', url: '/mcp', payload: request('ping') })
  t.ok(await until(() => objects.length === 3))
  t.equal(new Set(objects).size, 1)
})

t.test('it is null where the plugin has no route', async t => {
  const { hooks, inject } = await watching(t)
  for (const url of ['/own', '/nowhere', '/mcp/nowhere']) {
    await inject({ method: 'GET', url })
    for (const hook of ['onRequest', 'preHandler', 'onSend', 'onResponse']) t.strictSame(hooks[hook], [null], `${hook} of ${url}`)
  }
})

t.test('where the plugin is in a scope, hooks of the whole app see it on its routes, and other routes have none', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  const endpoints: unknown[] = []
  app.addHook('onRequest', async ({ mcp }) => { endpoints.push(mcp?.endpoint) })
  app.get('/own', async ({ mcp }) => String(mcp?.endpoint))
  await app.register(async scope => { await scope.register(mcpPlugin, { path: '/tools' }) }, { prefix: '/in' })
  await app.inject({ method: 'POST', url: '/in/tools', payload: request('ping') })
  t.equal((await app.inject('/own')).body, 'undefined')
  t.strictSame(endpoints, ['/in/tools', undefined])
})

t.test('it is there for verbs that are refused, too', async t => {
  const { inject, last } = await watching(t)
  await inject({ method: 'PUT', url: '/mcp' })
  t.match(last('onRequest'), { transport: 'http', endpoint: '/mcp' })
})

t.test('looking at the session does not count as use', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  const before: number[] = []
  app.addHook('onRequest', async ({ mcp }) => { before.push((mcp?.session as Session | undefined)?.seen ?? 0) })
  app.addHook('preHandler', async ({ mcp }) => {
    before.push((mcp?.session as Session | undefined)?.seen ?? 0)
    await wait(5)
  })
  await app.register(mcpPlugin)
  const session = (await app.inject({ method: 'POST', url: '/mcp', payload: hello() })).headers['mcp-session-id'] as string
  await wait(5)
  await app.inject({ method: 'POST', url: '/mcp', headers: { 'mcp-session-id': session }, payload: request('ping') })
  const [atFirst, later] = before.slice(-2)
  t.ok(Number(atFirst) > 0)
  t.equal(later, atFirst)
})

t.test('over HTTP+SSE the session stands in the query, and the revision is always 2024-11-05', async t => {
  const { app, hooks, last } = await watching(t)
  const peer = await httpSse(await app.listen({ port: 0, host: '127.0.0.1' }) + '/mcp', { t, handshake: false })
  const session = new URL(peer.endpoint).searchParams.get('sessionId')
  await peer.initialize({ protocolVersion: '2025-11-25' })
  t.match(last('preHandler'), { transport: 'http-sse', endpoint: '/mcp', session, revision: '2024-11-05' })
  await peer.request('ping')
  t.match(last('preHandler'), { transport: 'http-sse', session, revision: '2024-11-05', client: { name: 'audit' } })
  t.match(hooks.onRequest?.at(-1), { transport: 'http-sse', session })
})

t.test('stream says whether the answer has become one', async t => {
  const { app, hooks, post } = await watching(t)
  app.mcp.tools.add({ name: 'steps', handler: async (_, ctx) => { await ctx.progress(1); return 'done' } })
  const url = await app.listen({ port: 0, host: '127.0.0.1' }) + '/mcp'
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const body = JSON.stringify(request('tools/call', { name: 'steps', _meta: { progressToken: 1 } }))
  await (await fetch(url, { method: 'POST', headers, body })).text()
  t.ok(await until(() => hooks.onResponse?.length === 1), 'onResponse runs for a stream')
  t.strictSame([hooks.preHandler?.at(-1)?.stream, hooks.onResponse?.at(-1)?.stream], [false, true])
  const session = (await post(hello())).headers['mcp-session-id'] as string
  const { answer } = send(url, { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': session } }, new Inbox(), () => {})
  await answer
  await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session } })
  t.ok(await until(() => hooks.onResponse?.some(one => one?.stream === true) === true), 'and for that of a GET')
})
