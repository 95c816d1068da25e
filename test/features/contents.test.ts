import { Readable } from 'node:stream'
import t from 'tap'
import { gathered, readResult } from '../../lib/features/contents.js'
import type { Entry } from '../../lib/features/resource.js'
import { CallCancelled } from '../../lib/errors.js'
import { endpointOf, exchangeOf } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'

const uri = 'mem://a'
const cache = { ttlMs: 5, cacheScope: 'public' }
const entryOf = (mimeType?: string) => ({ key: uri, mimeType, cache }) as unknown as Entry
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
const read = (value: unknown, mimeType?: string) => plain(readResult(entryOf(mimeType), uri, value))

t.test('each form that read may give becomes contents', async t => {
  const rows: [unknown, string | undefined, object[]][] = [
    ['text', undefined, [{ uri, text: 'text' }]],
    ['', 'text/plain', [{ uri, mimeType: 'text/plain', text: '' }]],
    [Buffer.from([0, 255]), 'image/png', [{ uri, mimeType: 'image/png', blob: 'AP8=' }]],
    [new Uint8Array([1, 2, 3]).subarray(1), undefined, [{ uri, blob: 'AgM=' }]],
    [{ a: 1, b: new Date(0) }, undefined, [{ uri, mimeType: 'application/json', text: '{"a":1,"b":"1970-01-01T00:00:00.000Z"}' }]],
    [{}, 'application/ld+json', [{ uri, mimeType: 'application/ld+json', text: '{}' }]],
    [{ contents: 'data of its own' }, undefined, [{ uri, mimeType: 'application/json', text: '{"contents":"data of its own"}' }]],
    [[{ text: 'a' }, { uri: 'mem://b', mimeType: 'b/b', blob: Buffer.from('b'), _meta: { x: 1 } }, { blob: 'Yg==' }], 'a/a', [
      { uri, mimeType: 'a/a', text: 'a' }, { uri: 'mem://b', mimeType: 'b/b', blob: 'Yg==', _meta: { x: 1 } }, { uri, mimeType: 'a/a', blob: 'Yg==' }
    ]],
    [[], undefined, []]
  ]
  for (const [value, mimeType, contents] of rows) t.strictSame(read(value, mimeType), { contents, ...cache })
})

t.test('a full result may say how long it keeps', async t => {
  t.strictSame(read({ contents: [{ text: 'a' }] }), { contents: [{ uri, text: 'a' }], ...cache })
  t.strictSame(read({ contents: [{ text: 'a' }], ttlMs: 9, cacheScope: 'private', _meta: { x: 1 } }), { contents: [{ uri, text: 'a' }], ttlMs: 9, cacheScope: 'private', _meta: { x: 1 } })
})

t.test('anything else is an error that says what it should have been', async t => {
  for (const value of [7, true, 1n, () => 'x', Symbol('x')]) t.match(thrown(() => readResult(entryOf(), uri, value)), { name: 'TypeError', message: /"mem:\/\/a" must return text, bytes/ })
  t.match(thrown(() => readResult(entryOf(), uri, new Map())).message, /it returned Map/, 'JSON would have nothing of it')
  for (const part of [{}, { text: 7 }, { blob: 7 }, 'text', 7, null]) t.match(thrown(() => readResult(entryOf(), uri, [part])).message, /neither text nor blob/, JSON.stringify(part))
  const rows: [object, RegExp][] = [[{ blob: '!' }, /part\.blob must be base64/], [{ text: 'a', uri: 7 }, /part\.uri must be a string/], [{ text: 'a', mimeType: 7 }, /part\.mimeType must be string/], [{ text: 'a', _meta: 7 }, /part\._meta must be object/]]
  for (const [part, message] of rows) t.match(thrown(() => readResult(entryOf(), uri, { contents: [part] })).message, message, JSON.stringify(part))
  t.match(thrown(() => readResult(entryOf(), uri, { a: 1n })), { name: 'TypeError' })
})

const gather = (value: unknown, mimeType?: string, limit = 100) => gathered(value, entryOf(mimeType), exchangeOf(endpointOf().endpoint, 'resources/read').exchange, limit)

t.test('a stream is read to its end: text where it is said to be, else bytes', async t => {
  const bytes = Buffer.from('größe')
  const rows: [string | undefined, Buffer, unknown][] = [
    ['text/plain', bytes, 'größe'], ['application/json', bytes, 'größe'], ['application/atom+xml; charset=utf-8', bytes, 'größe'], ['application/x-yaml', bytes, 'größe'],
    ['image/png', bytes, bytes], [undefined, bytes, bytes], ['text/plain', Buffer.from([255, 0]), Buffer.from([255, 0])], ['text/plain', Buffer.alloc(0), '']
  ]
  for (const [mimeType, data, expected] of rows) {
    // Cut within a character.
    t.strictSame(await gather(Readable.from([data.subarray(0, 3), data.subarray(3)]), mimeType), expected, String(mimeType))
  }
  t.equal(await gather(Readable.from([Buffer.from('a'), Buffer.from('b')], { encoding: 'utf8', objectMode: false })), 'ab', 'a stream of strings is text')
  t.equal(await gather(Readable.from(['a', 'b'])), 'ab')
  t.strictSame(await gather(Readable.from(['a', Buffer.from('b')])), Buffer.from('ab'))
  t.strictSame(await gather(new Blob(['web']).stream()), Buffer.from('web'), 'of the web too')
  t.equal(await gather(Promise.resolve(Readable.from(['a']))), 'a', 'or promised')
  t.equal(await gather((async function * () { yield 'a'; yield 'b' })()), 'ab')
})

t.test('everything but a stream is given back as it is', async t => {
  for (const value of ['a', 7, null, undefined, { a: 1 }, Buffer.from('a')]) t.equal(gather(value), value)
})

t.test('a stream that brings too much is cut off', async t => {
  const stream = Readable.from(Array.from({ length: 1000 }, () => Buffer.alloc(10)))
  const { endpoint, log } = endpointOf()
  const { exchange } = exchangeOf(endpoint, 'resources/read', { params: { uri } })
  await t.rejects(Promise.resolve(gathered(stream, entryOf(), exchange, 100)), { code: -32603, message: /larger than 100 bytes/ })
  t.match(log, [{ level: 'warn', fields: { limit: 100, method: 'resources/read', name: uri }, message: /"mem:\/\/a" is larger than limits\.resource, 100 bytes/ }])
  t.ok(stream.destroyed)
  t.strictSame(await gather(Readable.from([Buffer.alloc(100)])), Buffer.alloc(100))
})

t.test('a stream that fails, or gives what is no bytes, fails the read', async t => {
  await t.rejects(Promise.resolve(gather(new Readable({ read () { this.destroy(new Error('gone')) } }))), { message: 'gone' })
  await t.rejects(Promise.resolve(gather(Readable.from([{ a: 1 }]))), { name: 'TypeError', message: /must give bytes or strings/ })
})

t.test('a call that is over lets its stream go', async t => {
  const { exchange } = exchangeOf(endpointOf().endpoint, 'resources/read')
  const stream = new Readable({ read () {} })
  const reading = Promise.resolve(gathered(stream, entryOf(), exchange, 100))
  exchange.abort(new CallCancelled('gone'))
  await t.rejects(reading, { name: 'AbortError' })
  t.ok(stream.destroyed)
})
