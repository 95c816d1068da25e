import { Type } from '@sinclair/typebox'
import t from 'tap'
import { dispatch } from '../../lib/dispatch.js'
import { CallCancelled, InputUnsupportedError, McpError, NoStreamError, ToolError } from '../../lib/errors.js'
import { ToolsFeature } from '../../lib/features/tools.js'
import type { ToolsOptions } from '../../lib/features/tools.js'
import type { Method } from '../../lib/method.js'
import type { Tool } from '../../types/index.js'
import { endpointOf, exchangeOf, servedOf, type ExchangeOptions } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'
import { turn, until } from '../support/time.js'

const secret = 'pg://u:pw@10.0.0.9/db'
const defaults: ToolsOptions = { shared: () => undefined, timeout: 0, validator: undefined, started: false, pageSize: 100, cache: { ttlMs: 5, cacheScope: 'private' } }
const toolOf = (name: string, handler: (...what: any[]) => unknown = () => name, more: object = {}) => ({ name, handler, ...more }) as unknown as Tool
const city = Type.Object({ city: Type.String(), days: Type.Integer({ default: 3 }) })

/** A feature with these tools, spoken to through dispatch. */
function featureOf (tools: Tool[] = [], options: Partial<ToolsOptions> = {}) {
  const told = { times: 0 }
  const double = endpointOf()
  const feature = new ToolsFeature({ ...defaults, ...options }, () => { told.times++ })
  for (const tool of tools) feature.add(tool, double.endpoint.app)
  const send = (method: string, params: Record<string, unknown> = {}, { version = '2025-11-25', ...rest }: ExchangeOptions = {}) => {
    const made = exchangeOf(double.endpoint, method, { params, served: servedOf(version, feature.methods), ...rest })
    dispatch(made.exchange)
    return made
  }
  const call = (name: string, args?: unknown, options?: ExchangeOptions) => send('tools/call', args === undefined ? { name } : { name, arguments: args }, options)
  return { ...double, feature, told, send, call }
}

const names = (send: ReturnType<typeof featureOf>['send'], params?: Record<string, unknown>) => send('tools/list', params).channel.answer.result.tools.map((one: Tool) => one.name)

t.test('tools are announced, with their changes where those can be heard', async t => {
  const { feature } = featureOf()
  t.strictSame(feature.capability(true), { tools: { listChanged: true } })
  t.strictSame(feature.capability(false), { tools: {} })
})

t.test('the list has what can be seen, in the order it was added, and how long it keeps', async t => {
  const { feature, send } = featureOf([toolOf('b'), toolOf('a'), toolOf('c')])
  feature.enable('a', false)
  t.strictSame(names(send), ['b', 'c'])
  t.match(send('tools/list', {}, { version: '2026-07-28' }).channel.answer.result, { ttlMs: 5, cacheScope: 'private', nextCursor: undefined })
  t.strictSame(names(featureOf().send), [], 'it may be empty')
})

t.test('the list comes in pages', async t => {
  const { feature, send } = featureOf(['a', 'b', 'c'].map(name => toolOf(name)), { pageSize: 2 })
  const { nextCursor } = send('tools/list').channel.answer.result
  t.strictSame(names(send, { cursor: nextCursor }), ['c'])
  t.strictSame(names(send, { cursor: null }), ['a', 'b'])
  t.match(send('tools/list', { cursor: 'x' }).channel.answer.error, { code: -32602 })
  feature.add(toolOf('d'), endpointOf().endpoint.app)
  t.match(send('tools/list', { cursor: nextCursor }).channel.answer.error, { code: -32602 }, 'the list has changed')
})

t.test('a name is taken once; the error names both tools', async t => {
  const { feature, endpoint } = featureOf([toolOf('a', undefined, { title: 'First' })])
  const again = thrown(() => feature.add(toolOf('a', undefined, { description: 'the second' }), endpoint.app))
  t.match(again, { code: 'MCP_ERR_TOOL_DUPLICATE', message: /"a".*"First".*"the second"/ })
  t.match(thrown(() => feature.add(toolOf('a'), endpoint.app)).message, /"First".*"no description"/)
  feature.enable('a', false)
  t.match(thrown(() => feature.add(toolOf('a'), endpoint.app)), { code: 'MCP_ERR_TOOL_DUPLICATE' }, 'hidden or not')
})

t.test('changes are told', async t => {
  const { feature, told } = featureOf([toolOf('a')])
  t.strictSame([feature.has('a'), feature.enable('a', false), feature.remove('a'), feature.remove('a'), feature.has('a')], [true, true, true, false, false])
  t.equal(told.times, 2, 'added and hidden; what nobody sees can go unseen')
})

t.test('a tool is called with its arguments and the context, as a method of its app', async t => {
  const seen: unknown[] = []
  const { call, endpoint } = featureOf([toolOf('weather', function (this: unknown, args, ctx) {
    seen.push(this, args, ctx.app, ctx.meta)
    return 'sunny'
  }, { inputSchema: city })])
  t.strictSame(call('weather', { city: 'Rome' }).channel.answer.result, { content: [{ type: 'text', text: 'sunny' }] })
  t.strictSame(seen, [endpoint.app, { city: 'Rome', days: 3 }, endpoint.app, {}])
})

t.test('arguments that are absent or null are an empty object', async t => {
  const { call } = featureOf([toolOf('echo', args => JSON.stringify(args))])
  for (const args of [undefined, null, {}]) t.match(call('echo', args).channel.answer.result, { content: [{ text: '{}' }] })
  for (const args of [[], 'x', 5]) t.match(call('echo', args).channel.answer.error, { code: -32602 }, JSON.stringify(args))
})

t.test('a tool that is not there, or hidden, is an error that names it', async t => {
  const { feature, call } = featureOf([toolOf('hidden')])
  feature.enable('hidden', false)
  for (const name of ['hidden', 'none', 'constructor']) {
    for (const version of ['2024-11-05', '2025-11-25', '2026-07-28'] as const) t.match(call(name, {}, { version }).channel.answer.error, { code: -32602, message: RegExp(`"${name}"`) })
  }
})

t.test('arguments that do not fit are told to the model where the revision has a place for that', async t => {
  let called = 0
  const { call } = featureOf([toolOf('weather', () => { called++ }, { inputSchema: city })])
  const sentence = /"weather": \/city must be string, got number 5/
  for (const version of ['2025-11-25', '2026-07-28'] as const) t.match(call('weather', { city: 5 }, { version }).channel.answer.result, { isError: true, content: [{ text: sentence }] }, version)
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18'] as const) t.match(call('weather', { city: 5 }, { version }).channel.answer.error, { code: -32602, message: sentence }, version)
  t.equal(called, 0)
})

t.test('what is thrown while it is found out whether a tool is there is logged as it is, and the tool is not there', async t => {
  const { call, log } = featureOf([toolOf('seen', () => 'x', { visible: () => { throw new Error(secret) } })])
  t.match(call('seen').channel.answer.error, { code: -32602, message: /no tool "seen"/ })
  t.match(log, [{ level: 'error', fields: { name: 'seen', err: { message: secret } }, message: /hidden/ }])
})

t.test('what a handler throws or rejects with is told in its way', async t => {
  const rows: [string, unknown, object][] = [
    ['a tool error', new ToolError('no such city'), { result: { isError: true, content: [{ type: 'text', text: 'no such city' }] } }],
    ['a tool error with content', new ToolError('x', { content: [{ type: 'text', text: 'look' }] }), { result: { isError: true, content: [{ type: 'text', text: 'look' }] } }],
    ['a protocol error', new McpError(-32000, 'no', { hint: 1 }), { error: { code: -32000, message: 'no', data: { hint: 1 } } }],
    ['a question that came to nothing', new NoStreamError('no stream'), { result: { isError: true, content: [{ text: 'no stream' }] } }],
    ['a client that cannot be asked, for the model', new InputUnsupportedError('no forms', {}, true), { result: { isError: true, content: [{ text: 'no forms' }] } }],
    ['a client that cannot be asked, for the client', new InputUnsupportedError('no forms', { roots: {} }, false), { error: { code: -32021 } }],
    ['an error', new Error(secret), { result: { isError: true, content: [{ text: /"boom" failed unexpectedly.*error id \w+/ }] } }],
    ['a string', secret, { result: { isError: true, content: [{ text: /error id/ }] } }],
    ['nothing', undefined, { result: { isError: true, content: [{ text: /error id/ }] } }]
  ]
  for (const [what, error, expected] of rows) {
    for (const handler of [() => { throw error }, () => Promise.reject(error)]) {
      const { channel } = featureOf([toolOf('boom', handler)]).call('boom')
      await turn()
      t.match(channel.answer, expected, what)
      t.notMatch(channel.ended[0]?.text, secret, what)
    }
  }
})

t.test('what is masked is in the log in full, under the id that the model reads', async t => {
  const wrong = { outputSchema: Type.Object({ n: Type.Integer() }) }
  const rows: [string, Tool, RegExp][] = [
    ['an error', toolOf('a', () => { throw new Error(secret) }), RegExp(secret)],
    ['a value that does not fit', toolOf('a', () => ({ n: 'x' }), wrong), /"a" returned what its outputSchema does not allow/],
    ['content that no client could read', toolOf('a', () => ({ type: 'image', data: '!', mimeType: 'image/png' })), /"a" returned what no client could read: content\[0\]\.data/],
    ['the same in a tool error', toolOf('a', () => { throw new ToolError('x', { content: [{ type: 'image', data: '!', mimeType: 'image/png' }] }) }), /"a" threw a ToolError that no client could read: content\[0\]\.data/],
    ['a value of the wrong kind', toolOf('a', () => 5), /"a" has no outputSchema/],
    ['a value that JSON cannot carry', toolOf('a', () => ({ content: [], structuredContent: { n: 1n } })), /BigInt/]
  ]
  for (const [what, tool, message] of rows) {
    const { call, log } = featureOf([tool])
    const [block] = call('a').channel.answer.result.content
    t.match(log, [{ level: 'error', fields: { err: { message }, method: 'tools/call', name: 'a' } }], what)
    t.match(block.text, RegExp(`error id ${log[0]?.fields.errorId}`), what)
  }
})

t.test('a validator that fails is in the log with its own error', async t => {
  const failing = [() => { throw new Error(secret) }, () => () => { throw new Error(secret) }]
  for (const compile of failing) {
    const { call, log } = featureOf([toolOf('a', undefined, { inputSchema: { type: 'object', title: String(compile) } })], { validator: { compile } })
    const { channel } = call('a', {})
    t.match(log, [{ fields: { err: { message: secret } } }])
    t.notMatch(channel.ended[0]?.text, secret)
  }
})

t.test('a handler that was told to stop and did is no failure', async t => {
  const { call, log } = featureOf([toolOf('wait', (_, { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  }))])
  const { exchange, channel } = call('wait')
  exchange.abort(new CallCancelled('The client is gone'))
  await turn()
  t.match(channel.answer.result, { isError: true, content: [{ text: /"wait" was stopped/ }] })
  t.strictSame(log, [])
})

t.test('a call has the time of its tool', async t => {
  const { call } = featureOf([toolOf('slow', () => new Promise(() => {}), { timeout: 30 })])
  const { channel } = call('slow')
  t.ok(await until(() => channel.ended.length > 0))
  t.match(channel.answer.result, { isError: true, content: [{ text: /"slow" took longer than 30 ms/ }] })
})

t.test('the name and the mirrored arguments of a call are what headers repeat', async t => {
  const inputSchema = Type.Object({ region: Type.String({ 'x-mcp-header': 'Region' }) })
  const { feature } = featureOf([toolOf('query', undefined, { inputSchema }), toolOf('plain')])
  const method = feature.methods.find(one => one.name === 'tools/call') as Method
  t.equal(method.named, 'name')
  t.strictSame(method.mirrored?.({ name: 'query', arguments: { region: 'eu' } }), [{ header: 'Region', type: 'string', quiet: false, value: 'eu' }])
  for (const params of [{ name: 'plain' }, { name: 'none' }, {}]) t.strictSame(method.mirrored?.(params), [])
})
