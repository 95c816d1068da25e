import { Type } from '@sinclair/typebox'
import t from 'tap'
import { inputRequired } from '../../lib/content.js'
import { dispatch } from '../../lib/dispatch.js'
import { CallCancelled, ToolError } from '../../lib/errors.js'
import type { Exchange } from '../../lib/exchange.js'
import { limitsOf } from '../../lib/features/limits.js'
import { ToolsFeature } from '../../lib/features/tools.js'
import { elicit } from '../../lib/question.js'
import { Session } from '../../lib/session.js'
import type { Tool } from '../../types/index.js'
import { endpointOf, exchangeOf, servedOf, type ExchangeOptions } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'
import { turn, until } from '../support/time.js'

const RETRY = 'fastify-mcp-plugin/retryAfter'
const alone = () => undefined
const toolOf = (more: object, name = 'tool') => ({ name, handler: () => 'x', ...more }) as unknown as Tool

/** Tools, spoken to through dispatch. */
function featureOf (...tools: Tool[]) {
  const double = endpointOf()
  const feature = new ToolsFeature({ shared: alone, timeout: 0, validator: undefined, started: false, pageSize: 9, cache: { ttlMs: 0, cacheScope: 'public' } }, () => {})
  for (const tool of tools) feature.add(tool, double.endpoint.app)
  const call = (name = 'tool', args: object = {}, { version = '2025-11-25', ...rest }: ExchangeOptions = {}) => {
    const made = exchangeOf(double.endpoint, 'tools/call', { params: { name, arguments: args }, served: servedOf(version, feature.methods), ...rest })
    dispatch(made.exchange)
    return made
  }
  return { ...double, feature, call }
}

/** A tool whose calls end when the test says so. */
function gated (more: object = {}) {
  const open: { done: (value?: unknown) => void, fail: (error: unknown) => void }[] = []
  const tool = toolOf({ concurrency: 2, handler: () => new Promise((resolve, reject) => { open.push({ done: (value = 'done') => resolve(value), fail: reject }) }), ...more })
  return { tool, open }
}

t.test('a tool without limits has no such object', async t => {
  t.equal(limitsOf(toolOf({}), alone), undefined)
  t.equal(limitsOf(toolOf({ concurrency: undefined, rateLimit: undefined, maxResultBytes: undefined, confirm: undefined }), alone), undefined)
  for (const more of [{ concurrency: 1 }, { rateLimit: { max: 1, timeWindow: 1 } }, { maxResultBytes: 1 }, { confirm: true }, { confirm: 'Sure?' }, { confirm: () => '' }]) t.ok(limitsOf(toolOf(more), alone), JSON.stringify(more))
})

t.test('what is no limit is refused when the tool is added, with the member and the reason', async t => {
  const { feature, endpoint } = featureOf()
  const numbers = [0, -1, 1.5, NaN, Infinity, '4', null, {}, true]
  const whole = (member: string, of: (one: unknown) => object) => numbers.map((one): [object, RegExp] => [of(one), RegExp(`"tool": /${member} must be (integer|>= 1), got `)])
  const rows: [object, RegExp][] = [
    ...whole('concurrency', concurrency => ({ concurrency })),
    ...whole('maxResultBytes', maxResultBytes => ({ maxResultBytes })),
    ...whole('rateLimit/max', max => ({ rateLimit: { max, timeWindow: 1000 } })),
    ...whole('rateLimit/timeWindow', timeWindow => ({ rateLimit: { max: 1, timeWindow } })),
    ...[5, '5', true, null, [], () => 5].map((one): [object, RegExp] => [{ rateLimit: one }, /\/rateLimit must be object, got /]),
    [{ rateLimit: { max: 1, timeWindow: 2 ** 31 } }, /\/rateLimit\/timeWindow must be <= 2147483647, got number 2147483648/],
    [{ rateLimit: {} }, /\/rateLimit\/max is required; \/rateLimit\/timeWindow is required/],
    [{ rateLimit: { max: 1, timeWindow: 1, window: 1 } }, /\/rateLimit\/window is not a known property; known: max, timeWindow/],
    [{ concurrency: NaN }, /got number NaN/],
    [{ concurrency: '4' }, /got string "4"/],
    [{ concurrency: null }, /got null/]
  ]
  for (const [more, message] of rows) t.match(thrown(() => feature.add(toolOf(more), endpoint.app)), { code: 'MCP_ERR_TOOL_DEFINITION', message }, JSON.stringify(more))
  t.notOk(feature.has('tool'))
})

t.test('limits are no matter of the list', async t => {
  const { feature, endpoint } = featureOf(toolOf({ concurrency: 1, rateLimit: { max: 1, timeWindow: 1 }, maxResultBytes: 1, confirm: true }))
  const { exchange, channel } = exchangeOf(endpoint, 'tools/list', { served: servedOf('2025-11-25', feature.methods) })
  dispatch(exchange)
  t.strictSame(channel.answer.result.tools, [{ name: 'tool', inputSchema: { type: 'object', properties: {} } }])
})

t.test('one call more than may run at once is refused at once; the others, and other tools, go on', async t => {
  const { tool, open } = gated()
  const { call } = featureOf(tool, toolOf({}, 'other'))
  const running = [call(), call()]
  for (const version of ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'] as const) {
    const { channel } = call('tool', {}, { version })
    t.match(channel.answer.result, { isError: true, content: [{ type: 'text', text: 'The tool "tool" is busy: 2 calls of it run already; try again in 1 s.' }], _meta: { [RETRY]: 1 } }, version)
    t.strictSame([channel.ended.length, channel.status, channel.headers], [1, 200, { 'retry-after': '1' }])
  }
  t.match(call('other').channel.answer.result, { content: [{ text: 'x' }] })
  open[0]?.done()
  await turn()
  t.match(running[0]?.channel.answer.result, { content: [{ text: 'done' }] })
  t.equal(call().channel.ended.length, 0, 'there is room again')
  t.equal(open.length, 3, 'the handler ran for those alone')
  t.match(call().channel.answer.result, { isError: true })
})

t.test('a slot is free when its handler has ended, however it did', async t => {
  const wrong = [() => { throw new Error('no') }, () => Promise.reject(new ToolError('no')), () => 'x', async () => 'x', () => undefined, () => inputRequired({ questions: {}, state: 1 })]
  for (const handler of wrong) {
    const { call } = featureOf(toolOf({ concurrency: 1, handler }))
    for (let i = 0; i < 3; i++) {
      const { channel } = call()
      await turn()
      t.notMatch(JSON.stringify(channel.answer), 'busy', String(handler))
    }
  }
  const { call } = featureOf(toolOf({ concurrency: 1, inputSchema: Type.Object({ a: Type.String() }) }))
  for (let i = 0; i < 3; i++) t.match(call('tool', { a: 5 }).channel.answer.result.content[0].text, /Invalid arguments/, 'arguments that do not fit take none')
})

t.test('what nobody waits for any more still runs', async t => {
  const { tool, open } = gated({ concurrency: 1, timeout: 20 })
  const { call } = featureOf(tool)
  const first = call()
  t.ok(await until(() => first.channel.ended.length > 0))
  t.match(first.channel.answer.result.content[0].text, /longer than 20 ms/)
  t.match(call().channel.answer.result.content[0].text, 'The tool "tool" is busy: a call of it runs already; try again in 1 s.', 'its time is over, its handler is not')
  open[0]?.fail(new CallCancelled('stopped'))
  await turn()
  t.equal(call().channel.ended.length, 0)
  t.equal(open.length, 2)
})

t.test('a handler that asks keeps its slot while it works', async t => {
  const Form = Type.Object({ name: Type.String() })
  const params = { name: 'tool', _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } } }
  const ways: Record<string, (work: Promise<unknown>, ctx: any) => Promise<unknown>> = {
    'side by side': async (work, ctx) => { await Promise.allSettled([work, ctx.elicit('Name?', Form)]) },
    'what it catches': async (work, ctx) => { await ctx.elicit('Name?', Form).catch(() => {}); await work },
    'in the end': async (work, ctx) => { try { await ctx.elicit('Name?', Form) } finally { await work } }
  }
  for (const [what, way] of Object.entries(ways)) {
    const work: Array<() => void> = []
    const { call, endpoint } = featureOf(toolOf({ concurrency: 1, handler: (_: unknown, ctx: any) => way(new Promise<void>(resolve => work.push(resolve)), ctx) }))
    Object.assign(endpoint, { inputRequired: (exchange: Exchange) => exchange.end('{"result":"the question"}', 200) })
    const first = call('tool', {}, { version: '2026-07-28', params })
    t.ok(await until(() => first.channel.ended.length > 0))
    t.match(first.channel.answer.result, 'the question', what)
    t.match(call('tool', {}, { version: '2026-07-28', params }).channel.answer.result, { isError: true, _meta: { [RETRY]: 1 } })
    work[0]?.()
    await turn()
    const next = call('tool', {}, { version: '2026-07-28', params })
    t.ok(await until(() => next.channel.ended.length > 0))
    t.match(next.channel.answer.result, 'the question')
    t.equal(work.length, 2)
    work[1]?.()
  }
})

t.test('a handler that waits for the next round has no slot', async t => {
  const { call, endpoint } = featureOf(toolOf({ concurrency: 1, handler: async (_: unknown, ctx: any) => { for (;;) { try { await ctx.elicit('Name?', Type.Object({ name: Type.String() })) } catch {} } } }))
  Object.assign(endpoint, { inputRequired: (exchange: Exchange) => exchange.end('{"result":"the question"}', 200) })
  const params = { name: 'tool', _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } } }
  for (let i = 0; i < 2; i++) {
    const { channel } = call('tool', {}, { version: '2026-07-28', params })
    t.ok(await until(() => channel.ended.length > 0))
    t.match(channel.answer.result, 'the question')
  }
})

t.test('a call that runs again with its answers is the same call', async t => {
  let runs = 0
  const handler = (_: unknown, ctx: any) => ++runs % 2 === 1 ? inputRequired({ questions: { name: elicit('Name?', Type.Object({ name: Type.String() })) } }) : ctx.answers.name.content.name
  const { call } = featureOf(toolOf({ rateLimit: { max: 1, timeWindow: 60_000 }, concurrency: 1, handler }))
  const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, { elicitation: {} })
  const { channel } = call('tool', {}, { session })
  t.ok(await until(() => channel.messages.length > 0))
  session.answer({ jsonrpc: '2.0', id: channel.messages[0].id, result: { action: 'accept', content: { name: 'Ada' } } } as never)
  t.ok(await until(() => channel.ended.length > 0))
  t.match([channel.answer.result, runs], [{ content: [{ text: 'Ada' }] }, 2])
  const next = call('tool', {}, { session })
  t.ok(await until(() => next.channel.ended.length > 0))
  t.match(next.channel.answer.result, { isError: true, _meta: { [RETRY]: 60 } })
})

t.test('a call over its rate is refused with when to try again, before its arguments are read', async t => {
  let runs = 0
  const { call } = featureOf(toolOf({ rateLimit: { max: 2, timeWindow: 30_000 }, inputSchema: Type.Object({ a: Type.String() }), handler: () => `${++runs}` }), toolOf({ rateLimit: { max: 1, timeWindow: 1000 } }, 'other'))
  const over = async (name: string, args: object, version: ExchangeOptions['version'] = '2025-11-25') => {
    const { channel } = call(name, args, { version })
    t.ok(await until(() => channel.ended.length > 0))
    return { ...channel.answer.result, headers: channel.headers }
  }
  t.match(await over('tool', { a: 'x' }), { content: [{ text: '1' }], headers: undefined })
  t.match(await over('tool', { a: 5 }), { content: [{ text: /Invalid arguments/ }] }, 'which counts too')
  for (const version of ['2024-11-05', '2025-11-25', '2026-07-28'] as const) {
    for (const a of ['x', 5]) t.match(await over('tool', { a }, version), { isError: true, content: [{ text: 'The tool "tool" was called too often; try again in 30 s.' }], _meta: { [RETRY]: 30 }, headers: { 'retry-after': '30' } }, version)
  }
  t.match(await over('other', {}), { content: [{ text: 'x' }] }, 'of another tool there is another count')
  t.equal(runs, 1)
})

t.test('a call that is cancelled while it is counted does not run', async t => {
  let runs = 0
  const { call } = featureOf(toolOf({ rateLimit: { max: 2, timeWindow: 30_000 }, handler: () => `${++runs}` }))
  const { exchange, channel } = call()
  exchange.cancel(new CallCancelled('The client is gone'))
  t.notOk(await until(() => runs > 0 || channel.ended.length > 0, 50))
  const asking = featureOf(toolOf({ rateLimit: { max: 2, timeWindow: 30_000 }, confirm: true }))
  Object.assign(asking.endpoint, { states: { ttl: 1000 } })
  const asked = asking.call()
  asked.exchange.cancel(new CallCancelled('The client is gone'))
  t.notOk(await until(() => asked.channel.messages.length > 0, 50), 'nor does it ask')
  t.equal(asking.calls.size, 0, 'and nothing is left of it')
})

t.test('who says what is asked has the time of the tool', async t => {
  const { call, endpoint, calls } = featureOf(toolOf({ timeout: 30, confirm: () => new Promise(() => {}) }))
  Object.assign(endpoint, { states: { ttl: 60_000 } })
  for (const version of ['2025-11-25', '2026-07-28'] as const) {
    const { channel } = call('tool', {}, { version })
    t.ok(await until(() => channel.ended.length > 0), version)
    t.match(channel.answer.result, { isError: true, content: [{ text: 'It took longer than 30 ms to say what the user is asked: the tool "tool" was not run.' }] })
  }
  t.equal(calls.size, 0)
})

t.test('nobody is asked for what could not be done; after the yes there must be a place too', async t => {
  const { tool, open } = gated({ concurrency: 1, confirm: 'Sure?' })
  const { call, endpoint } = featureOf(tool)
  Object.assign(endpoint, { states: { ttl: 1000 } })
  const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, { elicitation: {} })
  const asked = async () => {
    const made = call('tool', {}, { session })
    t.ok(await until(() => made.channel.messages.length > 0))
    return { ...made, yes: () => session.answer({ jsonrpc: '2.0', id: made.channel.messages[0].id, result: { action: 'accept', content: { confirm: true } } } as never) }
  }
  const [one, two] = [await asked(), await asked()]
  one.yes()
  t.ok(await until(() => open.length === 1))
  two.yes()
  t.ok(await until(() => two.channel.ended.length > 0))
  t.match(two.channel.answer.result, { isError: true, _meta: { [RETRY]: 1 } })
  const three = call('tool', {}, { session })
  t.ok(await until(() => three.channel.ended.length > 0))
  t.match([three.channel.answer.result.isError, three.channel.messages], [true, []])
  open[0]?.done()
  t.ok(await until(() => one.channel.ended.length > 0))
  t.match(one.channel.answer.result, { content: [{ text: 'done' }] })
  t.equal(open.length, 1)
})

t.test('a result that is larger than it may be never leaves, whoever made it', async t => {
  const size = (result: object) => Buffer.byteLength(JSON.stringify(result))
  const just = { content: [{ type: 'text', text: 'ä'.repeat(100) }] }
  const Out = Type.Object({ text: Type.String() })
  const rows: [string, object, boolean][] = [
    ['just so', { maxResultBytes: size(just), handler: () => 'ä'.repeat(100) }, true],
    ['a byte more', { maxResultBytes: size(just) - 1, handler: () => 'ä'.repeat(100) }, false],
    ['in time', { maxResultBytes: 200, handler: async () => 'x'.repeat(200) }, false],
    ['structured', { maxResultBytes: 200, outputSchema: Out, handler: () => ({ text: 'x'.repeat(100) }) }, false],
    ['_meta', { maxResultBytes: 200, handler: () => ({ content: [], _meta: { a: 'x'.repeat(200) } }) }, false],
    ['an error', { maxResultBytes: 200, handler: () => { throw new ToolError('x'.repeat(200)) } }, false],
    ['an error that fits', { maxResultBytes: 200, handler: () => { throw new ToolError('x'.repeat(10)) } }, true]
  ]
  for (const [what, more, leaves] of rows) {
    const { call, log } = featureOf(toolOf(more))
    const { channel } = call()
    t.ok(await until(() => channel.ended.length > 0))
    if (leaves) t.notMatch(channel.ended[0]?.text, 'too large', what)
    else {
      t.match(channel.answer.result, { isError: true, content: [{ text: /^The result of the tool "tool" was too large: it has \d+ bytes, and \d+ are allowed\. Ask for less/ }], _meta: undefined }, what)
      t.equal(channel.answer.result.structuredContent, undefined)
      t.match(log, [{ level: 'warn', fields: { bytes: Number, name: 'tool' } }])
    }
  }
})
