import t from 'tap'
import { dispatch } from '../../lib/dispatch.js'
import { completion } from '../../lib/features/completion.js'
import type { Completable } from '../../lib/features/completion.js'
import { OPEN } from '../../lib/features/gate.js'
import type { Completer } from '../../types/index.js'
import { endpointOf, exchangeOf, servedOf, type ExchangeOptions } from '../support/doubles.js'
import { turn, until } from '../support/time.js'

const prompt = { type: 'ref/prompt', name: 'p' }
const resource = { type: 'ref/resource', uri: 'mem://{id}' }

/** The feature with one prompt and one template that have these completers. */
function featureOf (complete: Record<string, Completer> = {}, { timeout = 0, offered = true } = {}) {
  const double = endpointOf()
  const app = { log: {} } as Completable['app']
  const found: Completable = { app, gate: OPEN, complete: new Map(Object.entries(complete)) }
  const feature = completion({
    timeout,
    offered: () => offered,
    prompt: name => name === 'p' ? found : undefined,
    resource: uri => uri === 'mem://{id}' ? found : undefined
  })
  const ask = (ref: unknown, argument: unknown, more: object = {}, { version = '2025-11-25', ...rest }: ExchangeOptions = {}) => {
    const made = exchangeOf(double.endpoint, 'completion/complete', { params: { ref, argument, ...more }, served: servedOf(version, feature.methods), ...rest })
    dispatch(made.exchange)
    return made.channel
  }
  return { ...double, app, feature, ask }
}

t.test('it is announced where something has a completer, and answers all the same', async t => {
  t.strictSame(featureOf().feature.capability?.(true), { completions: {} })
  const { feature, ask } = featureOf({}, { offered: false })
  t.strictSame(feature.capability?.(true), {})
  t.strictSame(ask(prompt, { name: 'a', value: '' }).answer.result, { completion: { values: [], total: 0, hasMore: false } })
})

t.test('of an array those are suggested that begin with what was typed, in whatever case', async t => {
  const { ask } = featureOf({ a: ['Formal', 'friendly', 'funny', 'odd'] })
  const rows: [string, string[]][] = [['', ['Formal', 'friendly', 'funny', 'odd']], ['f', ['Formal', 'friendly', 'funny']], ['FU', ['funny']], ['x', []]]
  for (const [value, values] of rows) {
    for (const ref of [prompt, resource]) t.strictSame(ask(ref, { name: 'a', value }).answer.result.completion, { values, total: values.length, hasMore: false })
  }
})

t.test('a function gets what was typed, the other arguments and the context, and says what it likes', async t => {
  const seen: unknown[] = []
  const { ask, app } = featureOf({
    a (value, context) {
      seen.push(this, value, context.arguments, context.ctx.app)
      return ['z', 'y']
    },
    b: async value => ({ values: [value], total: 7, hasMore: true }),
    c: () => ({ values: [] })
  })
  t.strictSame(ask(prompt, { name: 'a', value: 'x' }, { context: { arguments: { b: '1' } } }).answer.result.completion, { values: ['z', 'y'], total: 2, hasMore: false })
  t.equal(seen[0], app)
  t.strictSame(seen.slice(1, 3), ['x', { b: '1' }])
  t.equal(seen[3], app)
  for (const context of [undefined, null, {}, { arguments: null }]) {
    t.ok(ask(prompt, { name: 'a', value: '' }, { context }).answer.result)
    t.strictSame(seen.at(-2), {})
  }
  const later = ask(resource, { name: 'b', value: 'v' })
  await turn()
  t.strictSame(later.answer.result.completion, { values: ['v'], total: 7, hasMore: true })
  t.strictSame(ask(prompt, { name: 'c', value: '' }).answer.result.completion, { values: [] }, 'what is not known is not said')
})

t.test('no more than 100 values go out, with how many there are', async t => {
  const many = Array.from({ length: 150 }, (_, i) => `v${i}`)
  const { ask } = featureOf({ a: many, b: () => many, c: () => ({ values: many }), d: () => ({ values: many, total: 1000 }), e: () => many.slice(0, 100) })
  const of = (name: string) => ask(prompt, { name, value: '' }).answer.result.completion
  for (const [name, total] of [['a', 150], ['b', 150], ['c', 150], ['d', 1000]] as const) {
    t.strictSame(of(name).values, many.slice(0, 100))
    t.match(of(name), { total, hasMore: true }, name)
  }
  t.match(of('e'), { total: 100, hasMore: false })
})

t.test('an argument without a completer has no suggestions, whatever it is called', async t => {
  const { ask } = featureOf({ a: ['x'] })
  for (const name of ['b', 'constructor', '__proto__', '']) t.strictSame(ask(prompt, { name, value: '' }).answer.result.completion.values, [], name)
})

t.test('what cannot be completed is refused, and the error says why', async t => {
  const { ask } = featureOf({ a: ['x'] })
  const argument = { name: 'a', value: '' }
  const rows: [unknown, unknown, RegExp][] = [
    [{ type: 'ref/prompt', name: 'q' }, argument, /no prompt "q"/],
    [{ type: 'ref/resource', uri: 'mem://x' }, argument, /no resource "mem:\/\/x"/],
    [{ type: 'ref/prompt', uri: 'p' }, argument, /\/ref\/name is required/],
    [{ type: 'ref/resource', name: 'p' }, argument, /\/ref\/uri is required/],
    [{ type: 'ref/tool', name: 'p' }, argument, /\/ref\/type must be one of "ref\/prompt", "ref\/resource"/],
    [undefined, argument, /\/ref is required/],
    [prompt, undefined, /\/argument is required/],
    [prompt, { name: 'a' }, /\/argument\/value is required/],
    [prompt, { name: 'a', value: 7 }, /\/argument\/value must be string/]
  ]
  for (const [ref, given, message] of rows) t.match(ask(ref, given).answer.error, { code: -32602, message }, String(message))
  t.match(ask(prompt, argument, { context: { arguments: { b: 1 } } }).answer.error, { code: -32602, message: /\/context\/arguments\/\* must be string, got number$/ })
})

t.test('a completer that fails, or returns anything else, is an error of the server, and stays inside', async t => {
  const bad: unknown[] = [undefined, null, 'x', 7, [1], {}, { values: 'x' }, { values: [null] }]
  for (const value of bad) {
    const { ask, log } = featureOf({ a: () => value as string[] })
    t.match(ask(prompt, { name: 'a', value: '' }).answer.error, { code: -32603, message: /error id/ }, JSON.stringify(value))
    t.match(log[0]?.fields.err.message, /A completer must return an array of strings/)
  }
  const { ask } = featureOf({ a () { throw new Error('pg://u:pw@10.0.0.9') }, b: () => Promise.reject(new Error('pg://')) })
  t.notMatch(ask(prompt, { name: 'a', value: '' }).answer.error.message, /pg/)
  const later = ask(prompt, { name: 'b', value: '' })
  await turn()
  t.match(later.answer.error, { code: -32603, message: /error id/ })
})

t.test('a completer has as much time as any call', async t => {
  const { ask, calls } = featureOf({ a: () => new Promise<string[]>(() => {}) }, { timeout: 20 })
  const channel = ask(prompt, { name: 'a', value: '' })
  t.ok(await until(() => channel.ended.length === 1))
  t.match(channel.answer.error, { code: -32603, message: /The completion took longer than 20 ms/ })
  t.equal(calls.size, 0)
})
