import { Type, type TSchema } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { formOf } from '../lib/form.js'
import type { Schema } from '../types/index.js'
import { thrown } from './support/thrown.js'
import { checkDefinition } from './support/wire.js'

const form = (properties: Record<string, TSchema>) => Type.Object(properties)
const raw = (schema: object) => Type.Unsafe(schema as never)
const literals = (...values: string[]) => Type.Union(values.map(value => Type.Literal(value)))
const titled = (...values: string[]) => Type.Union(values.map(value => Type.Literal(value, { title: value.toUpperCase() })))

/** What a client is shown of one field; it must be a form by the schema of the specification. */
function shown (t: Test, field: TSchema): unknown {
  const { requestedSchema } = formOf(form({ field }) as Schema)
  t.strictSame(checkDefinition('2026-07-28', 'ElicitRequestFormParams', { message: 'x', requestedSchema }), [])
  return (requestedSchema.properties as Record<string, unknown>).field
}

t.test('strings, numbers and booleans are shown as they are', async t => {
  const fields: Array<[TSchema, object]> = [
    [Type.String(), { type: 'string' }],
    [Type.String({ title: 'T', description: 'D', minLength: 1, maxLength: 9, default: 'x' }), { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 9, default: 'x' }],
    ...['email', 'uri', 'date', 'date-time'].map((format): [TSchema, object] => [Type.String({ format }), { type: 'string', format }]),
    [Type.Number({ minimum: 0, maximum: 1, default: 0.5 }), { type: 'number', minimum: 0, maximum: 1, default: 0.5 }],
    [Type.Integer({ minimum: -1, title: 'T', description: 'D' }), { type: 'integer', minimum: -1, title: 'T', description: 'D' }],
    [Type.Boolean({ default: false, description: 'D' }), { type: 'boolean', default: false, description: 'D' }]
  ]
  for (const [field, expected] of fields) t.strictSame(shown(t, field), expected)
})

t.test('each way to choose one', async t => {
  const fields: Array<[string, TSchema, object]> = [
    ['a union of literals', literals('a', 'b'), { type: 'string', enum: ['a', 'b'] }],
    ['with members of its own', Type.Union([Type.Literal('a'), Type.Literal('b')], { title: 'T', description: 'D', default: 'b' }), { type: 'string', title: 'T', description: 'D', default: 'b', enum: ['a', 'b'] }],
    ['a union of literals with titles', titled('a', 'b'), { type: 'string', oneOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] }],
    ['where one of them has a title', Type.Union([Type.Literal('a', { title: 'A' }), Type.Literal('b')]), { type: 'string', oneOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'b' }] }],
    ['Type.Enum', Type.Enum({ Red: 'red', Blue: 'blue' }), { type: 'string', enum: ['red', 'blue'] }],
    ['enum', raw({ type: 'string', enum: ['a', 'b'], default: 'a' }), { type: 'string', enum: ['a', 'b'], default: 'a' }],
    ['oneOf with titles', raw({ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }), { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }],
    ['enumNames of old', raw({ type: 'string', enum: ['a'], enumNames: ['A'] }), { type: 'string', enum: ['a'], enumNames: ['A'] }]
  ]
  for (const [title, field, expected] of fields) t.strictSame(shown(t, field), expected, title)
})

t.test('each way to choose several', async t => {
  const fields: Array<[string, TSchema, object]> = [
    ['an array of literals', Type.Array(literals('a', 'b'), { minItems: 1, maxItems: 2, default: ['a'] }), { type: 'array', minItems: 1, maxItems: 2, default: ['a'], items: { type: 'string', enum: ['a', 'b'] } }],
    ['of literals with titles', Type.Array(titled('a', 'b'), { title: 'T', description: 'D' }), { type: 'array', title: 'T', description: 'D', items: { anyOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] } }],
    ['of an enum', raw({ type: 'array', items: { type: 'string', enum: ['a'] } }), { type: 'array', items: { type: 'string', enum: ['a'] } }],
    ['of anyOf with titles', raw({ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }), { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }]
  ]
  for (const [title, field, expected] of fields) t.strictSame(shown(t, field), expected, title)
})

t.test('one literal is a choice of one', async t => {
  t.match(shown(t, Type.Literal('agreed')), { type: 'string', enum: ['agreed'] })
})

t.test('what is required and what may be left out', async t => {
  t.strictSame(formOf(form({ a: Type.String(), b: Type.Optional(Type.Integer()) }) as Schema).requestedSchema, {
    type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a']
  })
  t.strictSame(Object.keys(formOf(form({ b: Type.Optional(Type.Integer()) }) as Schema).requestedSchema), ['type', 'properties'])
  t.strictSame(formOf(form({}) as Schema).requestedSchema, { type: 'object', properties: {} }, 'a form may have no field: a question of yes or no')
})

t.test('a form is of the words of the specification alone; the answer is checked with all of the schema', async t => {
  const schema = Type.Object({ a: Type.String() }, { $id: 'form', title: 'T', description: 'D', additionalProperties: false })
  const { requestedSchema, validated } = formOf(schema as Schema)
  t.strictSame(Object.keys(requestedSchema), ['type', 'properties', 'required'])
  t.match(validated, { additionalProperties: false })
  t.strictSame(JSON.parse(JSON.stringify(requestedSchema)), requestedSchema, 'plain JSON')
  t.strictSame(Object.getOwnPropertySymbols((requestedSchema.properties as { a: object }).a), [], 'without the marks of TypeBox')
})

t.test('plain JSON Schema, and words of the author\'s own', async t => {
  const { requestedSchema } = formOf({ type: 'object', properties: { a: { type: 'string', 'x-widget': 'big' } }, required: ['a'] })
  t.match(requestedSchema, { properties: { a: { type: 'string', 'x-widget': 'big' } } })
})

t.test('a schema is read once, and never changed', async t => {
  const schema = form({ a: Type.Array(titled('a', 'b')), b: literals('x', 'y') }) as Schema
  const before = JSON.stringify(schema)
  t.equal(formOf(schema), formOf(schema))
  t.equal(JSON.stringify(schema), before)
  const frozen = Object.freeze({ type: 'object', properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }) })
  t.doesNotThrow(() => formOf(frozen))
})

const refused = (t: Test, schema: unknown, names: RegExp, title: string) =>
  t.match(thrown(() => formOf(schema as Schema)), { code: 'MCP_ERR_INPUT_SCHEMA', message: names }, title)

t.test('what no form can have is refused, and the field is named', async t => {
  const fields: Array<[string, TSchema]> = [
    ['an object', Type.Object({ a: Type.String() })],
    ['an array of strings', Type.Array(Type.String())],
    ['an array of objects', Type.Array(Type.Object({}))],
    ['an array of arrays', Type.Array(Type.Array(literals('a', 'b')))],
    ['an array of anything', raw({ type: 'array' })],
    ['a tuple', Type.Tuple([Type.String()])],
    ['null', Type.Null()],
    ['anything', Type.Unknown()],
    ['a record', Type.Record(Type.String(), Type.String())],
    ['a union of types', Type.Union([Type.String(), Type.Number()])],
    ['a union of numbers', Type.Union([Type.Literal(1), Type.Literal(2)])],
    ['an intersection', Type.Intersect([Type.String(), Type.String()])],
    ['several types', raw({ type: ['string', 'null'] })],
    ['no type', raw({ enum: ['a'] })],
    ['a reference', raw({ $ref: '#' })],
    ['a pattern', Type.String({ pattern: '^a$' })],
    ['another format', Type.String({ format: 'uuid' })],
    ['an exclusive bound', Type.Number({ exclusiveMinimum: 0 })],
    ['a step', Type.Integer({ multipleOf: 5 })],
    ['words of another type', Type.Boolean({ minLength: 1 })],
    ['elements that differ', Type.Array(literals('a', 'b'), { uniqueItems: true })],
    ['a condition', raw({ type: 'string', not: { const: 'x' } })],
    ['a schema without a word', raw({})]
  ]
  for (const [title, field] of fields) refused(t, form({ good: Type.String(), wrong: field }), /"wrong"|\/wrong/, title)
  refused(t, { type: 'object', properties: { good: { type: 'string' }, wrong: true } }, /"wrong"/, 'a schema that is no object')
})

t.test('choices that a client could not send back are refused', async t => {
  const fields: Array<[string, TSchema]> = [
    ['an array of numbers', raw({ type: 'array', items: { type: 'number', enum: [1, 2] } })],
    ['an array of a union of types', Type.Array(Type.Union([Type.Number(), Type.Boolean()]))],
    ['an array of oneOf of types', raw({ type: 'array', items: { oneOf: [{ type: 'number' }] } })],
    ['an enum of numbers', raw({ type: 'string', enum: [1, 2] })],
    ['oneOf without values', raw({ type: 'string', oneOf: [{ minLength: 1 }] })],
    ['a type in a list', raw({ type: ['string'] })]
  ]
  for (const [title, field] of fields) refused(t, form({ wrong: field }), /"wrong"|\/wrong/, title)
})

t.test('a choice whose values have no titles is shown with titles all the same', async t => {
  t.strictSame(shown(t, raw({ type: 'string', oneOf: [{ const: 'a' }, { const: 'b', title: 'B' }] })), { type: 'string', oneOf: [{ const: 'a', title: 'a' }, { const: 'b', title: 'B' }] })
})

t.test('a root that is no form', async t => {
  const roots: Array<[string, unknown]> = [
    ['a string', Type.String()], ['an array', Type.Array(Type.String())], ['nothing', {}], ['no properties', { type: 'object' }],
    ['an intersection', Type.Intersect([form({ a: Type.String() }), form({ b: Type.String() })])], ['a boolean', true], ['null', null], ['undefined', undefined], ['a text', 'x'],
    ['a schema of another library', { '~standard': {}, parse () {} }], ['a reference', { $ref: 'elsewhere' }], ['broken', { type: 'object', properties: { a: { type: 'text' } } }]
  ]
  for (const [title, schema] of roots) refused(t, schema, /elicit\(\) was given a schema/, title)
})

t.test('the error says what there may be', async t => {
  const message = (field: TSchema) => thrown(() => formOf(form({ age: field }) as Schema)).message
  t.match(message(Type.Object({})), /a string, a number, a boolean, an enumeration or an array of one.*object/)
  t.match(message(Type.String({ format: 'ipv4' })), /"ipv4".*email, uri, date, date-time/)
  t.match(message(Type.Number({ multipleOf: 2 })), /"multipleOf".*number.*minimum, maximum/)
  t.match(message(Type.Array(Type.String())), /items must be an enumeration/)
})
