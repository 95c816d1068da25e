import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { JsonSchema } from '../lib/json-schema.js'
import { checkOf } from '../lib/validate.js'
import type { Validator } from '../types/index.js'
import { thrown } from './support/thrown.js'

const said = (schema: unknown, value: unknown) => checkOf(schema as JsonSchema)(value)
const city = Type.Object({ city: Type.String(), days: Type.Optional(Type.Integer({ minimum: 1, maximum: 7 })) }, { additionalProperties: false })

t.test('nothing is said of a value that fits', async t => {
  for (const value of [{ city: 'Rome' }, { city: '', days: 7 }]) t.equal(said(city, value), undefined)
})

t.test('a sentence names the path, what belongs there and what came', async t => {
  const literals = Type.Object({ unit: Type.Union([Type.Literal('C'), Type.Literal('F')]) })
  const rows: [unknown, unknown, string][] = [
    [city, { city: 5 }, '/city must be string, got number 5'],
    [city, { city: null }, '/city must be string, got null'],
    [city, { city: ['a'] }, '/city must be string, got ["a"]'],
    [city, {}, '/city is required'],
    [city, { city: 'a', dys: 1 }, '/dys is not a known property; known: city, days'],
    [Type.Object({}, { additionalProperties: false }), { a: 1 }, '/a is not a known property (none is)'],
    [{ type: 'object', unevaluatedProperties: false }, { a: 1 }, '/a is not a known property (none is)'],
    [city, { city: 'a', days: 9 }, '/days must be <= 7, got number 9'],
    [city, { city: 'a', days: 1.5 }, '/days must be integer, got number 1.5'],
    [city, 'Rome', '/ must be object, got string "Rome"'],
    [city, undefined, '/ must be object, got nothing'],
    [{ enum: ['a', 1] }, 'b', '/ must be one of "a", 1, got string "b"'],
    [{ const: 'x' }, 'y', '/ must be "x", got string "y"'],
    [literals, { unit: 'K' }, '/unit must be one of "C", "F", got string "K"'],
    [{ type: ['string', 'null'] }, 1, '/ must be string or null, got number 1'],
    [Type.Array(city), [{ city: 'a' }, {}], '/1/city is required'],
    [{ type: 'string', format: 'date' }, 'x', '/ must match format "date", got string "x"'],
    [{ oneOf: [{ type: 'string' }, { minLength: 1 }] }, 'ab', '/ must match exactly one schema in oneOf, got string "ab"'],
    [{ anyOf: [] }, 'ab', '/ must match a schema in anyOf, got string "ab"']
  ]
  for (const [schema, value, sentence] of rows) t.equal(said(schema, value), sentence, sentence)
})

t.test('of a union only the branch that was meant is told', async t => {
  const at = Type.Object({ at: Type.Union([Type.Integer({ minimum: 1 }), Type.Object({ days: Type.Integer() }, { additionalProperties: false }), Type.Literal('now')]) })
  const shape = Type.Union([Type.Object({ kind: Type.Literal('circle'), r: Type.Number() }), Type.Object({ kind: Type.Literal('box'), w: Type.Number(), h: Type.Number() })])
  const nested = Type.Union([Type.String(), Type.Array(Type.Union([Type.Integer(), Type.Object({ n: Type.Integer() })]))])
  const rows: [unknown, unknown, string][] = [
    [at, { at: { days: 'x' } }, '/at/days must be integer, got string "x"'],
    [at, { at: { day: 1 } }, '/at/days is required; /at/day is not a known property; known: days'],
    [at, { at: 0 }, '/at must be >= 1, got number 0'],
    [at, { at: 'then' }, '/at must be integer or object or "now", got string "then"'],
    [at, { at: [] }, '/at must be integer or object or "now", got []'],
    [Type.Array(at), [{ at: 0 }, { at: { days: 'x' } }, { at: [] }], '/0/at must be >= 1, got number 0; /1/at/days must be integer, got string "x"; /2/at must be integer or object or "now", got []'],
    [shape, { kind: 'box', w: 1 }, '/h is required'],
    [shape, { kind: 'circle', w: 1, h: 1 }, '/r is required'],
    [nested, [1, { n: 'x' }], '/1/n must be integer, got string "x"'],
    [nested, [true], '/0 must be integer or object, got boolean true'],
    [nested, 5, '/ must be string or array, got number 5'],
    [{ anyOf: [{ minLength: 3 }, { maxLength: 1 }] }, 'ab', '/ must NOT have fewer than 3 characters, got string "ab"'],
    [{ oneOf: [{ type: 'string' }, { type: 'string' }, { type: 'number' }] }, 'ab', '/ must match exactly one schema in oneOf, got string "ab"']
  ]
  for (const [schema, value, sentence] of rows) t.equal(said(schema, value), sentence, JSON.stringify(value))
})

t.test('several problems are several sentences, but not without end', async t => {
  t.equal(said(city, { city: 1, days: 0 }), '/city must be string, got number 1; /days must be >= 1, got number 0')
  const many = said(Type.Array(Type.String()), Array.from({ length: 20 }, (_, i) => i))
  t.equal(many?.split('; ').length, 9)
  t.match(many, /and 12 more$/)
})

t.test('what came is shown in short, and what cannot be shown is named', async t => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  t.match(said({ type: 'string' }, { long: 'x'.repeat(500) }), /^.{0,120}…$/)
  t.match(said({ type: 'string' }, circle), /got \{"self":\{"self":\{\}\}\}$/)
  t.match(said({ type: 'string' }, { n: 1n }), /got object$/)
  t.match(said({ enum: Array.from({ length: 40 }, (_, i) => i) }, 'x'), /28, 29, …, got string "x"$/)
})

t.test('nothing is coerced and nothing is taken away', async t => {
  const strict = Type.Object({ n: Type.Number(), b: Type.Optional(Type.Boolean()) }, { additionalProperties: false })
  for (const value of [{ n: '5' }, { n: 1, b: 'true' }, { n: null }, { n: 1, extra: 1 }]) t.ok(said(strict, value))
  const loose = { n: 1, extra: 1 }
  t.equal(said(Type.Object({ n: Type.Number() }), loose), undefined)
  t.strictSame(loose, { n: 1, extra: 1 })
})

t.test('NaN and Infinity are no numbers', async t => {
  for (const value of [NaN, Infinity, -Infinity]) t.match(said({ type: 'number' }, value), `got number ${value}`)
  t.match(said({ type: 'string' }, { n: NaN, m: [Infinity] }), 'got {"n":"NaN","m":["Infinity"]}')
})

t.test('defaults are filled in where they are asked for, and only there', async t => {
  const schema = Type.Object({ n: Type.Integer({ default: 5 }), deep: Type.Object({ a: Type.String({ default: 'x' }) }, { default: {} }) })
  const filled = {}
  t.equal(checkOf(schema as unknown as JsonSchema, { useDefaults: true })(filled), undefined)
  t.strictSame(filled, { n: 5, deep: { a: 'x' } })
  const left = {}
  t.ok(said(schema, left))
  t.strictSame(left, {})
})

t.test('each schema is read in its own dialect', async t => {
  const tuple = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }], additionalItems: false }
  t.ok(said(tuple, ['a', 'b']))
  t.equal(said(tuple, ['a']), undefined)
  t.ok(said({ prefixItems: [{ type: 'string' }], items: false }, ['a', 'b']))
  t.equal(said({ dependentRequired: { a: ['b'] } }, { b: 1 }), undefined)
  t.match(said({ dependentRequired: { a: ['b'] } }, { a: 1 }), /property b/)
})

t.test('a schema may refer to itself and to its parts', async t => {
  const parts = { $defs: { 'a b': { type: 'string' }, named: { $anchor: 'spot', type: 'string' } }, properties: { p: { type: 'string' } } }
  const rows: [string, string, unknown, unknown][] = [
    ['the whole', '#', { r: {} }, { r: 'x' }],
    ['a definition', '#/$defs/a%20b', { r: 'x' }, { r: 5 }],
    ['a property', '#/properties/p', { r: 'x' }, { r: 5 }],
    ['an anchor', '#spot', { r: 'x' }, { r: 5 }]
  ]
  for (const [what, $ref, good, bad] of rows) {
    for (const alone of [false, true]) {
      t.doesNotThrow(() => {
        const check = checkOf({ type: 'object', ...parts, properties: { ...parts.properties, r: { $ref } } }, { alone })
        t.strictSame([check(good), typeof check(bad)], [undefined, 'string'], what)
      }, `${what}${alone ? ', checked alone' : ''}`)
    }
  }
})

t.test('schemas with the same $id do not meet where each is checked alone', async t => {
  const string = { $id: 'urn:example:same', type: 'string' }
  const number = { $id: 'urn:example:same', type: 'number' }
  t.equal(checkOf(string, { alone: true })('a'), undefined)
  t.equal(checkOf(number, { alone: true })(1), undefined)
})

t.test('a schema is compiled once for each way of checking, at its first use', async t => {
  const compiled: unknown[] = []
  const compiler: Validator = {
    compile (schema, options) {
      compiled.push([schema, options])
      return () => true
    }
  }
  const schema = { type: 'object' }
  const check = checkOf(schema, { compiler, useDefaults: true })
  t.strictSame(compiled, [])
  for (let i = 0; i < 3; i++) t.equal(check({}), undefined)
  t.equal(checkOf(schema, { compiler, useDefaults: true }), check)
  t.strictSame(compiled, [[{ type: 'object' }, { useDefaults: true }]])
})

t.test('a validator of the author says what is wrong in its own words', async t => {
  const answers: [ReturnType<ReturnType<Validator['compile']>>, string | undefined][] = [
    [true, undefined],
    [[{ path: '/a', message: 'is bad' }, { path: '', message: 'is odd' }], '/a is bad; / is odd'],
    [[], 'the value is not valid']
  ]
  for (const [answer, sentence] of answers) t.equal(checkOf({}, { compiler: { compile: () => () => answer } })({}), sentence)
})

t.test('one validator may check the input and the output of the same schema differently', async t => {
  const seen: boolean[] = []
  const compiler: Validator = { compile: (_, { useDefaults }) => () => { seen.push(useDefaults); return true } }
  const schema = { type: 'object' }
  checkOf(schema, { compiler, useDefaults: true })({})
  checkOf(schema, { compiler, useDefaults: false })({})
  t.strictSame(seen, [true, false])
})

t.test('a schema that cannot be compiled throws at the first check, not before', async t => {
  const check = checkOf({ type: 'object', patternProperties: { '(': {} } })
  t.match(thrown(() => check({})).message, /regular expression/i)
  t.match(thrown(() => check({})).message, /regular expression/i, 'and at the next one')
})

t.test('however much is wrong, saying so takes no time', async t => {
  const strict = { type: 'object', properties: {}, additionalProperties: false }
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`property_number_${i}`, 'x'.repeat(50)]))
  const before = performance.now()
  t.match(said(strict, many), /property_number_0 is not a known property.*; and 19992 more$/)
  t.match(said({ type: 'array', items: { type: 'string' } }, Array.from({ length: 200_000 }, (_, i) => i)), /and 199992 more$/)
  t.match(said({ type: 'string' }, many), /got \{"property_number_0"/)
  t.match(said(Type.Array(Type.Union([Type.String(), Type.Object({ a: Type.String() })])), Array.from({ length: 20_000 }, () => ({ a: 5 }))), /and \d+ more$/)
  t.ok(performance.now() - before < 2000, `${performance.now() - before} ms`)
})

t.test('what came is not repeated where a part of the schema is for the handler alone', async t => {
  const check = checkOf({ type: 'object', properties: { pin: { type: 'string', minLength: 5, 'x-sensitive': true }, mode: { enum: ['a', 'b'] } } })
  const said = check({ pin: '4711', mode: 'c' }) ?? ''
  t.match(said, /\/pin must NOT have fewer than 5 characters; \/mode must be one of "a", "b"$/)
  t.notMatch(said, /4711|got/)
})

t.test('names are not repeated either where anything is marked, unless the schema has them', async t => {
  const u = { type: 'object', properties: { p: { type: 'string', 'x-sensitive': true }, 'a/b': { type: 'string' } }, additionalProperties: false }
  const schema = { type: 'object', properties: { u, list: { type: 'array', items: { type: 'string' } } }, additionalProperties: { type: 'integer' } }
  const rows: [unknown, string][] = [
    [{ u: { P: 'hunter2' } }, '/u/* is not a known property; known: p, a/b'],
    [{ hunter2: 'x' }, '/* must be integer'],
    [{ 4711: 'x' }, '/* must be integer'],
    [{ list: ['a', 5] }, '/list/1 must be string'],
    [{ u: { 'a/b': 5 } }, '/u/a~1b must be string'],
    [{ u: 'hunter2' }, '/u must be object']
  ]
  for (const [value, sentence] of rows) t.equal(said(schema, value), sentence)
  t.equal(said({ type: 'object', additionalProperties: { type: 'integer' } }, { x: 'y' }), '/x must be integer, got string "y"', 'elsewhere they are')
})

t.test('one place can be quiet for itself', async t => {
  const schema = { type: 'object', properties: { name: { type: 'string' }, args: { type: 'object', 'x-sensitive': 'here' } } }
  t.equal(said(schema, { name: 5, args: 'hunter2' }), '/name must be string, got number 5; /args must be object, got string')
})

t.test('what a compiler of the author says of a value is not repeated where anything is marked', async t => {
  const compiler: Validator = { compile: () => () => [{ path: '/pin', message: 'is hunter2' }, { path: '/hunter2', message: 'is odd' }, { path: '/hunter3', message: 'is odd' }, { path: '', message: 'no' }] }
  const check = (more: object) => checkOf({ type: 'object', properties: { pin: { type: 'string', ...more } } }, { compiler })({ pin: 'hunter2' })
  t.equal(check({ 'x-sensitive': true }), '/pin does not fit; /* does not fit; / does not fit')
  t.equal(check({}), '/pin is hunter2; /hunter2 is odd; /hunter3 is odd; / no')
})
