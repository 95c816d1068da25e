import { Type } from '@sinclair/typebox'
import t from 'tap'
import { dispatch } from '../../lib/dispatch.js'
import { McpError } from '../../lib/errors.js'
import { PromptsFeature } from '../../lib/features/prompts.js'
import type { PromptsOptions } from '../../lib/features/prompts.js'
import type { Prompt } from '../../types/index.js'
import { endpointOf, exchangeOf, servedOf, type ExchangeOptions } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'
import { turn, until } from '../support/time.js'

const secret = 'pg://u:pw@10.0.0.9/db'
const defaults: PromptsOptions = { timeout: 0, validator: undefined, started: false, pageSize: 100, cache: { ttlMs: 5, cacheScope: 'private' } }
const promptOf = (name: string, handler: (...what: any[]) => unknown = () => name, more: object = {}) => ({ name, handler, ...more }) as unknown as Prompt
const argsSchema = Type.Object({ who: Type.String(), tone: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])), lang: Type.String({ default: 'en' }) })

/** A feature with these prompts, spoken to through dispatch. */
function featureOf (prompts: Prompt[] = [], options: Partial<PromptsOptions> = {}) {
  const told = { changes: 0, first: 0 }
  const double = endpointOf()
  const feature = new PromptsFeature({ ...defaults, ...options }, () => { told.changes++ }, () => { told.first++ })
  for (const prompt of prompts) feature.add(prompt, double.endpoint.app)
  const send = (method: string, params: Record<string, unknown> = {}, { version = '2025-11-25', ...rest }: ExchangeOptions = {}) => {
    const made = exchangeOf(double.endpoint, method, { params, served: servedOf(version, feature.methods), ...rest })
    dispatch(made.exchange)
    return made
  }
  const get = (name: unknown, args?: unknown) => send('prompts/get', args === undefined ? { name } : { name, arguments: args }).channel
  return { ...double, feature, told, send, get }
}

const names = (send: ReturnType<typeof featureOf>['send'], params?: Record<string, unknown>) => send('prompts/list', params).channel.answer.result.prompts.map((one: Prompt) => one.name)

t.test('nothing is offered before there is a prompt, and that is told once', async t => {
  const { feature, told, endpoint } = featureOf()
  t.strictSame([feature.offered, feature.capability(true), told.first], [false, {}, 0])
  feature.add(promptOf('a'), endpoint.app)
  feature.add(promptOf('b'), endpoint.app)
  t.strictSame([feature.offered, told.first], [true, 1])
  t.strictSame([feature.capability(true), feature.capability(false)], [{ prompts: { listChanged: true } }, { prompts: {} }])
})

t.test('the list has what can be seen, in pages, and how long it keeps', async t => {
  const { feature, send, endpoint } = featureOf(['b', 'a', 'c', 'd'].map(name => promptOf(name)), { pageSize: 2 })
  feature.enable('a', false)
  t.match(send('prompts/list', {}, { version: '2026-07-28' }).channel.answer.result, { prompts: [{ name: 'b' }, { name: 'c' }], ttlMs: 5, cacheScope: 'private' })
  const { nextCursor } = send('prompts/list').channel.answer.result
  t.strictSame(names(send, { cursor: nextCursor }), ['d'])
  t.match(send('prompts/list', { cursor: 'x' }).channel.answer.error, { code: -32602 })
  feature.add(promptOf('e'), endpoint.app)
  t.match(send('prompts/list', { cursor: nextCursor }).channel.answer.error, { code: -32602 })
})

t.test('a name is taken once; the error names both prompts', async t => {
  const { feature, endpoint } = featureOf([promptOf('a', undefined, { title: 'First' })])
  t.match(thrown(() => feature.add(promptOf('a', undefined, { description: 'the second' }), endpoint.app)), { code: 'MCP_ERR_PROMPT_DUPLICATE', message: /"a".*"First".*"the second"/ })
  t.match(thrown(() => feature.add(promptOf('a'), endpoint.app)).message, /"no description"/)
})

t.test('changes are told', async t => {
  const { feature, told } = featureOf([promptOf('a')])
  t.strictSame([feature.has('a'), feature.enable('a', false), feature.remove('a'), feature.remove('a'), feature.has('a')], [true, true, true, false, false])
  t.equal(told.changes, 2)
})

t.test('the handler gets its arguments and the context, as a method of its app', async t => {
  const seen: unknown[] = []
  const { get, endpoint } = featureOf([promptOf('a', function (this: unknown, args, ctx) {
    seen.push(this, args, ctx.app)
    return 'hello'
  }, { argsSchema, description: 'd' }), promptOf('later', async () => 'later'), promptOf('any', args => JSON.stringify(args))])
  t.strictSame(get('a', { who: 'x', extra: 'y' }).answer.result, { description: 'd', messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }] })
  t.equal(seen[0], endpoint.app)
  t.strictSame(seen[1], { who: 'x', extra: 'y', lang: 'en' }, 'a default is filled in, and what is not named passed on')
  t.equal(seen[2], endpoint.app)
  const channel = get('later')
  await turn()
  t.match(channel.answer.result, { messages: [{ content: { text: 'later' } }] })
  t.match(get('any', { x: '1' }).answer.result.messages, [{ content: { text: '{"x":"1"}' } }])
  t.match(get('any', null).answer.result.messages, [{ content: { text: '{}' } }], 'null is none')
})

t.test('arguments that do not fit are refused, and the error names them', async t => {
  let runs = 0
  const { get } = featureOf([promptOf('p', () => { runs++; return 'ok' }, { argsSchema })])
  const rows: [unknown, RegExp][] = [
    [undefined, /prompt "p": \/who is required/], [{}, /\/who is required/], [null, /\/who is required/], [{ who: 7 }, /prompt "p": \/who must be string$/],
    [{ who: null }, /\/who must be string$/], [{ who: 'x', extra: 1 }, /\/extra must be string$/], [{ who: 'x', tone: 'c' }, /\/tone must be one of "a", "b"/],
    [[], /\/arguments must be object or null, got array$/], ['x', /\/arguments must be object or null, got string$/]
  ]
  for (const [args, message] of rows) t.match(get('p', args).answer.error, { code: -32602, message }, JSON.stringify(args))
  t.equal(runs, 0)
  t.ok(get('p', { who: '' }).answer.result, 'an empty string is there')
})

t.test('nothing of what came is told where anything is marked, nor a name that the schema does not have', async t => {
  const { get } = featureOf([promptOf('p', () => 'ok', { argsSchema: Type.Object({ a: Type.String({ 'x-sensitive': true }), b: Type.Optional(Type.String({ maxLength: 3 })) }) })])
  const rows: [unknown, RegExp][] = [
    [{ a: ['hunter2'] }, /\/a must be string$/], [{ a: 'x', hunter2: 1 }, /\/\* must be string$/], [{ a: 'x', b: 'hunter2' }, /\/b must NOT have more than 3 characters$/],
    [['hunter2'], /\/arguments must be object or null, got array$/], ['hunter2', /\/arguments must be object or null, got string$/]
  ]
  for (const [args, message] of rows) {
    const { error } = get('p', args).answer
    t.match(error, { code: -32602, message }, JSON.stringify(args))
    t.notMatch(error.message, /hunter2/)
  }
})

t.test('a prompt that is not there, or hidden, is refused', async t => {
  const { get, feature } = featureOf([promptOf('a')])
  feature.enable('a', false)
  for (const name of ['a', 'b', '', 'constructor']) t.match(get(name).answer.error, { code: -32602, message: RegExp(`no prompt "${name}"`) })
  for (const name of [7, null, undefined]) t.match(get(name).answer.error, { code: -32602, message: /\/name/ })
  t.strictSame([feature.named('a'), feature.named('b')], [undefined, undefined])
})

t.test('an error of the handler is masked unless it is meant for the client', async t => {
  const { get, log } = featureOf([promptOf('boom', () => { throw new Error(secret) }), promptOf('later', async () => { throw new Error(secret) }), promptOf('wrong', () => 7), promptOf('meant', () => { throw new McpError(-32000, 'no') })])
  for (const name of ['boom', 'later', 'wrong']) {
    const channel = get(name)
    await turn()
    t.match(channel.answer.error, { code: -32603, message: /^Internal error: error id [0-9a-f]{8}$/ }, name)
  }
  t.strictSame(log.map(line => line.fields.name), ['boom', 'later', 'wrong'])
  t.strictSame(get('meant').answer.error, { code: -32000, message: 'no' })
})

t.test('a prompt has as much time as any call', async t => {
  const { get } = featureOf([promptOf('a', () => new Promise(() => {}))], { timeout: 20 })
  const channel = get('a')
  t.ok(await until(() => channel.ended.length === 1))
  t.match(channel.answer.error, { code: -32603, message: /The prompt took longer than 20 ms/ })
})

t.test('what can be completed is found by its name', async t => {
  const { feature, endpoint } = featureOf([promptOf('a')])
  t.notOk(feature.completes)
  feature.add(promptOf('b', undefined, { complete: { x: ['1'] } }), endpoint.app)
  t.ok(feature.completes)
  t.equal(feature.named('b')?.name, 'b')
})
