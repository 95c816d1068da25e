import { Type } from '@sinclair/typebox'
import t from 'tap'
import { REDACTED, redactorOf } from '../../lib/features/redact.js'
import { prepareSchema } from '../../lib/json-schema.js'
import { checkOf } from '../../lib/validate.js'

const secret = Type.String({ 'x-sensitive': true })
const of = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const gone = REDACTED
const fits = () => undefined
/** What is shown of a value, as far as it fits. */
const shown = (source: object, value: unknown) => {
  const { schema } = prepareSchema(source)
  return redactorOf(schema, checkOf(schema, { useDefaults: true }))?.(value)
}

t.test('what is marked is not shown, wherever it stands', async t => {
  const tree = Type.Recursive(This => Type.Object({ pin: secret, name: Type.String(), children: Type.Optional(Type.Array(This)) }))
  const rows: [string, object, unknown, unknown][] = [
    ['a property', of({ a: secret, b: {} }), { a: 'x', b: 'y' }, { a: gone, b: 'y' }],
    ['whatever it holds', of({ a: secret }), { a: { deep: ['x'] } }, { a: gone }],
    ['an object', of({ a: of({ b: {} }, { 'x-sensitive': true }) }), { a: { b: 1 } }, { a: gone }],
    ['inside', of({ a: of({ b: secret, c: {} }) }), { a: { b: 1, c: 2 } }, { a: { b: gone, c: 2 } }],
    ['elements', of({ a: { type: 'array', items: of({ b: secret, c: {} }) } }), { a: [{ b: 1 }, { c: 2 }] }, { a: [{ b: gone }, { c: 2 }] }],
    ['of a tuple', of({ a: Type.Tuple([Type.String(), secret]) }), { a: ['x', 'y'] }, { a: ['x', gone] }],
    ['of a draft-07 tuple', of({ a: { items: [{}, secret], additionalItems: secret } }, { $schema: 'http://json-schema.org/draft-07/schema#' }), { a: ['x', 'y', 'z'] }, { a: [gone, gone, gone] }],
    ['by pattern', of({ a: {} }, { patternProperties: { '^p': secret } }), { pin: 1, a: 2 }, { pin: gone, a: 2 }],
    ['all others', of({ a: {} }, { additionalProperties: secret }), { a: 1, b: 2 }, { a: 1, b: gone }],
    ['in any branch', of({ a: { anyOf: [{ type: 'number' }, of({ b: secret })] } }), { a: { b: 1 } }, { a: { b: gone } }],
    ['where a condition holds', of({ a: {} }, { if: {}, then: { properties: { b: secret } } }), { a: 1, b: 2 }, { a: 1, b: gone }],
    ['by reference', of({ a: { $ref: '#/$defs/s' }, b: { $ref: '#here' }, c: {} }, { $defs: { s: secret, h: { $anchor: 'here', 'x-sensitive': true } } }), { a: 1, b: 2, c: 3 }, { a: gone, b: gone, c: 3 }],
    ['by a name with a pointer', of({ a: { $ref: 'urn:example:n#/$defs/s' } }, { $defs: { n: { $id: 'urn:example:n', $defs: { s: secret } } } }), { a: 1 }, { a: gone }],
    ['names', of({ a: of({}, { propertyNames: secret }), b: {} }), { a: { x: 1 }, b: { y: 2 } }, { a: gone, b: { y: 2 } }],
    ['names by reference', of({ a: { propertyNames: { $ref: '#/$defs/s' } } }, { $defs: { s: secret } }), { a: { x: 1 } }, { a: gone }],
    ['what stands beside it without being named', of({ a: secret }), { a: 'x', A: 'x', b: { a: 1 } }, { a: gone, A: gone, b: gone }],
    ['the same deeper', of({ a: secret, u: of({ p: {} }), free: { type: 'object' }, any: of({ n: {} }, { additionalProperties: true }) }), { u: { p: 1, P: 2 }, free: { x: 1 }, any: { n: 1, m: 2 } }, { u: { p: 1, P: gone }, free: { x: 1 }, any: { n: 1, m: 2 } }],
    ['elements beyond a tuple', of({ a: { prefixItems: [{}, secret] }, free: { type: 'array' } }), { a: [1, 2, 3], free: [4] }, { a: [1, gone, gone], free: [4] }],
    ['by a reference inside of a name', of({ in: { $id: 'emb', type: 'object', $defs: { s: secret }, properties: { p: { $ref: '#/$defs/s' } } } }, { $defs: { s: { type: 'string' } } }), { in: { p: 1 } }, { in: { p: gone } }],
    ['and only there', of({ in: { $id: 'emb', type: 'object', $defs: { s: { type: 'string' } }, properties: { p: { $ref: '#/$defs/s' } } }, q: { $ref: '#/$defs/s' } }, { $defs: { s: secret } }), { in: { p: 1 }, q: 2 }, { in: { p: 1 }, q: gone }],
    ['by the whole of a name', of({ in: { $id: 'emb', type: 'object', properties: { p: secret, next: { $ref: '#' } } }, p: {} }), { in: { next: { next: { p: 1 } } }, p: 2 }, { in: { next: { next: { p: gone } } }, p: 2 }],
    ['by an anchor that two names have', of({ a: { $id: 'e1', type: 'object', $defs: { x: { $anchor: 'sec', ...secret } }, properties: { p: { $ref: '#sec' } } }, b: { $id: 'e2', type: 'object', $defs: { x: { $anchor: 'sec', type: 'string' } }, properties: { p: { $ref: '#sec' } } } }), { a: { p: 1 }, b: { p: 2 } }, { a: { p: gone }, b: { p: 2 } }],
    ['by an anchor of a name', of({ a: { $ref: 'e1#sec' } }, { $defs: { e: { $id: 'e1', $defs: { x: { $anchor: 'sec', ...secret } } } } }), { a: 1 }, { a: gone }],
    ['by a dynamic anchor anywhere', of({ a: { $dynamicRef: '#node' } }, { $defs: { a: { $dynamicAnchor: 'node', type: 'string' }, b: { $id: 'b', $defs: { n: { $dynamicAnchor: 'node', ...secret } } } } }), { a: 1 }, { a: gone }],
    ['by a name relative to that around it', of({ d: { $ref: 'sub/' } }, { $id: 'http://example.com/a/', $defs: { d: { $id: 'sub/', type: 'object', properties: { p: { $ref: 'leaf' } } }, leaf: { $id: 'leaf' }, q: { $id: 'http://example.com/a/sub/leaf', ...secret } } }), { d: { p: 1 } }, { d: { p: gone } }],
    ['by a pattern beside a name', of({ pin: {}, pot: {} }, { patternProperties: { '^pi': secret, t$: {} } }), { pin: 1, pot: 2, pit: 3, t: 4, x: 5 }, { pin: gone, pot: 2, pit: gone, t: 4, x: gone }],
    ['beside what is called __proto__', of({ a: secret }, { additionalProperties: true }), JSON.parse('{"a":1,"__proto__":{"a":2}}'), JSON.parse('{"a":"[redacted]","__proto__":{"a":2}}')],
    ['in a tree', tree, { pin: 1, name: 'a', children: [{ pin: 2, name: 'b' }] }, { pin: gone, name: 'a', children: [{ pin: gone, name: 'b' }] }],
    ['the whole', { type: 'object', 'x-sensitive': true }, { a: 1 }, gone]
  ]
  for (const [what, schema, value, shown] of rows) {
    const given = JSON.stringify(value)
    t.strictSame(redactorOf(prepareSchema(schema).schema, fits)?.(value), shown, what)
    t.equal(JSON.stringify(value), given, `${what}: the value itself stays`)
  }
})

t.test('a reference that is not understood hides what it stands for', async t => {
  t.strictSame(redactorOf({ properties: { a: { $ref: 'urn:example:elsewhere' }, b: { $ref: '#/none' }, c: { $dynamicRef: '#none' }, d: {}, e: secret } }, fits)?.({ a: 1, b: 2, c: 3, d: 4 }), { a: gone, b: gone, c: gone, d: 4 })
})

t.test('where nothing is marked there is nothing to do', async t => {
  for (const schema of [of({ a: {} }), of({ a: { 'x-sensitive': false } }), of({ 'x-sensitive': {} })]) t.equal(redactorOf(schema, fits), undefined)
})

t.test('of a value that does not fit nothing is shown but the names that the schema has', async t => {
  const rows: [string, object, unknown, unknown][] = [
    ['another kind of container', of({ q: { type: 'array', items: secret } }), { q: 'hunter2' }, { q: gone }],
    ['an array for a string', of({ q: secret, n: { type: 'integer' } }), { q: ['hunter2'], n: 'hunter2' }, { q: [gone], n: gone }],
    ['an object where a string is', of({ u: of({ p: secret }) }), { u: 'hunter2' }, { u: gone }],
    ['a name that is not there', of({ u: of({ p: secret }, { additionalProperties: false }) }), { u: { P: 'hunter2', hunter2: 1 } }, { u: { [gone]: gone } }],
    ['nothing beside what is wrong either', of({ p: secret, n: { type: 'integer' }, s: { type: 'string' } }), { p: 'x', n: 'y', s: 'z' }, { p: gone, n: gone, s: gone }],
    ['no object at all', of({ p: secret }), 'hunter2', gone]
  ]
  for (const [what, schema, value, outline] of rows) {
    const given = JSON.stringify(value)
    t.strictSame(shown(schema, value), outline, what)
    t.equal(JSON.stringify(value), given, `${what}: the value itself stays`)
  }
  t.strictSame(shown(of({ p: secret, n: { type: 'integer', default: 5 } }), { p: 'x' }), { p: gone }, 'and what fits is shown as it came, without defaults')
})

t.test('of what is known to fit, or not to, it is not asked again', async t => {
  const { schema } = prepareSchema(of({ a: secret, n: { type: 'integer' } }))
  const redact = redactorOf(schema, () => { throw new Error('asked') })
  t.strictSame(redact?.({ a: 'x', n: 1 }, true), { a: gone, n: 1 })
  t.strictSame(redact?.({ a: 'x', n: 1 }, false), { a: gone, n: gone })
})

t.test('a large value takes no longer than to walk over it', async t => {
  const names = Array.from({ length: 20 }, (_, i) => `k${i}`)
  const { schema } = prepareSchema(of({ list: { type: 'array', items: { $ref: '#/$defs/n' } } }, { $defs: { n: { anyOf: names.map(name => of({ [name]: { $ref: '#/$defs/n' }, s: secret })) } } }))
  const redact = redactorOf(schema, fits)
  const { user } = process.cpuUsage()
  t.strictSame(redact?.({ list: Array(60_000).fill({ k1: {}, s: 1 }) }), { list: Array(60_000).fill({ k1: {}, s: gone }) })
  t.ok((process.cpuUsage().user - user) / 1000 < 5_000, 'it took 22 s to put the branches together at each place')
})

t.test('however many ways through a schema a client takes', async t => {
  const bits = Array.from({ length: 14 }, (_, i) => i)
  const { schema } = prepareSchema({ type: 'object', patternProperties: Object.fromEntries(bits.map(i => [`^.{${i}}1`, i === 13 ? secret : { type: 'string' }])) })
  const redact = redactorOf(schema, fits)
  const value = Object.fromEntries(Array.from({ length: 2 ** bits.length }, (_, n) => [n.toString(2).padStart(bits.length, '0'), 'x']))
  for (let i = 0; i < 3; i++) {
    const found = Object.entries(redact?.(value) as object)
    t.strictSame(found.filter(([name, shown]) => shown !== (name.endsWith('1') || !name.includes('1') ? gone : 'x')), [])
  }
})
