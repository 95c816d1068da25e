import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { dispatch } from '../../lib/dispatch.js'
import { McpError } from '../../lib/errors.js'
import { ResourcesFeature } from '../../lib/features/resources.js'
import type { ResourcesOptions } from '../../lib/features/resources.js'
import { Session } from '../../lib/session.js'
import type { Resource } from '../../types/index.js'
import { endpointOf, exchangeOf, FakeChannel, servedOf, type ExchangeOptions } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'
import { turn, until } from '../support/time.js'

const secret = 'pg://u:pw@10.0.0.9/db'
const defaults: ResourcesOptions = { timeout: 0, validator: undefined, started: false, pageSize: 100, cache: { ttlMs: 5, cacheScope: 'public' }, limit: 100 }
const exact = (uri: string, read: (...what: any[]) => unknown = () => uri, more: object = {}) => ({ uri, name: uri, read, ...more }) as unknown as Resource
const template = (uriTemplate: string, read: (...what: any[]) => unknown = values => values, more: object = {}) => ({ uriTemplate, name: uriTemplate, read, ...more }) as unknown as Resource

/** A feature with these resources, spoken to through dispatch. */
function featureOf (resources: Resource[] = [], options: Partial<ResourcesOptions> = {}) {
  const told = { changes: 0, first: 0 }
  const double = endpointOf()
  const feature = new ResourcesFeature({ ...defaults, ...options }, () => { told.changes++ }, () => { told.first++ })
  for (const resource of resources) feature.add(resource, double.endpoint.app)
  const send = (method: string, params: Record<string, unknown> = {}, { version = '2025-11-25', ...rest }: ExchangeOptions = {}) => {
    const made = exchangeOf(double.endpoint, method, { params, served: servedOf(version, feature.methods), ...rest })
    dispatch(made.exchange)
    return made
  }
  const read = (uri: unknown, options?: ExchangeOptions) => send('resources/read', { uri }, options).channel
  const textOf = (uri: string) => read(uri).answer.result?.contents[0].text
  return { ...double, feature, told, send, read, textOf }
}

const uris = (send: ReturnType<typeof featureOf>['send'], params?: Record<string, unknown>) => send('resources/list', params).channel.answer.result.resources.map((one: Resource) => one.uri)
const templates = (send: ReturnType<typeof featureOf>['send']) => send('resources/templates/list').channel.answer.result.resourceTemplates.map((one: Resource) => one.uriTemplate)

t.test('nothing is offered before there is a resource, and that is told once', async t => {
  const { feature, told, endpoint } = featureOf()
  t.strictSame([feature.offered, feature.capability(true)], [false, {}])
  feature.add(exact('mem://a'), endpoint.app)
  feature.add(exact('mem://b'), endpoint.app)
  t.strictSame([feature.offered, told.first], [true, 1])
  t.strictSame(feature.capability(true), { resources: { subscribe: true, listChanged: true } })
  t.strictSame(feature.capability(false), { resources: {} })
  feature.remove('mem://a')
  feature.remove('mem://b')
  t.ok(feature.offered, 'once announced, it stays')
})

t.test('resources and templates are listed apart, with how long the list keeps', async t => {
  const { send } = featureOf([exact('mem://b'), template('mem://{id}'), exact('mem://a')])
  t.strictSame(uris(send), ['mem://b', 'mem://a'])
  t.strictSame(templates(send), ['mem://{id}'])
  for (const method of ['resources/list', 'resources/templates/list']) {
    t.match(send(method, {}, { version: '2026-07-28' }).channel.answer.result, { ttlMs: 5, cacheScope: 'public', nextCursor: undefined })
  }
  t.strictSame([uris(featureOf([template('mem://{id}')]).send), templates(featureOf([exact('mem://a')]).send)], [[], []], 'either may be empty')
})

t.test('the lists come in pages, each with cursors of its own', async t => {
  const { feature, send, endpoint } = featureOf(['a', 'b', 'c'].flatMap(name => [exact(`mem://${name}`), template(`mem://${name}/{id}`)]), { pageSize: 2 })
  const { nextCursor } = send('resources/list').channel.answer.result
  t.strictSame(uris(send, { cursor: nextCursor }), ['mem://c'])
  t.match(send('resources/templates/list', { cursor: nextCursor }).channel.answer.error, { code: -32602 })
  const other = send('resources/templates/list').channel.answer.result.nextCursor
  t.match(send('resources/templates/list', { cursor: other }).channel.answer.result.resourceTemplates, [{ uriTemplate: 'mem://c/{id}' }])
  feature.add(exact('mem://d'), endpoint.app)
  t.match(send('resources/list', { cursor: nextCursor }).channel.answer.error, { code: -32602 }, 'the list has changed')
})

t.test('templates list resources of their own, for whoever asks', async t => {
  const seen: unknown[] = []
  const list = async function (this: unknown, ctx: any) {
    seen.push(this, ctx.app)
    return [{ name: 'one', variables: { id: '1' } }, { name: 'again', uri: 'mem://a' }, { name: 'unreadable', variables: { id: 'a/b' } }]
  }
  const { feature, send, endpoint } = featureOf([exact('mem://a'), template('mem://x/{id}', undefined, { list })], { pageSize: 2 })
  const other = { log: {} } as typeof endpoint.app
  feature.add(template('mem://y/{id}', undefined, { list: () => [{ name: 'three', variables: { id: '3' } }] }), other)
  endpoint.app.log.warn = () => {}
  const first = send('resources/list', {}, { version: '2026-07-28' }).channel
  t.ok(await until(() => first.ended.length === 1))
  t.match(first.answer.result, { resources: [{ uri: 'mem://a', name: 'mem://a' }, { uri: 'mem://x/1', name: 'one' }], cacheScope: 'private', ttlMs: 5 })
  t.strictSame(seen, [endpoint.app, endpoint.app])
  const second = send('resources/list', { cursor: first.answer.result.nextCursor }).channel
  t.ok(await until(() => second.ended.length === 1))
  t.match(second.answer.result, { resources: [{ uri: 'mem://y/3' }], nextCursor: undefined })
  feature.enable('mem://x/{id}', false)
  feature.remove('mem://y/{id}')
  t.strictSame(uris(send), ['mem://a'])
})

t.test('a template whose list fails fails the list, and nothing gets out', async t => {
  for (const list of [() => { throw new Error(secret) }, async () => { throw new Error(secret) }, () => 'x', () => [{ uri: 'mem://a' }]]) {
    const { send } = featureOf([template('mem://{id}', undefined, { list })])
    const { channel } = send('resources/list')
    t.ok(await until(() => channel.ended.length === 1))
    t.match(channel.answer.error, { code: -32603, message: /^Internal error: error id [0-9a-f]{8}$/ })
  }
  const { send } = featureOf([template('mem://{id}', undefined, { list: () => new Promise(() => {}) })], { timeout: 20 })
  const { channel } = send('resources/list')
  t.ok(await until(() => channel.ended.length === 1))
  t.match(channel.answer.error, { code: -32603, message: /The list took longer than 20 ms/ })
})

t.test('a URI or template is taken once; the error names both', async t => {
  const { feature, endpoint } = featureOf([exact('mem://a'), template('mem://{id}')])
  t.match(thrown(() => feature.add(exact('mem://a', undefined, { name: 'second' }), endpoint.app)), { code: 'MCP_ERR_RESOURCE_DUPLICATE', message: /mem:\/\/a is there already \("mem:\/\/a"\); the second one is "second"/ })
  t.match(thrown(() => feature.add(template('mem://{id}'), endpoint.app)), { code: 'MCP_ERR_RESOURCE_DUPLICATE' })
})

t.test('changes are told', async t => {
  const { feature, told } = featureOf([exact('mem://a')])
  t.strictSame([feature.has('mem://a'), feature.enable('mem://a', false), feature.remove('mem://a'), feature.remove('mem://a'), feature.has('mem://a')], [true, true, true, false, false])
  t.equal(told.changes, 2)
})

t.test('read runs with the variables and the context, as a method of its app', async t => {
  const seen: unknown[] = []
  const { read, endpoint } = featureOf([template('mem://{id}{?q}', function (this: unknown, variables, ctx) {
    seen.push(this, variables, ctx.app)
    return 'text'
  })])
  t.strictSame(read('mem://7?q=x').answer.result, { contents: [{ uri: 'mem://7?q=x', text: 'text' }] })
  t.equal(seen[0], endpoint.app)
  t.strictSame(seen[1], { id: '7', q: 'x' })
  t.equal(seen[2], endpoint.app)
  const later = featureOf([exact('mem://a', async () => Readable.from(['a', 'b']), { mimeType: 'text/plain' })]).read('mem://a')
  t.ok(await until(() => later.ended.length === 1))
  t.strictSame(later.answer.result, { contents: [{ uri: 'mem://a', mimeType: 'text/plain', text: 'ab' }] })
})

t.test('a resource of its own goes before a template, and the more literal template before the less', async t => {
  const named = (name: string) => () => name
  const { textOf, feature } = featureOf([
    template('mem://{+all}', named('all')), template('mem://{a}/{b}', named('two')), template('mem://{a}', named('one')),
    template('mem://x/{b}', named('x')), template('mem://x/{b}.json', named('json')), template('mem://x/{n}', named('never')), exact('mem://x/1', named('exact'))
  ])
  const rows = [['mem://x/1', 'exact'], ['mem://x/2', 'x'], ['mem://x/2.json', 'json'], ['mem://y/2', 'two'], ['mem://y', 'one'], ['mem://x/2/3', 'all']] as const
  for (const [uri, name] of rows) t.equal(textOf(uri), name, uri)
  feature.enable('mem://x/1', false)
  t.equal(textOf('mem://x/1'), undefined, 'hidden, it is not there, not even for a template')
  feature.remove('mem://x/1')
  t.equal(textOf('mem://x/1'), 'x')
  feature.remove('mem://{a}')
  t.equal(textOf('mem://y'), 'all')
})

t.test('a template whose variables do not fit leaves the URI to others', async t => {
  const { textOf, read } = featureOf([
    template('mem://id/{id}', () => 'number', { variables: Type.Object({ id: Type.String({ pattern: '^\\d+$' }) }) }), template('mem://{+path}', ({ path }) => path === 'none' ? undefined : path)
  ])
  t.equal(textOf('mem://id/7'), 'number')
  t.equal(textOf('mem://id/x'), 'id/x')
  t.match(read('mem://none').answer.error, { code: -32002 })
})

t.test('what is not there is not found, with the code of the revision and the URI', async t => {
  const { read } = featureOf([exact('mem://none', () => undefined), exact('mem://null', async () => null), template('mem://item/{id}')])
  for (const uri of ['mem://zzz', 'mem://none', 'mem://null', 'mem://item/', 'mem://item/..%2Fx', 'urn:x:y']) {
    for (const [version, code] of [['2024-11-05', -32002], ['2025-11-25', -32002], ['2026-07-28', -32602]] as const) {
      const channel = read(uri, { version })
      await turn()
      t.strictSame(channel.answer.error, { code, message: 'Resource not found', data: { uri } }, `${version} ${uri}`)
      t.equal(channel.status, 200)
    }
  }
})

t.test('what is no URI, or too long, is refused', async t => {
  const { read } = featureOf([template('mem://{+path}')])
  for (const uri of ['', 'nope', '/a', 'mem://a b', 'mem://a\0', '://a']) t.match(read(uri).answer.error, { code: -32602, message: /absolute URI/ }, JSON.stringify(uri))
  for (const uri of [7, null, undefined, {}]) t.match(read(uri).answer.error, { code: -32602, message: /\/uri/ }, JSON.stringify(uri))
  t.ok(read('mem://' + 'a'.repeat(8_186)).answer.result)
  t.match(read('mem://' + 'a'.repeat(8_187)).answer.error, { code: -32602, message: /8192 characters/ })
})

t.test('an error of read is masked unless it is meant for the client', async t => {
  const { read, log } = featureOf([
    exact('mem://boom', () => { throw new Error(secret) }), exact('mem://later', async () => { throw new Error(secret) }), exact('mem://wrong', () => 7),
    exact('mem://meant', () => { throw new McpError(-32000, 'no', { hint: 1 }) })
  ])
  for (const uri of ['mem://boom', 'mem://later', 'mem://wrong']) {
    const channel = read(uri)
    await turn()
    t.match(channel.answer.error, { code: -32603, message: /^Internal error: error id [0-9a-f]{8}$/ }, uri)
  }
  t.strictSame(log.map(line => line.fields.name), ['mem://boom', 'mem://later', 'mem://wrong'])
  t.strictSame(read('mem://meant').answer.error, { code: -32000, message: 'no', data: { hint: 1 } })
})

t.test('a read has as much time as any call', async t => {
  const { read } = featureOf([exact('mem://a', () => new Promise(() => {})), exact('mem://b', () => new Readable({ read () {} }))], { timeout: 20 })
  for (const uri of ['mem://a', 'mem://b']) {
    const channel = read(uri)
    t.ok(await until(() => channel.ended.length === 1))
    t.match(channel.answer.error, { code: -32603, message: /Reading the resource took longer than 20 ms/ }, uri)
  }
})

t.test('how long a client may keep what it read is said by the resource', async t => {
  const { read } = featureOf([exact('mem://a'), exact('mem://b', undefined, { cache: { ttlMs: 9, cacheScope: 'public' } })])
  t.match(read('mem://a', { version: '2026-07-28' }).answer.result, { ttlMs: 0, cacheScope: 'private' })
  t.match(read('mem://b', { version: '2026-07-28' }).answer.result, { ttlMs: 9, cacheScope: 'public' })
})

t.test('a session subscribes to what there is', async t => {
  const { send } = featureOf([exact('mem://a'), template('mem://item/{id}')])
  const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, {})
  const wants = (uri: string) => session.wants({ kind: 'resource', uri })
  for (const uri of ['mem://a', 'mem://a', 'mem://item/1']) t.strictSame(send('resources/subscribe', { uri }, { session }).channel.answer.result, {})
  t.strictSame([wants('mem://a'), wants('mem://item/1'), wants('mem://b')], [true, true, false])
  t.match(send('resources/subscribe', { uri: 'mem://zzz' }, { session }).channel.answer.error, { code: -32002, data: { uri: 'mem://zzz' } })
  t.match(send('resources/subscribe', { uri: 'nope' }, { session }).channel.answer.error, { code: -32602 })
  for (const uri of ['mem://a', 'mem://a', 'mem://zzz']) t.strictSame(send('resources/unsubscribe', { uri }, { session }).channel.answer.result, {})
  t.strictSame([wants('mem://a'), wants('mem://item/1')], [false, true])
})

t.test('without a session there is nobody to tell', async t => {
  const { send } = featureOf([exact('mem://a')])
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
    t.match(send(method, { uri: 'mem://a' }).channel, { answer: { error: { code: -32600, message: RegExp(`${method} needs a session`) } }, status: 400 })
    const deaf = Object.assign(new FakeChannel(), { hears: false })
    t.match(send(method, { uri: 'mem://a' }, { channel: deaf }).channel.answer.error, { code: -32601 }, 'where it was not announced')
  }
})

t.test('what can be completed is found by its template or by a URI', async t => {
  const { feature } = featureOf([exact('mem://a'), template('mem://{id}')])
  const { exchange } = exchangeOf(endpointOf().endpoint, 'completion/complete')
  t.notOk(feature.completes)
  feature.add(template('mem://x/{id}', undefined, { complete: { id: ['1'] } }), endpointOf().endpoint.app)
  t.ok(feature.completes)
  t.strictSame(['mem://x/{id}', 'mem://x/7', 'mem://a', 'mem://q', 'mem://q/r'].map(key => feature.named(key, exchange)?.key), ['mem://x/{id}', 'mem://x/{id}', 'mem://a', 'mem://{id}', undefined])
})
