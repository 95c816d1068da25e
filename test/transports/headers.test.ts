import fc from 'fast-check'
import t from 'tap'
import type { Mirrored, Served } from '../../lib/method.js'
import { checkMirrors } from '../../lib/transports/headers.js'
import { methodOf, servedOf } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'

type Headers = Record<string, string | undefined>

const call = { name: 'tools/call', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
const served = servedOf('2026-07-28', [methodOf('tools/list', () => ({})), methodOf('tools/call', () => ({}), { named: 'name' })])

/** A revision whose one method mirrors these values. */
const mirroring = (...mirrored: Mirrored[]): Served => servedOf('2026-07-28', [methodOf('tools/call', () => ({}), { named: 'name', mirrored: () => mirrored })])

const check = (headers: Headers, params?: unknown, from = served, method = 'tools/call') => () =>
  checkMirrors(from, { jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) } as never, headers)

const named = (header: string | undefined, name: unknown) => check({ ...call, 'mcp-name': header }, { name })
const param = (header: string | undefined, value: unknown, type: Mirrored['type'] = 'string') =>
  check({ ...call, 'mcp-param-a': header }, { name: 'echo' }, mirroring({ header: 'A', type, value, quiet: false }))

const mismatch = { code: -32020, status: 400 }
const sentinel = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
const plain = (text: string) => /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
/** A value as 2026-07-28 basic/transports/streamable-http (Value Encoding) has clients write it. */
const encoded = (text: string) => plain(text) ? text : sentinel(text)

t.test('Mcp-Method must be there and repeat the method', async t => {
  t.doesNotThrow(check({ 'mcp-method': 'tools/list' }, undefined, served, 'tools/list'))
  for (const header of [undefined, '', 'tools/call', 'Tools/List', sentinel('tools/list')]) {
    t.match(thrown(check({ 'mcp-method': header }, undefined, served, 'tools/list')), mismatch, String(header))
  }
  t.match(thrown(check({ 'mcp-method': 'x' }, undefined, served, 'x/unknown')), mismatch, 'of an unknown method too')
  t.doesNotThrow(check({ 'mcp-method': 'x/unknown' }, {}, served, 'x/unknown'))
})

t.test('Mcp-Name must repeat the name of what is called', async t => {
  t.doesNotThrow(named('echo', 'echo'))
  t.doesNotThrow(named(sentinel('echo'), 'echo'), 'what needs no encoding may have one')
  for (const header of [undefined, '', 'Echo', 'other']) t.match(thrown(named(header, 'echo')), { ...mismatch, message: /Mcp-Name.*"echo"/ }, String(header))
})

t.test('a name that is missing or no string is for the method to refuse', async t => {
  for (const params of [undefined, null, {}, { name: 5 }, { name: null }]) t.doesNotThrow(check({ ...call, 'mcp-name': undefined }, params), JSON.stringify(params))
})

t.test('a method without a name needs no Mcp-Name', async t => {
  t.doesNotThrow(check({ 'mcp-method': 'tools/list', 'mcp-name': 'whatever' }, { name: 'x' }, served, 'tools/list'))
})

t.test('the examples of the specification decode to what they stand for', async t => {
  const rows: [string, string][] = [
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=']
  ]
  for (const [value, header] of rows) {
    t.equal(encoded(value), header, 'the encoder of this test does as the specification')
    t.doesNotThrow(param(header, value), value)
    t.doesNotThrow(named(header, value), value)
  }
})

t.test('every string, encoded as the specification says, is the string again', async t => {
  const unicode = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.string())
  fc.assert(fc.property(unicode, text => {
    param(encoded(text), text)()
    named(encoded(text), text)()
  }))
  fc.assert(fc.property(unicode, unicode, (text, other) => text === other || thrown(param(encoded(other), text)).code === -32020))
  t.pass('no counterexample')
})

t.test('base64 that is not canonical is refused', async t => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/='
  const soup = fc.string({ unit: fc.constantFrom(...alphabet, '-', '_', ' '), maxLength: 12 })
  fc.assert(fc.property(soup, encoding => {
    const bytes = Buffer.from(encoding, 'base64')
    const text = bytes.toString()
    const canonical = bytes.toString('base64') === encoding && Buffer.from(text).equals(bytes)
    return (thrown(param(`=?base64?${encoding}?=`, text)).code === -32020) === !canonical
  }), { numRuns: 2000 })
  t.pass('no counterexample')
})

t.test('an encoding is refused for what is wrong with it, even where its bytes would fit', async t => {
  const rows: [string, string, string][] = [
    ['bits left over', '=?base64?YR==?=', 'a'],
    ['no padding', '=?base64?YQ?=', 'a'],
    ['too much padding', '=?base64?YWJj=?=', 'abc'],
    ['the alphabet of URLs', '=?base64?Pz8_?=', '???'],
    ['a space', '=?base64?YW Jj?=', 'abc'],
    ['two in one', '=?base64?YQ==YQ==?=', 'aa'],
    ['bytes that are no UTF-8', '=?base64?/w==?=', '\ufffd'],
    ['half a character', '=?base64?4oI=?=', '\ufffd']
  ]
  for (const [what, header, value] of rows) t.match(thrown(param(header, value)), { ...mismatch, message: /not valid base64/ }, what)
})

t.test('the marks of the encoding are taken to the letter', async t => {
  for (const header of ['=?BASE64?YQ==?=', '=?base64?YQ==', 'base64?YQ==?=', '=?utf-8?YQ==?=', 'x=?base64?YQ==?=']) {
    t.doesNotThrow(param(header, header), `${header} stands for itself`)
    t.match(thrown(param(header, 'a')), mismatch, header)
  }
  t.doesNotThrow(param('=?base64??=', ''), 'nothing, encoded')
  t.doesNotThrow(param('=?base64?77u/YQ==?=', '\ufeffa'), 'a byte order mark is a character like others')
})

t.test('signs that a header cannot hold are refused as they stand', async t => {
  for (const header of ['caf\u00e9', 'a\u0000b', 'a\rb', 'a\nb', 'a\u007f']) t.match(thrown(param(header, header)), { ...mismatch, message: /=\?base64\?/ }, JSON.stringify(header))
  t.doesNotThrow(param('a\tb ~', 'a\tb ~'), 'a tab, a space and all visible signs can stand there')
})

t.test('a mirrored argument is compared by its type', async t => {
  const rows: [string | undefined, unknown, Mirrored['type'], boolean][] = [
    ['eu', 'eu', 'string', true],
    ['EU', 'eu', 'string', false],
    ['', '', 'string', true],
    [undefined, 'eu', 'string', false],
    [undefined, '', 'string', false],
    ['42', 42, 'integer', true],
    ['42.0', 42, 'integer', true],
    ['-7', -7, 'integer', true],
    ['0', 0, 'integer', true],
    ['', 0, 'integer', false],
    ['43', 42, 'integer', false],
    ['forty-two', 42, 'integer', false],
    ['0x2A', 42, 'integer', false],
    ['0b101010', 42, 'integer', false],
    [sentinel('42'), 42, 'integer', true],
    ['true', true, 'boolean', true],
    ['True', true, 'boolean', false],
    ['1', true, 'boolean', false],
    ['false', false, 'boolean', true],
    [undefined, false, 'boolean', false]
  ]
  for (const [header, value, type, agrees] of rows) {
    const what = `${JSON.stringify(header)} for the ${type} ${JSON.stringify(value)}`
    if (agrees) t.doesNotThrow(param(header, value, type), what)
    else t.match(thrown(param(header, value, type)), mismatch, what)
  }
})

t.test('where the body has no value, or null, there must be no header', async t => {
  for (const value of [undefined, null]) {
    t.doesNotThrow(param(undefined, value))
    for (const header of ['', 'x', 'null']) t.match(thrown(param(header, value)), { ...mismatch, message: /no such value/ }, `${header} for ${value}`)
  }
})

t.test('a header that nobody asked for is left alone', async t => {
  t.doesNotThrow(check({ ...call, 'mcp-param-other': 'caf\u00e9' }, { name: 'echo' }))
})

t.test('an argument that is no value of a header is for the schema of the tool to say; a header for it is a mismatch', async t => {
  for (const value of [{}, [], { toString: 1 }]) {
    const served = mirroring({ header: 'Region', type: 'string', value, quiet: false })
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } } as const
    const headers = { 'mcp-method': 'tools/call', 'mcp-name': 'x' }
    t.doesNotThrow(() => checkMirrors(served, message, headers))
    t.throws(() => checkMirrors(served, message, { ...headers, 'mcp-param-region': 'x' }), { code: -32020 } as never)
  }
})

t.test('the name is told as the author writes it, and values where they are no secret', async t => {
  const said = (header: string | undefined, value: unknown, quiet: boolean) => thrown(check({ ...call, 'mcp-param-region': header }, { name: 'echo' }, mirroring({ header: 'Region', type: 'string', value, quiet }))).message
  const rows: [string | undefined, unknown, RegExp, RegExp][] = [
    ['hunter3', 'hunter2', /Mcp-Param-Region is "hunter3", but the body says "hunter2"$/, /Mcp-Param-Region is not what the body says$/],
    [undefined, 'hunter2', /Mcp-Param-Region is missing; the body says "hunter2"$/, /Mcp-Param-Region is missing; the body has a value for it$/],
    ['hunter3', undefined, /Mcp-Param-Region is "hunter3", but the body has no such value$/, /Mcp-Param-Region is there, but the body has no such value$/]
  ]
  for (const [header, value, open, quiet] of rows) {
    t.match(said(header, value, false), open)
    t.match(said(header, value, true), quiet)
    t.notMatch(said(header, value, true), /hunter/)
  }
})
