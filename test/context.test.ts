import t from 'tap'
import { Exchange } from '../lib/exchange.js'
import { roots } from '../lib/question.js'
import { LEVELS, META } from '../lib/schemas/envelope.js'
import { Session } from '../lib/session.js'
import type { InputOptions, LoggingLevel, Schema } from '../types/index.js'
import { endpointOf, exchangeOf, FakeChannel, servedOf, type ExchangeOptions } from './support/doubles.js'

const served = servedOf('2025-11-25')
const sessionOf = () => new Session('s-1', 'http', served, { name: 'c', version: '1' }, { roots: {} })
const circle: Record<string, unknown> = {}
circle.self = circle

function contextOf (options: ExchangeOptions = {}) {
  const double = endpointOf()
  const made = exchangeOf(double.endpoint, 'tools/call', options)
  return { ...double, ...made, ctx: made.exchange.ctx }
}

const asking = (progressToken: unknown, more: object = {}) => ({ params: { _meta: { progressToken, ...more } } })

t.test('a handler sees its exchange', async t => {
  const session = sessionOf()
  const { ctx, exchange, endpoint } = contextOf({ session, params: { _meta: { a: 1 } } })
  t.equal(ctx.signal, exchange.signal)
  t.equal(ctx.app, endpoint.app)
  t.equal(ctx.session?.id, 's-1')
  t.strictSame([ctx.request, ctx.auth], [undefined, undefined])
  t.strictSame([ctx.client, ctx.capabilities, ctx.meta], [{ name: 'c', version: '1' }, { roots: {} }, { a: 1 }])
})

t.test('ctx.app is the instance that added what is called', async t => {
  const { ctx, exchange } = contextOf()
  const owner = { log: {} } as typeof exchange.owner
  exchange.owner = owner
  t.equal(ctx.app, owner)
})

t.test('the logger is that of the request, and without one that of the app', async t => {
  const { ctx, endpoint } = contextOf()
  t.equal(ctx.log, endpoint.app.log)
  const request = { log: {} } as never
  const exchange = new Exchange(endpoint, served, { jsonrpc: '2.0', id: 1, method: 'x' }, new FakeChannel(), undefined, request)
  t.equal(exchange.ctx.log, (request as { log: unknown }).log)
  t.equal(exchange.ctx.request, request)
})

t.test('progress goes out under the token that the client chose', async t => {
  for (const token of ['abc', '', 0, -7]) {
    const { ctx, channel } = contextOf(asking(token))
    await ctx.progress(0.5, 2, 'half')
    await ctx.progress(1)
    t.strictSame(channel.messages, [
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 0.5, total: 2, message: 'half' } },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: 1 } }
    ])
  }
})

t.test('without a token that is a string or an integer there is no progress', async t => {
  for (const token of [undefined, null, 1.5, {}, [], true]) {
    const { ctx, channel } = contextOf(asking(token))
    await ctx.progress(1)
    t.strictSame(channel.sent, [], String(token))
  }
})

t.test('progress that does not grow is dropped', async t => {
  const { ctx, channel } = contextOf(asking(1))
  for (const value of [-2, 1, 1, 0, NaN, 1.5, 3]) await ctx.progress(value)
  t.strictSame(channel.messages.map(message => message.params.progress), [-2, 1, 1.5, 3])
})

t.test('a progress that JSON has no number for does not become null on the wire', async t => {
  for (const [progress, total] of [[Infinity, undefined], [1, NaN], [2, Infinity]] as const) {
    const { ctx, channel } = contextOf(asking(1))
    await ctx.progress(progress, total)
    t.notMatch(channel.sent.join(), 'null', `${progress} of ${total}`)
  }
})

t.test('nothing is sent once the call has its answer', async t => {
  const { ctx, channel, exchange } = contextOf(asking(1))
  exchange.end('{}', 200)
  await ctx.progress(1)
  await ctx.message('error', 'late')
  t.strictSame(channel.sent, [])
})

t.test('a message carries its level, its data and its logger', async t => {
  const { ctx, channel } = contextOf()
  const data = [{ deep: [1, null] }, 'text', 5, false, null, []]
  for (const one of data) await ctx.message('warning', one)
  await ctx.message('error', 'x', 'db')
  t.strictSame(channel.messages.slice(0, -1), data.map(one => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'warning', data: one } })))
  t.strictSame(channel.messages.at(-1).params, { level: 'error', logger: 'db', data: 'x' })
})

t.test('data that JSON knows nothing of is sent as null, for there must be some', async t => {
  for (const data of [undefined, () => {}, Symbol('x'), { toJSON () {} }]) {
    const { ctx, channel } = contextOf()
    await ctx.message('error', data)
    t.strictSame(channel.messages, [{ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: null } }], String(typeof data))
  }
})

t.test('data that JSON cannot carry is not sent; the log of the app says so', async t => {
  const hostile = { toJSON () { throw new Error('no') } }
  for (const data of [circle, 1n, hostile]) {
    const { ctx, channel, log } = contextOf()
    await t.resolves(ctx.message('error', data))
    t.strictSame(channel.sent, [])
    t.match(log, [{ level: 'warn', fields: { err: Error }, message: /not sent/ }])
  }
})

t.test('a session hears what is as severe as the level it has set, and from info on before that', async t => {
  const rows: [LoggingLevel | undefined, LoggingLevel[]][] = [
    [undefined, LEVELS.slice(1)],
    ...LEVELS.map((level, i): [LoggingLevel, LoggingLevel[]] => [level, LEVELS.slice(i)])
  ]
  for (const [level, heard] of rows) {
    const session = sessionOf()
    session.logLevel = level
    const { ctx, channel } = contextOf({ session })
    for (const one of LEVELS) await ctx.message(one, 'x')
    t.strictSame(channel.messages.map(message => message.params.level), heard, `level ${level}`)
  }
})

t.test('a client of 2026-07-28 hears nothing that its request did not ask for', async t => {
  const rows: [LoggingLevel | undefined, LoggingLevel[]][] = [[undefined, []], ['debug', [...LEVELS]], ['alert', ['alert', 'emergency']]]
  for (const [level, heard] of rows) {
    const session = sessionOf()
    session.logLevel = 'debug'
    const { ctx, channel } = contextOf({ version: '2026-07-28', session, params: { _meta: level === undefined ? {} : { [META.logLevel]: level } } })
    for (const one of LEVELS) await ctx.message(one, 'x')
    t.strictSame(channel.messages.map(message => message.params.level), heard, `level ${level}`)
  }
})

t.test('a level that is none is dropped', async t => {
  const session = sessionOf()
  session.logLevel = 'debug'
  const { ctx, channel } = contextOf({ session })
  await ctx.message('verbose' as LoggingLevel, 'x')
  t.strictSame(channel.sent, [])
})

/** A context whose questions are answered with their own keys. */
function asking2 () {
  const { ctx, exchange } = contextOf()
  const asked: [string[], InputOptions][] = []
  const ask = (questions: object, options: InputOptions) => {
    asked.push([Object.keys(questions), options])
    return Promise.resolve(Object.fromEntries(Object.keys(questions).map(key => [key, key])))
  }
  Object.defineProperty(exchange, 'input', { value: { ask, once: (key: string, make: () => unknown) => [key, make()], answers: { a: 1 }, state: 'kept' } })
  return { ctx, asked }
}

const form = { type: 'object', properties: { name: { type: 'string' } } } as const

t.test('questions go to who asks in the way of the revision, with their options', async t => {
  const { ctx, asked } = asking2()
  t.strictSame(await ctx.input({ one: roots(), two: roots() }, { singleUse: true }), { one: 'one', two: 'two' })
  await ctx.input({ one: roots() })
  t.strictSame(asked, [[['one', 'two'], { singleUse: true }], [['one'], {}]])
  await t.rejects(ctx.input({ one: roots(), two: 5 as never }), { code: 'MCP_ERR_INPUT', message: /"two" is no question/ })
  t.strictSame([ctx.answers, ctx.state, await ctx.once('k', () => 5)], [{ a: 1 }, 'kept', ['k', 5]])
})

t.test('a single question has a key of what it asks and how often, the same in each run', async t => {
  const [first, second] = [asking2(), asking2()]
  const run = async ({ ctx }: typeof first) => [
    await ctx.elicit('Name?', form), await ctx.elicit('Name?', form), await ctx.elicit('Other?', form), await ctx.elicitUrl('Go', 'https://a.example'),
    await ctx.sample('Hi'), await ctx.roots()
  ] as unknown as string[]
  const keys = await run(first)
  t.strictSame(await run(second), keys)
  t.equal(new Set(keys).size, 6)
  t.match(keys, [/^elicitation-.*-1$/, /^elicitation-.*-2$/, /^elicitation-.*-1$/, /^elicitation-/, /^sampling-.*-1$/, /^roots-.*-1$/])
})

t.test('a question that cannot be asked rejects, and ends no process where nobody waits for it', async t => {
  const { ctx, asked } = asking2()
  ctx.elicit('Name?', { type: 'string' } as Schema).catch(() => {})
  await t.rejects(ctx.elicit('Name?', { type: 'string' } as Schema), { code: 'MCP_ERR_INPUT_SCHEMA' })
  const strange = { singleuse: true } as never
  for (const asking of [ctx.elicit('Name?', form, strange), ctx.roots(strange), ctx.input({ one: roots() }, strange)]) await t.rejects(asking, { code: 'MCP_ERR_INPUT', message: /singleuse/ })
  t.strictSame(asked, [])
})
