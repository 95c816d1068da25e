// What a handler is given as arguments.
import { Type } from '@sinclair/typebox'
import type { TSchema } from '@sinclair/typebox'
import { defineTool } from 'fastify-mcp-plugin'
import type { Args } from 'fastify-mcp-plugin'
import { expect, is } from './equal.js'
import type { Equal } from './equal.js'

enum Colour { Red = 'red', Blue = 'blue' }

const inputSchema = Type.Object({
  text: Type.String(),
  count: Type.Integer({ minimum: 1 }),
  flag: Type.Boolean({ default: false }),
  maybe: Type.Optional(Type.Integer()),
  unit: Type.Union([Type.Literal('C'), Type.Literal('F')]),
  colour: Type.Enum(Colour),
  tags: Type.Array(Type.String()),
  pair: Type.Tuple([Type.Number(), Type.String()]),
  nothing: Type.Null(),
  anything: Type.Unknown(),
  words: Type.Record(Type.String(), Type.Number()),
  place: Type.Object({ name: Type.String(), at: Type.Optional(Type.Object({ lat: Type.Number(), lon: Type.Number() })) }),
  rows: Type.Array(Type.Object({ x: Type.Number(), y: Type.Optional(Type.String()) }))
})

defineTool({
  name: 'inferred',
  inputSchema,
  handler (args) {
    is<string>()(args.text)
    is<number>()(args.count)
    is<boolean>()(args.flag)
    is<number | undefined>()(args.maybe)
    is<'C' | 'F'>()(args.unit)
    is<Colour>()(args.colour)
    is<string[]>()(args.tags)
    is<[number, string]>()(args.pair)
    is<null>()(args.nothing)
    is<unknown>()(args.anything)
    is<string>()(args.place.name)
    is<number | undefined>()(args.place.at?.lat)
    is<{ x: number, y?: string }[]>()(args.rows)
    const words: { [key: string]: number } = args.words

    // @ts-expect-error no such member
    const nope = args.nope
    // @ts-expect-error a string is no number
    const number: number = args.text
    // @ts-expect-error it may be undefined
    const sure: number = args.maybe
    // @ts-expect-error it may be undefined
    const lat: number = args.place.at.lat
    // @ts-expect-error not one of the literals
    const kelvin: boolean = args.unit === 'K'
    return String([words, nope, number, sure, lat, kelvin])
  }
})

// Every way to write a handler.
defineTool({ name: 'arrow', inputSchema, handler: ({ text, maybe }) => { is<string>()(text); is<number | undefined>()(maybe); return text } })
defineTool({ name: 'async-arrow', inputSchema, handler: async ({ text }) => { is<string>()(text); return text } })
defineTool({ name: 'async-method', inputSchema, async handler ({ text }) { is<string>()(text); return text } })
defineTool({ name: 'function', inputSchema, handler: function ({ text }) { is<string>()(text); return text } })
defineTool({ name: 'handler-first', handler: ({ text }) => { is<string>()(text); return text }, inputSchema })
defineTool({ name: 'inline', inputSchema: Type.Object({ a: Type.Number() }), handler: ({ a }) => { is<number>()(a); return `${a}` } })

// A handler that stands by itself.
function standing ({ text, tags }: Args<typeof inputSchema>) { return text + tags.length }
defineTool({ name: 'standing', inputSchema, handler: standing })
defineTool({ name: 'standing-plain', inputSchema, handler: ({ text }: { text: string }) => text })
// @ts-expect-error its arguments are others
defineTool({ name: 'standing-other', inputSchema, handler: ({ text }: { text: number }) => `${text}` })

// Schemas that are put together.
defineTool({
  name: 'composed',
  inputSchema: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.Number()) })]),
  handler ({ a, b }) { is<string>()(a); is<number | undefined>()(b); return a }
})
defineTool({
  name: 'union',
  inputSchema: Type.Union([Type.Object({ by: Type.Literal('id'), id: Type.Number() }), Type.Object({ by: Type.Literal('name'), name: Type.String() })]),
  handler (args) {
    if (args.by === 'id') { is<number>()(args.id); return `${args.id}` }
    is<string>()(args.name)
    return args.name
  }
})
defineTool({
  name: 'recursive',
  inputSchema: Type.Recursive(Self => Type.Object({ value: Type.Number(), children: Type.Array(Self) })),
  handler (args) { is<number>()(args.value); is<number | undefined>()(args.children[0]?.children[0]?.value); return 'ok' }
})
defineTool({
  name: 'unsafe',
  inputSchema: Type.Unsafe<{ when: string }>({ type: 'object' }),
  handler (args) { is<{ when: string }>()(args); return args.when }
})
defineTool({
  name: 'empty',
  inputSchema: Type.Object({}),
  // @ts-expect-error no such member
  handler: args => `${args.a}`
})

// No schema, or a plain one: any object.
defineTool({ name: 'none', handler (args) { is<Record<string, unknown>>()(args); return 'ok' } })
defineTool({ name: 'none-given', inputSchema: undefined, handler (args) { is<Record<string, unknown>>()(args); return 'ok' } })
defineTool({
  name: 'plain',
  inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-note': 1 } }, required: ['a'], additionalProperties: false, 'x-mine': true },
  handler (args) {
    is<Record<string, unknown>>()(args)
    // @ts-expect-error nothing is known of it
    const a: string = args.a
    return a
  }
})
const constant = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: { enum: [1, 2] } }, required: ['a'] } as const
const widened = { type: 'object', properties: {} }
defineTool({ name: 'constant', inputSchema: constant, outputSchema: constant, handler (args) { is<Record<string, unknown>>()(args); return { a: 1 } } })
defineTool({ name: 'widened', inputSchema: widened, handler (args) { is<Record<string, unknown>>()(args); return 'ok' } })

// An interface of another package for JSON Schema.
interface JSONSchema7 { $id?: string, type?: 'object' | 'array' | ('object' | 'array')[], properties?: { [key: string]: JSONSchema7 | boolean }, required?: string[] }
declare const foreign: JSONSchema7
defineTool({ name: 'foreign', inputSchema: foreign, handler (args) { is<Record<string, unknown>>()(args); return 'ok' } })

// A schema of which nothing more is known.
declare const some: TSchema
defineTool({ name: 'some', inputSchema: some, outputSchema: some, handler (args) { is<Record<string, unknown>>()(args); return { a: 1 } } })

// A schema of another library is none.
interface StandardSchema { type: 'object', description?: string, '~standard': { version: 1 }, parse (value: unknown): { a: string } }
declare const standard: StandardSchema
// @ts-expect-error not JSON Schema
defineTool({ name: 'standard', inputSchema: standard, handler: () => 'ok' })
// @ts-expect-error not a schema
defineTool({ name: 'shape', inputSchema: { a: Type.String() }, handler: () => 'ok' })
// @ts-expect-error not a schema
defineTool({ name: 'string', inputSchema: 'object', handler: () => 'ok' })
// @ts-expect-error not a schema
defineTool({ name: 'array', inputSchema: [Type.Object({})], handler: () => 'ok' })

expect<Equal<Args<undefined>, Record<string, unknown>>>()
expect<Equal<Args<TSchema>, Record<string, unknown>>>()
