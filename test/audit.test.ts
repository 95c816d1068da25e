import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { Audit } from '../lib/audit.js'
import { CallCancelled, McpError, NoStreamError, rpcError } from '../lib/errors.js'
import type { CallEvent, Context, ErrorEvent, McpOptions, ResultEvent } from '../types/index.js'
import mcpPlugin from '../lib/index.js'
import { build, defineTool, secret, ToolError } from './support/app.js'
import { endpointOf, exchangeOf } from './support/doubles.js'
import { legacy, modern } from './support/http.js'
import { until } from './support/time.js'

const { definePrompt, defineResource } = mcpPlugin
const login = Type.Object({ user: Type.String(), password: Type.String({ minLength: 3, 'x-sensitive': true }) })
const sleep = async (ms: number, signal: AbortSignal) => await new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason) })
})
const tools = [
  defineTool({ name: 'login', inputSchema: login, handler: ({ user }) => `hello ${user}` }),
  defineTool({ name: 'lacking', scopes: ['files:write', 'files:read'], handler: () => 'never' }),
  defineTool({ name: 'wrong', handler: () => { throw new ToolError('no such city') } }),
  defineTool({ name: 'broken', handler: () => { throw new Error(secret) } }),
  defineTool({ name: 'protocol', handler: () => { throw new McpError(-32603, 'not today') } }),
  defineTool({ name: 'late', timeout: 60, handler: async (_, { signal }) => { await sleep(10_000, signal); return 'never' } }),
  defineTool({ name: 'long', handler: async (_, { signal }) => { await sleep(10_000, signal); return 'never' } }),
  defineTool({ name: 'ask', handler: async (_, ctx) => (await ctx.elicit('Sure?', Type.Object({ sure: Type.Boolean() }))).action })
]

type Heard = ['onCall', CallEvent] | ['onResult', ResultEvent] | ['onError', ErrorEvent]

async function audited (t: Test, options: McpOptions = {}) {
  const server = await build(t, { bare: true, options: { tools, ...options } })
  const heard: Heard[] = []
  for (const name of ['onCall', 'onResult', 'onError'] as const) server.app.mcp.addHook(name, (event: any) => { heard.push([name, event]) })
  const told = () => heard.splice(0).map(([name, event]) => [name, event.name, ...('outcome' in event ? [event.outcome] : [])])
  return { ...server, heard, told }
}

t.test('what came of each call is told, whatever the revision', async t => {
  const { url, told } = await audited(t)
  for (const client of [await legacy(url, '2025-11-25', { t }), modern(url, { t })]) {
    const rows: [string, object, string[][]][] = [
      ['login', { user: 'ada', password: 'hunter2' }, [['onCall', 'login'], ['onResult', 'login', 'ok']]],
      ['login', { user: 'ada', password: 5 }, [['onError', 'login', 'invalid']]],
      ['lacking', {}, [['onError', 'lacking', 'denied']]],
      ['none', {}, [['onError', 'none', 'invalid']]],
      ['wrong', {}, [['onCall', 'wrong'], ['onResult', 'wrong', 'tool-error']]],
      ['broken', {}, [['onCall', 'broken'], ['onError', 'broken', 'error']]],
      ['protocol', {}, [['onCall', 'protocol'], ['onError', 'protocol', 'error']]],
      ['late', {}, [['onCall', 'late'], ['onError', 'late', 'timeout']]]
    ]
    for (const [name, args, expected] of rows) {
      await client.request('tools/call', { name, arguments: args })
      t.strictSame(told(), expected, `${client.dialect.revision} ${name}`)
    }
  }
})

t.test('a call over a limit of its tool, and one that its user does not want, is denied: its handler does not run', async t => {
  const { url, told, heard } = await audited(t, { tools: [defineTool({ name: 'scarce', rateLimit: { max: 1, timeWindow: 60_000 }, handler: () => 'ran' }), defineTool({ name: 'wanted', confirm: true, handler: () => 'ran' })] })
  const client = modern(url, { t, meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } } })
  await client.call('scarce')
  t.strictSame(told(), [['onCall', 'scarce'], ['onResult', 'scarce', 'ok']])
  await client.call('scarce')
  t.match(heard, [['onError', { duration: 0, message: /called too often/ }]])
  t.strictSame(told(), [['onError', 'scarce', 'denied']])
  for (const [action, last] of [['decline', [['onError', 'wanted', 'denied']]], ['accept', [['onCall', 'wanted'], ['onResult', 'wanted', 'ok']]]] as const) {
    const { result } = await client.call('wanted')
    t.strictSame(told(), [['onResult', 'wanted', 'asked']])
    const [key] = Object.keys(result.inputRequests)
    await client.request('tools/call', { name: 'wanted', requestState: result.requestState, inputResponses: { [key as string]: { action, ...(action === 'accept' && { content: { confirm: true } }) } } })
    t.strictSame(told(), last)
  }
})

t.test('a call that is taken back, or whose client leaves, is told of', async t => {
  const { url, told, app } = await audited(t)
  const client = await legacy(url, '2025-11-25', { t })
  client.request('tools/call', { name: 'long' }, { id: 'long' })
  t.ok(await until(() => app.mcp.stats().calls === 1))
  await client.notify('notifications/cancelled', { requestId: 'long' })
  t.ok(await until(() => app.mcp.stats().calls === 0))
  t.strictSame(told(), [['onCall', 'long'], ['onError', 'long', 'cancelled']])
})

t.test('a question is told of, and so is the call that comes again with its answer', async t => {
  const { url, told } = await audited(t)
  const client = modern(url, { t, meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } } })
  const { result } = await client.request('tools/call', { name: 'ask' }) as any
  t.strictSame(told(), [['onCall', 'ask'], ['onResult', 'ask', 'asked']])
  const [key] = Object.keys(result.inputRequests)
  await client.request('tools/call', { name: 'ask', requestState: result.requestState, inputResponses: { [key as string]: { action: 'accept', content: { sure: true } } } })
  t.strictSame(told(), [['onCall', 'ask'], ['onResult', 'ask', 'ok']])
})

t.test('prompts and resources are told of, and lists are not', async t => {
  const { url, told } = await audited(t, {
    prompts: [definePrompt({ name: 'greet', argsSchema: Type.Object({ who: Type.String({ minLength: 2 }) }), handler: ({ who }) => who })],
    resources: [defineResource({ uri: 'mem://a', name: 'a', read: () => 'a' })]
  })
  const client = await legacy(url, '2025-11-25', { t })
  for (const [method, params] of [['tools/list', {}], ['prompts/get', { name: 'greet', arguments: { who: 'ada' } }], ['prompts/get', { name: 'greet', arguments: { who: 'a' } }], ['resources/read', { uri: 'mem://a' }], ['resources/read', { uri: 'mem://b' }]] as const) await client.request(method, params)
  t.strictSame(told(), [['onCall', 'greet'], ['onResult', 'greet', 'ok'], ['onError', 'greet', 'invalid'], ['onCall', 'mem://a'], ['onResult', 'mem://a', 'ok'], ['onError', 'mem://b', 'invalid']])
})

t.test('who, what, how long: and nothing of what is marked', async t => {
  const { url, heard, log } = await audited(t, { auth: { authenticate: () => ({ subject: 'ada', scopes: ['x'] }) } })
  const client = await legacy(url, '2025-11-25', { t })
  await client.request('tools/call', { name: 'login', arguments: { user: 'ada', password: 'hunter2' } })
  await client.request('tools/call', { name: 'login', arguments: { user: 5, password: 'hunter2' } })
  await client.request('tools/call', { name: 'login', arguments: { user: 'ada', password: '!7' } })
  await client.request('tools/call', { name: 'broken' })
  t.equal(heard[0]?.[1].request?.method, 'POST')
  const [call, result, ...errors] = heard.map(([name, { request, ...event }]) => [name, event]) as [Heard, Heard, ...Heard[]]
  t.match(call, ['onCall', { method: 'tools/call', name: 'login', arguments: { user: 'ada', password: '[redacted]' }, auth: { subject: 'ada', scopes: ['x'] }, client: { name: String }, session: String, revision: '2025-11-25', id: Number }])
  t.match(result, ['onResult', { outcome: 'ok', duration: Number }])
  t.match(errors[0], ['onError', { outcome: 'invalid', duration: 0, message: /user must be string/, errorId: undefined }])
  const broken = errors.at(-1) as ['onError', ErrorEvent]
  t.match(broken[1], { outcome: 'error', message: /failed unexpectedly/, errorId: /^\w{8}$/ })
  t.match(log.filter(({ level }) => level === 50), [{ errorId: broken[1].errorId, err: { message: secret } }], 'the log has the whole of it under that id')
  const said = JSON.stringify([call, result, errors, log])
  for (const hidden of ['hunter2', '!7']) t.notOk(said.includes(hidden), hidden)
  t.notOk(JSON.stringify(errors).includes(secret))
})

t.test('a hook changes nothing, and what it throws is logged', async t => {
  const { url, app, log } = await audited(t, { auth: { authenticate: () => ({ subject: 'ada', scopes: [] }) } })
  const hook = (event: any) => {
    event.auth.scopes.push('files:write', 'files:read')
    event.arguments.user = 'eve'
    event.name = 'other'
  }
  app.mcp.addHook('onCall', hook)
  app.mcp.addHook('onResult', async () => { throw new Error('no disk') })
  const client = await legacy(url, '2025-11-25', { t })
  for (let i = 0; i < 2; i++) t.match(await client.request('tools/call', { name: 'login', arguments: { user: 'ada', password: 'hunter2' } }), { result: { content: [{ text: 'hello ada' }] } })
  t.match(await client.request('tools/call', { name: 'lacking' }), { error: { message: /files:write/ } }, 'and gives nobody a scope')
  t.match(log.filter(({ level }) => level === 50).map(({ hook, err }: any) => [hook, err.message]), [['onCall', /read only/], ['onResult', 'no disk'], ['onCall', /read only/], ['onResult', 'no disk']])
})

t.test('a hook that cannot be one is refused', async t => {
  const { app } = await audited(t)
  t.throws(() => app.mcp.addHook('onRequest' as never, (() => {}) as never), { code: 'MCP_ERR_HOOK', message: /"onRequest"; there are onCall, onResult, onError/ })
  t.throws(() => app.mcp.addHook('onCall', 'x' as never), { code: 'MCP_ERR_HOOK', message: /must be a function, got string/ })
})

t.test('a call that began before anybody listened has no length, and one of another method is not told', async t => {
  const { endpoint } = endpointOf()
  const audit = new Audit()
  const heard: ErrorEvent[] = []
  audit.add('onError', event => { heard.push(event) })
  const fresh = () => exchangeOf(endpoint, 'tools/call', { params: [] as never }).exchange
  const call = () => Object.assign(fresh(), { method: { name: 'tools/call', asks: true, params: {} as never, call: () => {} } })
  audit.failed(fresh(), new CallCancelled('x'), 'x')
  const exchange = call()
  audit.failed(exchange, new CallCancelled('x'), 'x')
  audit.answered(exchange, 'ok')
  audit.failed(exchange, new Error('x'), 'x')
  t.strictSame(heard.map(({ outcome, name, arguments: args }) => [outcome, name, args]), [['cancelled', undefined, undefined]], 'and it has one end')
  for (const [error, outcome] of [[rpcError('Unavailable'), 'error'], [rpcError('InvalidParams'), 'invalid'], [rpcError('InsufficientScope'), 'denied'], [new Error('x'), 'error']] as const) {
    audit.failed(call(), error, 'x')
    t.match(heard.at(-1), { outcome, errorId: undefined }, error.message)
  }
  t.ok((heard[0]?.duration ?? 1) < 1)
})

const hang = async (_: unknown, { signal }: { signal: AbortSignal }) => await sleep(10_000, signal)

t.test('what is no tool has the same outcomes', async t => {
  const fails = (raise: (ctx: Context) => unknown) => ({ handler: (_: unknown, ctx: Context) => raise(ctx) as string, read: (_: unknown, ctx: Context) => raise(ctx) as string })
  const raised: [string, (ctx: Context) => unknown, string[]][] = [
    ['cannot', ctx => ctx.roots(), ['error']],
    ['broken', () => { throw new Error(secret) }, ['error', 'id']],
    ['wrong', () => { throw new ToolError('no such city') }, ['error', 'id']],
    ['protocol', () => { throw new McpError(-32603, 'not today') }, ['error']],
    ['unfit', () => { throw new McpError(-32602, 'not these') }, ['invalid']],
    ['asks', () => { throw new NoStreamError('no stream') }, ['error']]
  ]
  const { url, heard } = await audited(t, {
    limits: { toolTimeout: 60, resource: 5 },
    prompts: [definePrompt({ name: 'late', handler: async (_, ctx) => { await hang(_, ctx); return 'never' } }), ...raised.map(([name, raise]) => definePrompt({ name, ...fails(raise) }))],
    resources: [
      defineResource({ uri: 'mem://late', name: 'late', read: async (_, ctx) => { await hang(_, ctx); return 'never' } }),
      defineResource({ uri: 'mem://none', name: 'none', read: () => undefined }),
      defineResource({ uri: 'mem://large', name: 'large', read: async function * () { yield 'x'.repeat(10) } }),
      ...raised.map(([name, raise]) => defineResource({ uri: `mem://${name}`, name, ...fails(raise) }))
    ]
  })
  const told = () => heard.splice(0).map(([hook, event]) => hook === 'onError' ? [event.outcome, ...(event.errorId === undefined ? [] : ['id'])] : [hook])
  for (const client of [await legacy(url, '2025-06-18', { t }), modern(url, { t })]) {
    for (const [name, , outcome] of [['late', undefined, ['timeout']], ...raised] as [string, unknown, string[]][]) {
      const { error } = await client.request('prompts/get', { name })
      t.equal((heard.at(-1)?.[1] as ErrorEvent).message, error.message, 'hooks are told what the client is told')
      t.strictSame(told(), [['onCall'], outcome], `${client.dialect.revision} prompt ${name}`)
      await client.request('resources/read', { uri: `mem://${name}` })
      t.strictSame(told(), [['onCall'], outcome], `${client.dialect.revision} resource ${name}`)
    }
    for (const [name, outcome] of [['none', ['invalid']], ['large', ['error']]] as const) {
      await client.request('resources/read', { uri: `mem://${name}` })
      t.strictSame(told(), [['onCall'], outcome], `${client.dialect.revision} ${name}`)
    }
  }
})

t.test('a call whose client has left was taken back, whatever its handler does then', async t => {
  const left: Record<string, (signal: AbortSignal) => unknown> = {
    ends: () => 'all the same',
    throws: signal => { throw new Error('the query failed', { cause: signal.reason }) },
    fails: () => { throw new Error('rollback failed') },
    refuses: () => { throw new ToolError('no') }
  }
  let seen: boolean | undefined
  const { url, heard, log, app } = await audited(t, {
    tools: Object.entries(left).map(([name, then]) => defineTool({
      name,
      handler: async (_, ctx) => {
        await new Promise<void>(resolve => { ctx.request?.raw.socket.once('close', () => setImmediate(resolve)) })
        seen = ctx.signal.aborted
        return then(ctx.signal) as string
      }
    }))
  })
  for (const client of [await legacy(url, '2025-06-18', { t, handshake: false }), modern(url, { t })]) {
    for (const name of Object.keys(left)) {
      const call = client.start('tools/call', { name })
      t.ok(await until(() => app.mcp.stats().calls === 1))
      call.abort()
      t.ok(await until(() => heard.length === 2), `${client.dialect.revision} ${name}`)
      t.match(heard.splice(0), [['onCall', { name }], ['onError', { name, outcome: 'cancelled', message: 'The client is gone', errorId: undefined }]])
      t.equal(seen, true, 'the handler sees it at the first look')
    }
  }
  t.strictSame(log.filter(({ level }) => Number(level) >= 40).map(({ level, err }: any) => [level, err.message]), [[40, 'rollback failed'], [40, 'no'], [40, 'rollback failed'], [40, 'no']])
})

t.test('each hook has a copy of its own', async t => {
  const { url, app, heard } = await audited(t, { auth: { authenticate: () => ({ subject: 'ada', scopes: [], claims: { role: 'user', odd: () => {} } }) } })
  const seen: unknown[] = []
  const spoils = (event: any) => {
    seen.push([event.arguments?.user, event.auth.claims.role, event.auth.scopes.length, event.client?.name])
    event.arguments.user = 'eve'
    event.auth.claims.role = 'admin'
    event.auth.scopes.push('x')
    event.client.name = 'eve'
  }
  for (let i = 0; i < 2; i++) for (const name of ['onCall', 'onResult'] as const) app.mcp.addHook(name, spoils)
  const client = await legacy(url, '2025-11-25', { t })
  await client.request('tools/call', { name: 'login', arguments: { user: 'ada', password: 'hunter2' } })
  const name = heard[0]?.[1].client?.name
  t.strictSame(seen, Array(4).fill(['ada', 'user', 0, name]))
})

t.test('of arguments that do not fit a schema with marks hooks see no more than its names', async t => {
  const inputSchema = Type.Object({ user: Type.String(), keys: Type.Array(Type.String({ 'x-sensitive': true })), deep: Type.Optional(Type.Object({ p: Type.String({ 'x-sensitive': true }) }, { additionalProperties: false })) })
  const { url, heard } = await audited(t, {
    tools: [defineTool({ name: 'open', inputSchema, handler: () => 'x' }), defineTool({ name: 'scarce', inputSchema, rateLimit: { max: 1, timeWindow: 60_000 }, handler: () => 'x' })],
    prompts: [definePrompt({ name: 'ask', argsSchema: Type.Object({ key: Type.String({ 'x-sensitive': true, maxLength: 3 }), other: Type.Optional(Type.String()) }), handler: () => 'x' })]
  })
  const client = await legacy(url, '2025-11-25', { t })
  const gone = '[redacted]'
  const calls: [string, unknown, unknown][] = [
    ['open', { user: 'ada', keys: ['hunter2'] }, { user: 'ada', keys: [gone] }],
    ['open', { user: 'ada', keys: [], Keys: 'hunter2' }, { user: 'ada', keys: [], Keys: gone }],
    ['open', { user: 'ada', keys: 'hunter2' }, { user: gone, keys: gone }],
    ['open', { user: 'ada', keys: [], deep: { P: 'hunter2', hunter2: 1 } }, { user: gone, keys: [], deep: { [gone]: gone } }],
    ['scarce', { user: 'ada', keys: [] }, { user: 'ada', keys: [] }],
    ['scarce', { user: 'ada', keys: 'hunter2' }, { user: gone, keys: gone }]
  ]
  for (const [name, args, shown] of calls) {
    await client.request('tools/call', { name, arguments: args })
    t.strictSame(heard.at(-1)?.[1].arguments, shown, JSON.stringify(args))
  }
  for (const [args, shown] of [[{ key: 'abc', other: 'x' }, { key: gone, other: 'x' }], [{ key: 'hunter2', other: 'x' }, { key: gone, other: gone }], [{ key: ['hunter2'] }, { key: [gone] }]]) {
    await client.request('prompts/get', { name: 'ask', arguments: args })
    t.strictSame(heard.at(-1)?.[1].arguments, shown, JSON.stringify(args))
  }
  for (const args of ['hunter2', ['hunter2']]) {
    for (const [method, name] of [['tools/call', 'open'], ['prompts/get', 'ask']] as const) await client.request(method, { name, arguments: args })
  }
  t.notMatch(JSON.stringify(heard.map(([, { request, ...event }]) => event)), 'hunter2')
})
