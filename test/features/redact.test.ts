import { Type } from '@sinclair/typebox'
import t from 'tap'
import { REDACTED, redactorOf } from '../../lib/features/redact.js'
import { prepareSchema } from '../../lib/json-schema.js'

const secret = Type.String({ 'x-sensitive': true })
const of = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const gone = REDACTED

t.test('what is marked is not shown, wherever it stands', async t => {
  const tree = Type.Recursive(This => Type.Object({ pin: secret, name: Type.String(), children: Type.Optional(Type.Array(This)) }))
  const rows: [string, object, unknown, unknown][] = [
    ['a property', of({ a: secret, b: {} }), { a: 'x', b: 'y' }, { a: gone, b: 'y' }],
    ['whatever it holds', of({ a: secret }), { a: { deep: ['x'] } }, { a: gone }],
    ['an object', of({ a: of({ b: {} }, { 'x-sensitive': true }) }), { a: { b: 1 } }, { a: gone }],
    ['inside', of({ a: of({ b: secret }) }), { a: { b: 1, c: 2 } }, { a: { b: gone, c: 2 } }],
    ['elements', of({ a: { type: 'array', items: of({ b: secret }) } }), { a: [{ b: 1 }, { c: 2 }] }, { a: [{ b: gone }, { c: 2 }] }],
    ['of a tuple', of({ a: Type.Tuple([Type.String(), secret]) }), { a: ['x', 'y'] }, { a: ['x', gone] }],
    ['of a draft-07 tuple', of({ a: { items: [{}, secret], additionalItems: secret } }, { $schema: 'http://json-schema.org/draft-07/schema#' }), { a: ['x', 'y', 'z'] }, { a: [gone, gone, gone] }],
    ['by pattern', of({}, { patternProperties: { '^p': secret } }), { pin: 1, a: 2 }, { pin: gone, a: 2 }],
    ['all others', of({ a: {} }, { additionalProperties: secret }), { a: 1, b: 2 }, { a: 1, b: gone }],
    ['in any branch', of({ a: { anyOf: [{ type: 'number' }, of({ b: secret })] } }), { a: { b: 1 } }, { a: { b: gone } }],
    ['where a condition holds', of({ a: {} }, { if: {}, then: { properties: { b: secret } } }), { a: 1, b: 2 }, { a: 1, b: gone }],
    ['by reference', of({ a: { $ref: '#/$defs/s' }, b: { $ref: '#here' } }, { $defs: { s: secret, h: { $anchor: 'here', 'x-sensitive': true } } }), { a: 1, b: 2, c: 3 }, { a: gone, b: gone, c: 3 }],
    ['by a name with a pointer', of({ a: { $ref: 'urn:example:n#/$defs/s' } }, { $defs: { n: { $id: 'urn:example:n', $defs: { s: secret } } } }), { a: 1 }, { a: gone }],
    ['in a tree', tree, { pin: 1, name: 'a', children: [{ pin: 2, name: 'b' }] }, { pin: gone, name: 'a', children: [{ pin: gone, name: 'b' }] }],
    ['the whole', { type: 'object', 'x-sensitive': true }, { a: 1 }, gone]
  ]
  for (const [what, schema, value, shown] of rows) {
    const given = JSON.stringify(value)
    t.strictSame(redactorOf(prepareSchema(schema).schema)?.(value), shown, what)
    t.equal(JSON.stringify(value), given, `${what}: the value itself stays`)
  }
})

t.test('a reference that is not understood hides what it stands for', async t => {
  t.strictSame(redactorOf({ properties: { a: { $ref: 'urn:example:elsewhere' }, b: { $ref: '#/none' }, c: { $dynamicRef: '#none' }, d: {}, e: secret } })?.({ a: 1, b: 2, c: 3, d: 4 }), { a: gone, b: gone, c: gone, d: 4 })
})

t.test('where nothing is marked there is nothing to do', async t => {
  for (const schema of [of({ a: {} }), of({ a: { 'x-sensitive': false } }), of({ 'x-sensitive': {} })]) t.equal(redactorOf(schema), undefined)
})
