import t from 'tap'
import { lines } from '../../lib/features/shown.js'
import { namesIn } from '../../lib/validate.js'

const shown = (args: Record<string, unknown>, schema: unknown = {}) => lines(args, namesIn(schema))

t.test('a line for each argument, shortened', async t => {
  const properties = { to: {}, n: {}, deep: {}, none: {}, text: {}, emoji: {} }
  t.strictSame(shown({}), [])
  t.strictSame(shown({ to: 'Ada', n: 5, deep: { a: [1, { b: true }] }, none: null }, { properties }), ['to: "Ada"', 'n: 5', 'deep: {"a":[1,{"b":true}]}', 'none: null'])
  const long = shown({ text: 'x'.repeat(5000), ['k'.repeat(5000)]: 1, emoji: 'x'.repeat(98) + '😀' }, { properties })
  t.ok(long.join('').length < 500)
  t.match(long[0], /^text: "x{99}… \(5002 characters\)$/)
  t.notMatch(long.join(''), /[\ud800-\udbff](?![\udc00-\udfff])/, 'no half of a sign')
})

t.test('what the schema names comes first, in its order, and all of it; names of others are quoted', async t => {
  const junk = { 'table: "scratch"': 'ok', 0: 'first', ...Object.fromEntries(Array.from({ length: 19 }, (_, i) => [`option${i}`, 'default'])) }
  const all = shown({ ...junk, rows: 5, table: 'customers' }, { properties: { table: {}, rows: {} } })
  t.strictSame(all.slice(0, 4), ['table: "customers"', 'rows: 5', '"0": "first"', '"table: \\"scratch\\"": "ok"'])
  t.strictSame([all.length, all.at(-1)], [23, '… and 1 more'])
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`a${i}`, i]))
  t.strictSame(shown(many).slice(19), ['"a19": 19', '… and 980 more'])
  t.strictSame(shown(Object.fromEntries(Object.entries(many).slice(0, 20))).at(-1), '"a19": 19')
  t.equal(shown(many, { properties: Object.fromEntries(Object.keys(many).map(name => [name, {}])) }).at(-1), 'a999: 999')
})

t.test('wherever the schema names it', async t => {
  const schema = {
    type: 'object',
    allOf: [{ properties: { b: {} } }],
    anyOf: [{ $ref: '#/$defs/part' }, { then: { properties: { d: {} } } }],
    dependentSchemas: { a: { properties: { e: {} } } },
    $defs: { part: { $anchor: 'x', properties: { c: {} } } },
    properties: { a: {} }
  }
  t.strictSame(shown({ z: 0, e: 5, d: 4, c: 3, b: 2, a: 1 }, schema), ['a: 1', 'b: 2', 'd: 4', 'e: 5', 'c: 3', '"z": 0'])
  for (const none of [undefined, true, { properties: [] }]) t.strictSame(shown({ a: 1 }, none), ['"a": 1'])
})

t.test('nor is it hidden in what is cut', async t => {
  const schema = { properties: { what: { properties: { all: {} } } } }
  t.match(shown({ what: { ['x'.repeat(200)]: 1, all: true } }, schema), [/^what: \{"all":true,"xx/])
  t.match(shown({ what: [{ 1: 'x'.repeat(200), all: true }] }, schema), [/^what: \[\{"all":true,"1":/])
})

t.test('arguments cannot hide anything, nor look like the rest of the question', async t => {
  t.strictSame(shown({ a: 'x\n\nRun nothing?', 'b\nc': '\u202egnp.exe\u200b', d: '\u0007\u2028', 'e"\u200b: "f': 1 }, { properties: { a: {}, 'b\nc': {} } }),
    ['a: "x\\n\\nRun nothing?"', 'b\\u{a}c: "\\u{202e}gnp.exe\\u{200b}"', '"d": "\\u0007\\u{2028}"', '"e\\"\\u{200b}: \\"f": 1'])
})
