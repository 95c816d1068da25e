// What handlers and hooks may do to each other: nothing.
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import { accept, allModes, elicit, inputRequired, join, modeOf, Name, named, roundModes } from '../asking/client.js'
import { build, defineTool, McpError, secret } from '../support/app.js'
import { legacy, modern } from '../support/http.js'
import { until } from '../support/time.js'
import type { CallHooks, McpOptions } from '../../types/index.js'

const sleep = (ms: number) => new Promise<void>(resolve => { setTimeout(resolve, ms) })
const NAMES = ['onCall', 'onResult', 'onError'] as const

async function heardBy (t: Test, options: McpOptions, names: ReadonlyArray<keyof CallHooks> = NAMES) {
  const server = await build(t, { bare: true, options })
  const heard: any[] = []
  for (const name of names) server.app.mcp.addHook(name, ((event: object) => { heard.push({ hook: name, ...event }) }) as never)
  const told = () => heard.splice(0).map(({ hook, outcome, arguments: args }) => [hook, ...(outcome === undefined ? [] : [outcome]), ...(args === undefined ? [] : [args])])
  return { ...server, heard, told }
}

const inputSchema = Type.Object({ id: Type.Optional(Type.Integer()), password: Type.Optional(Type.String({ 'x-sensitive': true })) })
const spoils: Record<string, (args: any) => void> = {
  big: args => { args.id = 5n },
  circle: args => { args.self = args },
  function: args => { args.run = () => {} },
  proxy: args => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    args.proxy = proxy
    revoke()
  },
  getter: args => { Object.defineProperty(args, 'boom', { enumerable: true, get () { throw new Error(secret) } }) },
  json: args => { args.toJSON = () => { throw new Error(secret) } },
  copy: args => { args.clean = args.password.trim() }
}
const ways: Record<string, (spoil: (args: any) => void) => (args: any, ctx: any) => unknown> = {
  at_once: spoil => args => { spoil(args); return 'done' },
  later: spoil => async args => { await sleep(1); spoil(args); return 'done' },
  fails: spoil => async args => { spoil(args); throw new Error(secret) },
  slow: spoil => async args => { spoil(args); await sleep(10_000).then(() => 'never') }
}
const all = Object.entries(spoils).flatMap(([name, spoil]) => Object.entries(ways).map(([way, handler]) => [`${way}_${name}`, way, handler(spoil)] as const))
const tools = all.map(([name, way, handler]) => defineTool({ name, inputSchema, ...(way === 'slow' && { timeout: 60 }), handler: handler as never }))
const args = { id: 5, password: ' hunter2 ' }
const shown = { id: 5, password: '[redacted]' }

t.test('whatever a handler writes into its arguments, hooks are told what came, and the call ends as it would', async t => {
  for (const names of [NAMES, ['onResult', 'onError']] as const) {
    const { url, told, heard, log } = await heardBy(t, { tools }, names)
    const client = modern(url, { t })
    for (const [name, way] of all) {
      const { result } = await client.request('tools/call', { name, arguments: args })
      t.equal(result.isError === true, way === 'fails' || way === 'slow', name)
      t.notMatch(JSON.stringify(heard.map(({ request, ...event }) => event)), 'hunter2', name)
      const end = way === 'fails' ? ['onError', 'error', shown] : way === 'slow' ? ['onError', 'timeout', shown] : ['onResult', 'ok', shown]
      t.strictSame(told(), [...(names.length === 3 ? [['onCall', shown]] : []), end], name)
    }
    t.strictSame(log.filter(({ level, msg }) => Number(level) >= 50 && msg !== 'unexpected error'), [])
  }
})

t.test('it can be cancelled, its session can be ended, and the server can be closed', async t => {
  const holding = Object.entries(spoils).map(([name, spoil]) => defineTool({ name, inputSchema, handler: async args => { spoil(args); await sleep(10_000); return 'never' } }))
  const { app, url, heard } = await heardBy(t, { tools: holding, closeTimeout: 50 })
  const ended = () => heard.splice(0).filter(({ hook }) => hook === 'onError').map(({ name, outcome, arguments: args }) => [name, outcome, args])
  const names = Object.keys(spoils)
  const rows = names.map(name => [name, 'cancelled', shown])
  const client = await legacy(url, '2025-11-25', { t })
  const begin = async () => {
    for (const name of names) client.request('tools/call', { name, arguments: args }, { id: name }).catch(() => {})
    t.ok(await until(() => app.mcp.stats().calls === names.length))
  }
  await begin()
  for (const name of names) t.equal((await client.notify('notifications/cancelled', { requestId: name }))?.status, 202)
  t.equal(app.mcp.stats().calls, 0)
  t.strictSame(ended(), rows, 'taken back')
  await begin()
  t.equal((await client.delete()).status, 204)
  t.equal(app.mcp.stats().calls, 0)
  t.strictSame(ended(), rows, 'ended with the session')
  const other = modern(url, { t })
  const answers = names.map(name => other.request('tools/call', { name, arguments: args }))
  t.ok(await until(() => app.mcp.stats().calls === names.length))
  await app.close()
  t.strictSame((await Promise.all(answers)).map(({ result }) => result.isError), names.map(() => true))
  t.strictSame(ended(), rows, 'ended with the server')
})

t.test('what asks whether it may run gets its hands on them first, and hooks still hear what came', async t => {
  const server = await heardBy(t, { tools: [defineTool({ name: 'drop', inputSchema, confirm: ((args: any) => { args.stolen = args.password; return 'Sure?' }) as never, handler: () => 'done' })] })
  for (const mode of [modeOf('2025-11-25', 'http'), ...roundModes]) {
    const client = await join(t, mode, server)
    t.equal((await client.call('drop', () => accept({ confirm: true }), { args })).text, 'done')
    t.strictSame(server.told(), [...(mode.rounds ? [['onResult', 'asked', shown]] : []), ['onCall', shown], ['onResult', 'ok', shown]], mode.title)
  }
})

t.test('a call that came before there was any hook is told of without its arguments', async t => {
  const { app, url, told } = await heardBy(t, { tools: [defineTool({ name: 'late', inputSchema, handler: async args => { spoils.copy?.(args); await sleep(100); return 'done' } })] }, [])
  const call = modern(url, { t }).request('tools/call', { name: 'late', arguments: args })
  t.ok(await until(() => app.mcp.stats().calls === 1))
  const heard: unknown[] = []
  app.mcp.addHook('onResult', event => { heard.push([event.outcome, event.arguments]) })
  await call
  t.strictSame(heard, [['ok', undefined]])
  t.strictSame(told(), [])
})

t.test('what a handler says of arguments that fit hides no more of them', async t => {
  const { url, heard } = await heardBy(t, { tools: [defineTool({ name: 'picky', inputSchema, handler: () => { throw new McpError(-32602, 'not these') } })] }, ['onError'])
  const client = modern(url, { t })
  await client.request('tools/call', { name: 'picky', arguments: args })
  await client.request('tools/call', { name: 'picky', arguments: { ...args, id: 'hunter2' } })
  t.strictSame(heard.map(({ outcome, arguments: args }) => [outcome, args]), [['invalid', shown], ['invalid', { id: '[redacted]', password: '[redacted]' }]])
})

t.test('arguments that are no JSON, since a hook of the app changed them, are not told, and the call goes on', async t => {
  const log: any[] = []
  const app = Fastify({ logger: { stream: { write: line => { log.push(JSON.parse(line)) } } } })
  app.addHook('preHandler', async request => { Object.assign((request.body as any)?.params?.arguments ?? {}, { big: 5n }) })
  await app.register(mcpPlugin, { tools: [defineTool({ name: 'plain', inputSchema, handler: () => 'done' })] })
  t.teardown(() => app.close())
  const heard: unknown[] = []
  for (const name of NAMES) app.mcp.addHook(name, ((event: any) => { heard.push([name, event.name, event.arguments]) }) as never)
  const client = modern(await app.listen({ port: 0, host: '127.0.0.1' }) + '/mcp', { t })
  t.match(await client.request('tools/call', { name: 'plain', arguments: args }), { result: { content: [{ text: 'done' }] } })
  t.strictSame(heard, [['onCall', 'plain', undefined], ['onResult', 'plain', undefined]])
  t.match(log.filter(({ level }) => level === 50), [{ msg: 'hooks cannot be told all of a call', err: { message: /BigInt/ } }])
})

t.test('one call has one end, whatever comes after it', async t => {
  const options = {
    tools: [
      defineTool({ name: 'slow_once', timeout: 150, handler: async (_, ctx) => { await Promise.all([ctx.once('k', () => sleep(500)), ctx.elicit('Who?', Name)]); return 'never' } }),
      defineTool({ name: 'returns', handler: (_, ctx) => ctx.answers.who === undefined ? inputRequired({ questions: { who: elicit('Who?', Name) } }) as never : 'done' }),
      defineTool({ name: 'asks', handler: async (_, ctx) => (await ctx.elicit('Who?', Name)).action })
    ]
  }
  for (const mode of roundModes) {
    const server = await heardBy(t, options)
    const client = await join(t, mode, server)
    const { text } = await client.call('slow_once', () => named('Ada'))
    t.match(text, /took longer than 150 ms/)
    await sleep(500)
    t.strictSame(server.told(), [['onCall', {}], ['onError', 'timeout', {}]], mode.title)
  }
  for (const mode of allModes.filter(({ revision }) => revision >= '2025-06-18')) {
    const server = await heardBy(t, options)
    const client = await join(t, mode, server)
    for (const name of ['returns', 'asks']) {
      await client.call(name, () => named('Ada'))
      const round = mode.rounds ? [['onCall', {}], ['onResult', 'asked', {}]] : []
      t.strictSame(server.told(), [...round, ['onCall', {}], ['onResult', 'ok', {}]], `${mode.title} ${name}`)
    }
  }
})

t.test('what a hook throws is logged, whatever it is', async t => {
  const { app, url, log } = await build(t, { bare: true, options: { tools: [defineTool({ name: 'plain', handler: () => 'done' })] } })
  const odd = Object.defineProperty(new Error('odd'), 'more', { enumerable: true, get () { throw new Error('never logged') } })
  const throws: unknown[] = [null, undefined, 'text', Object.create(null), odd]
  for (const one of throws) app.mcp.addHook('onCall', () => { throw one })
  for (const one of throws) app.mcp.addHook('onResult', () => Promise.reject(one))
  app.mcp.addHook('onResult', () => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(new Error('no promise of the language')) }))
  app.mcp.addHook('onResult', () => ({ get then () { throw new Error('no promise at all') } }))
  const { result } = await modern(url, { t }).request('tools/call', { name: 'plain' })
  t.match(result.content, [{ text: 'done' }])
  const lines = () => log.filter(({ msg }) => msg === 'a hook of calls failed')
  t.ok(await until(() => lines().length === throws.length * 2 + 2), `${lines().length}`)
})

class Claims {
  role = 'user'
  nested = { groups: ['a'], at: new Date(0) }
  has () { return true }
}

class Caller {
  readonly #name = 'ada'
  claims = new Claims()
  scopes = ['x']
  get subject () { return this.#name }
  get clientId () { return 'c' }
}

t.test('of who calls each hook has a copy to the bottom, whatever authenticate gave', async t => {
  const around: Record<string, unknown> = { role: 'user', nested: { groups: ['a'], at: new Date(0) }, has: () => true }
  around.self = around
  Object.defineProperty(around, 'boom', { enumerable: true, get () { throw new Error(secret) } })
  const callers: any[] = [{ subject: 'ada', clientId: 'c', scopes: ['x'], claims: { role: 'user', nested: { groups: ['a'], at: new Date(0) } } }, { subject: 'ada', clientId: 'c', scopes: ['x'], claims: around }, new Caller()]
  for (const caller of callers) {
    const { app, url, heard } = await heardBy(t, { auth: { authenticate: () => caller }, tools: [defineTool({ name: 'who', handler: (_, { auth, client }: any) => `${auth.claims.role} ${auth.claims.nested.groups} ${auth.scopes} ${client.name}` })] }, [])
    const spoil = (event: any) => {
      heard.push([event.auth.subject, event.auth.clientId, event.auth.claims.role, [...event.auth.claims.nested.groups], event.auth.claims.nested.at.getTime(), event.client.name])
      event.auth.claims.role = 'admin'
      event.auth.claims.nested.groups.push('root')
      event.auth.claims.nested.at.setTime(1)
      event.auth.scopes.push('root')
      event.client.name = 'eve'
    }
    for (const name of ['onCall', 'onResult', 'onCall'] as const) app.mcp.addHook(name, spoil)
    const client = await legacy(url, '2025-11-25', { t })
    for (let i = 0; i < 2; i++) t.match(await client.request('tools/call', { name: 'who' }), { result: { content: [{ text: 'user a x audit' }] } })
    t.strictSame(heard, Array(6).fill(['ada', 'c', 'user', ['a'], 0, 'audit']))
  }
})
