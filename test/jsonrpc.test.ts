import fc from 'fast-check'
import t from 'tap'
import { parse, errorText, isObject, kindOf, notificationText, progressText, readableId, resultText, tooLargeIn } from '../lib/jsonrpc.js'

const kinds = ['request', 'notification', 'response', 'invalid']
const error = { code: -32603, message: 'Internal error' }

t.test('a value is what its members make it', async t => {
  const rows: [string, unknown, string][] = [
    ['a method and a string id', { jsonrpc: '2.0', id: 'a', method: 'ping' }, 'request'],
    ['a method and an integer id', { jsonrpc: '2.0', id: 7, method: 'ping' }, 'request'],
    ['the id 0', { jsonrpc: '2.0', id: 0, method: 'ping' }, 'request'],
    ['a negative id', { jsonrpc: '2.0', id: -3, method: 'ping' }, 'request'],
    ['the empty string as id', { jsonrpc: '2.0', id: '', method: 'ping' }, 'request'],
    ['unknown members', { jsonrpc: '2.0', id: 1, method: 'ping', extra: true }, 'request'],
    ['params of null', { jsonrpc: '2.0', id: 1, method: 'ping', params: null }, 'request'],
    ['a method without an id', { jsonrpc: '2.0', method: 'notifications/initialized' }, 'notification'],
    ['a result', { jsonrpc: '2.0', id: 1, result: {} }, 'response'],
    ['an error', { jsonrpc: '2.0', id: 'x', error }, 'response'],
    ['the id null', { jsonrpc: '2.0', id: null, method: 'ping' }, 'invalid'],
    ['a fraction as id', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, 'invalid'],
    ['an id that a double cannot hold', { jsonrpc: '2.0', id: 2 ** 53, method: 'ping' }, 'invalid'],
    ['an object as id', { jsonrpc: '2.0', id: {}, method: 'ping' }, 'invalid'],
    ['true as id', { jsonrpc: '2.0', id: true, method: 'ping' }, 'invalid'],
    ['a method that is no string', { jsonrpc: '2.0', id: 1, method: 5, result: {} }, 'invalid'],
    ['a result without an id', { jsonrpc: '2.0', result: {} }, 'invalid'],
    ['a result and an error', { jsonrpc: '2.0', id: 1, result: {}, error }, 'invalid'],
    ['neither method, result nor error', { jsonrpc: '2.0', id: 1 }, 'invalid'],
    ['version 1.0', { jsonrpc: '1.0', id: 1, method: 'ping' }, 'invalid'],
    ['no version', { id: 1, method: 'ping' }, 'invalid'],
    ['an array', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], 'invalid'],
    ['null', null, 'invalid'],
    ['nothing', undefined, 'invalid'],
    ['a string', '{}', 'invalid']
  ]
  for (const [what, value, kind] of rows) t.equal(kindOf(value), kind, what)
})

t.test('every value has one of the four kinds, and finding it never throws', async t => {
  const member = fc.oneof(fc.constantFrom<unknown>('2.0', 'ping', 1, '', null, undefined), fc.anything())
  const message = fc.record({ jsonrpc: member, id: member, method: member, params: member, result: member, error: member }, { requiredKeys: [] })
  fc.assert(fc.property(fc.oneof(fc.anything(), message), value => kinds.includes(kindOf(value))))
  t.pass('no counterexample')
})

t.test('whatever is a request or a response carries an id that can be sent back', async t => {
  const id = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.constant(null), fc.anything())
  const message = fc.record({ jsonrpc: fc.constant('2.0'), id, method: fc.constant('ping') })
  fc.assert(fc.property(message, value => {
    const known = readableId(value)
    return kindOf(value) === 'request' ? JSON.parse(resultText(known as string, '{}')).id === (value.id === 0 ? 0 : value.id) : known === undefined
  }))
  t.pass('no counterexample')
})

t.test('the id of a refused value is read where there is one', async t => {
  const rows: [string, unknown, unknown][] = [
    ['a string', { id: 'a' }, 'a'],
    ['an integer', { id: 3, method: 5 }, 3],
    ['null', { id: null }, undefined],
    ['a fraction', { id: 0.5 }, undefined],
    ['none', {}, undefined],
    ['an array', [{ id: 1 }], undefined],
    ['nothing', undefined, undefined]
  ]
  for (const [what, value, id] of rows) t.equal(readableId(value), id, what)
})

t.test('only an object that is no array and not null is an object', async t => {
  for (const value of [{}, Object.create(null), { a: 1 }]) t.ok(isObject(value))
  for (const value of [null, undefined, [], 'a', 1, true, () => {}]) t.notOk(isObject(value))
})

t.test('a number that is too large for one is found, wherever it is', async t => {
  const rows: [string, string | undefined][] = [
    ['1e999', ''], ['{"a":-1e999}', '/a'], ['{"a":1,"b":[null,{"c":[0,1e400]}]}', '/b/1/c/1'],
    ['1.7e308', undefined], ['{"a":null,"b":"1e999","c":[],"d":{},"e":true}', undefined], ['null', undefined]
  ]
  for (const [text, at] of rows) t.equal(tooLargeIn(JSON.parse(text)), at, text)
})

t.test('a result is written around the text it is given', async t => {
  t.strictSame(JSON.parse(resultText('a"b', '{"n":1}')), { jsonrpc: '2.0', id: 'a"b', result: { n: 1 } })
  t.strictSame(JSON.parse(resultText(5, '{}')), { jsonrpc: '2.0', id: 5, result: {} })
  t.strictSame(JSON.parse(resultText(-0, '{}')).id, 0, 'JSON has one zero')
})

t.test('an error names its request, or nobody', async t => {
  t.strictSame(JSON.parse(errorText(1, { ...error, data: { why: 'x' } })), { jsonrpc: '2.0', id: 1, error: { ...error, data: { why: 'x' } } })
  t.strictSame(JSON.parse(errorText('q', error)), { jsonrpc: '2.0', id: 'q', error })
  t.strictSame(JSON.parse(errorText(undefined, error)), { jsonrpc: '2.0', error }, 'the schemas know no null id')
})

t.test('data that JSON cannot carry is left out of an error', async t => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  for (const data of [circle, { n: 1n }]) t.strictSame(JSON.parse(errorText(1, { ...error, data })), { jsonrpc: '2.0', id: 1, error })
})

t.test('only code, message and data of an error are sent', async t => {
  const more = Object.assign(new Error('seen'), { code: -1, status: 500, secret: 'x' })
  t.strictSame(JSON.parse(errorText(1, more)).error, { code: -1, message: 'seen' })
})

t.test('a notification has no id and no undefined members', async t => {
  t.equal(notificationText('n', { a: 1, b: undefined }), '{"jsonrpc":"2.0","method":"n","params":{"a":1}}')
})

t.test('what is written is one line, whatever is in it', async t => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
    const texts = [notificationText(a, { b }), errorText(a, { code: 1, message: b, data: a }), resultText(a, JSON.stringify({ b }))]
    return texts.every(text => !/[\r\n]/.test(text) && kindOf(JSON.parse(text)) !== 'invalid')
  }))
  t.pass('no counterexample')
})

t.test('progress is written as any notification is', async t => {
  const written = (progressToken: string | number, progress: number, total?: number, message?: string) =>
    [progressText(progressToken, progress, total, message), notificationText('notifications/progress', { progressToken, progress, total, message })]
  const [ours, theirs] = written('a"b', 1.5, 2, 'half\n')
  t.equal(ours, theirs)
  t.equal(ours, '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a\\"b","progress":1.5,"total":2,"message":"half\\n"}}')
  const number = fc.oneof(fc.double(), fc.integer())
  fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger()), number, fc.option(number, { nil: undefined }), fc.option(fc.string({ unit: 'binary' }), { nil: undefined }), (...parts) => {
    const [ours, theirs] = written(...parts)
    return ours === theirs
  }))
})

t.test('what is read is JSON, safe to copy, and not too deep', async t => {
  t.strictSame(parse('{"id":1,"a":"[[[{\\"\\\\"}'), { id: 1, a: '[[[{"\\' })
  t.throws(() => parse('{"id":1'), { code: -32700 })
  for (const text of ['{"id":7,"__proto__":{}}', '{"id":7,"a":[{"__proto__":1}]}', '{"id":7,"a":{"constructor":{"prototype":{}}}}', '{"id":7,"\\u005f_proto__":1}']) t.throws(() => parse(text), { code: -32600, id: 7 } as never, text)
  const nested = (depth: number) => `{"id":7,"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  t.doesNotThrow(() => parse(nested(500)))
  t.throws(() => parse(nested(501)), { code: -32600, id: 7, message: /deeper than 500/ } as never)
  t.throws(() => parse(nested(100_000)), { code: -32600 })
  t.doesNotThrow(() => parse(JSON.stringify({ a: '[{'.repeat(2000), b: '\\"['.repeat(2000), c: Array.from({ length: 2000 }, () => [[]]) })), 'what stands in strings is no nesting')
})
