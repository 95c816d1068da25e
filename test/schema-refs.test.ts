import { Type } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { prepareSchema } from '../lib/json-schema.js'
import { Leads } from '../lib/schema-refs.js'
import { thrown } from './support/thrown.js'

const of = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({ type: 'object', properties, ...more })
const $defs = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }

t.test('a reference that leads back to itself before any of the value is read is refused, with its place', async t => {
  const rows: [string, object, string][] = [
    ['the whole to itself', { type: 'object', $ref: '#' }, '/$ref "#"'],
    ['a property to itself', of({ a: { $ref: '#/properties/a' } }), '/properties/a/$ref'],
    ['through allOf', { type: 'object', allOf: [{ $ref: '#' }] }, '/allOf/0/$ref'],
    ['through anyOf, though one branch decides', { type: 'object', anyOf: [{ type: 'object' }, { $ref: '#' }] }, '/anyOf/1/$ref'],
    ['through oneOf', { type: 'object', oneOf: [{ $ref: '#' }] }, '/oneOf/0/$ref'],
    ['through not', of({ a: { not: { $ref: '#/properties/a' } } }), '/properties/a/not/$ref'],
    ['through then', { type: 'object', if: {}, then: { $ref: '#' } }, '/then/$ref'],
    ['through dependentSchemas', { type: 'object', dependentSchemas: { a: { $ref: '#' } } }, '/dependentSchemas/a/$ref'],
    ['through dependencies', { type: 'object', dependencies: { a: { $ref: '#' }, b: ['a'] } }, '/dependencies/a/$ref'],
    ['two that lead to one another', of({ x: { $ref: '#/$defs/a' } }, { $defs }), '/$defs/'],
    ['to its own anchor', of({ a: { $anchor: 'x', $ref: '#x' } }), '/properties/a/$ref'],
    ['to its own dynamic anchor', of({ a: { $dynamicAnchor: 'x', $dynamicRef: '#x' } }), '/properties/a/$dynamicRef'],
    ['to its own name', of({ a: { $id: 'urn:example:a', $ref: 'urn:example:a' } }), '/properties/a/$ref'],
    ['to a list of properties that leads back', { type: 'object', $ref: '#/properties', properties: { not: { $ref: '#' } } }, '/']
  ]
  for (const [what, source, place] of rows) {
    const { message } = thrown(() => prepareSchema(source))
    t.ok(message.startsWith(place), `${what}: ${message}`)
    t.match(message, /leads back to itself/, what)
  }
})

t.test('a shared schema that leads back to itself is refused as well', async t => {
  const shared = { loop: { $id: 'loop', type: 'object', allOf: [{ $ref: '#' }] } } as Record<string, unknown>
  t.match(thrown(() => prepareSchema(of({ a: { $ref: 'loop#' } }), id => shared[id])).message, /^\/\$defs\/loop\/allOf\/0\/\$ref .*leads back/)
})

t.test('schemas of values inside are read anew, whatever the way, and say of a value what they should', async t => {
  const node = Type.Recursive(This => Type.Object({ children: Type.Array(This) }))
  const rows: [string, object, unknown, unknown][] = [
    ['a tree of TypeBox', node, { children: [{ children: [] }] }, { children: [{ children: 1 }] }],
    ['by #', of({ next: { $ref: '#' } }), { next: { next: {} } }, { next: { next: 1 } }],
    ['by an anchor of the whole', of({ next: { $ref: '#node' } }, { $anchor: 'node' }), { next: { next: {} } }, { next: { next: 1 } }],
    ['by a dynamic anchor of the whole', of({ next: { $dynamicRef: '#node' } }, { $dynamicAnchor: 'node' }), { next: { next: {} } }, { next: { next: 1 } }],
    ['by an anchor inside', of({ a: { $anchor: 'x', type: 'object', properties: { b: { $ref: '#x' } } } }), { a: { b: {} } }, { a: { b: 1 } }],
    ['by a name with a pointer', of({ a: { $ref: 'urn:example:n#/$defs/t' } }, { $defs: { n: { $id: 'urn:example:n', $defs: { t: { type: 'string' } } } } }), { a: 'x' }, { a: 1 }],
    ['two ways to one place', { type: 'object', allOf: [{ $ref: '#/$defs/t' }, { $ref: '#/$defs/t' }], $defs: { t: of({ a: { type: 'string' } }) } }, { a: 'x' }, { a: 1 }],
    ['to what always holds', of({ a: { $ref: '#/$defs/yes' }, b: { type: 'string' } }, { $defs: { yes: true } }), { a: 1 }, { b: 1 }]
  ]
  for (const [what, source, good, bad] of rows) {
    const fits = new Ajv2020({ strict: false }).compile(prepareSchema(source).schema)
    t.equal(fits(good), true, what)
    t.equal(fits(bad), false, what)
  }
})

t.test('a name with a pointer to nothing is refused', async t => {
  const source = of({ a: { $ref: 'urn:example:n#/$defs/t' } }, { $defs: { n: { $id: 'urn:example:n' } } })
  t.match(thrown(() => prepareSchema(source)).message, /^\/properties\/a\/\$ref "urn:example:n#\/\$defs\/t" leads to no schema/)
})

t.test('inside of a schema with a name of its own, # is that, wherever it comes from', async t => {
  const inner = { $id: 'inner', $anchor: 'top', type: 'object', $defs: { s: { type: 'string' } }, properties: { p: { $ref: '#/$defs/s' }, next: { $ref: '#' }, same: { $ref: '#top' }, also: { $ref: '' } } }
  const shared = { outer: { $id: 'outer', type: 'object', properties: { inner, p: { $ref: '#/properties/inner' } } } } as Record<string, unknown>
  for (const source of [of({ inner }, { $defs: { s: { type: 'number' } } }), of({ inner: { $ref: 'outer#/properties/inner' } }), of({ o: { $ref: 'outer#' }, inner: { $ref: 'inner' } })]) {
    const fits = new Ajv2020({ strict: false }).compile(prepareSchema(source, id => shared[id]).schema)
    for (const way of ['next', 'same', 'also']) {
      t.equal(fits({ inner: { p: 'x', [way]: { p: 'x' } } }), true, way)
      t.equal(fits({ inner: { [way]: { p: 1 } } }), false, way)
    }
  }
})

t.test('what the app shares cannot be had from there', async t => {
  const source = of({ in: { $id: 'in', properties: { a: { $ref: 'shared#' } } } })
  t.match(thrown(() => prepareSchema(source, () => ({ $id: 'shared', type: 'string' }))).message, '/properties/in/properties/a/$ref "shared" stands in a schema with an $id')
})

t.test('where a reference could lead to several places it leads to all of them', async t => {
  const [s, x, y] = [{ title: 's' }, { $anchor: 'x', title: 'x' }, { $dynamicAnchor: 'y', title: 'y' }]
  const refs: Record<string, [object, unknown[]]> = {
    pointer: [{ $ref: '#/$defs/s' }, [s]],
    anchor: [{ $ref: '#x' }, [undefined]],
    named: [{ $ref: 'in#x' }, [x]],
    absolute: [{ $ref: 'http://example.com/in#x' }, [x]],
    none: [{ $ref: 'in#/none' }, [undefined]],
    stranger: [{ $ref: 'else' }, [undefined]],
    odd: [{ $ref: 'http://[#x' }, [undefined]],
    dynamic: [{ $dynamicRef: '#y' }, [undefined, y]],
    both: [{ $ref: '#/$defs/s', $dynamicRef: '#y' }, [s, undefined, y]],
    nothing: [{}, []]
  }
  const inner = { $id: 'in', $defs: { x, y }, properties: { a: { $ref: '#x' }, b: { $ref: '#' }, c: { $ref: 'again' } } }
  const again = [{ $id: 'again', title: '1' }, { $id: 'http://example.com/again', title: '2' }]
  const leads = new Leads({ $id: 'http://example.com/root', $defs: { s, inner, again }, properties: Object.fromEntries(Object.entries(refs).map(([name, [ref]]) => [name, ref])) })
  for (const [what, [ref, to]] of Object.entries(refs)) t.strictSame(leads.of(ref as never), to, what)
  t.strictSame([inner.properties.a, inner.properties.b].map(ref => leads.of(ref)), [[x], [inner]])
  t.strictSame(leads.of(inner.properties.c), again)
})
