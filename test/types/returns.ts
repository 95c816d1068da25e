// What a handler may return.
import { Type } from '@sinclair/typebox'
import { audio, defineTool, embedded, image, McpError, resourceLink, result, text, ToolError } from 'fastify-mcp-plugin'
import type { CallToolResult, ContentBlock, Output } from 'fastify-mcp-plugin'
import { expect } from './equal.js'
import type { Equal } from './equal.js'

const inputSchema = Type.Object({ wet: Type.Boolean() })
const outputSchema = Type.Object({
  celsius: Type.Number(),
  sky: Type.Union([Type.Literal('clear'), Type.Literal('rain')]),
  note: Type.Optional(Type.String()),
  hours: Type.Array(Type.Object({ at: Type.String(), wind: Type.Optional(Type.Union([Type.Literal('weak'), Type.Literal('strong')])) })),
  range: Type.Tuple([Type.Number(), Type.Number()])
})
const name = 'get_weather'

// With an output schema: the value, inline.
defineTool({ name, outputSchema, handler: () => ({ celsius: 1, sky: 'clear', hours: [], range: [0, 1] }) })
defineTool({ name, outputSchema, handler: async () => ({ celsius: 1, sky: 'rain', hours: [{ at: 'now', wind: 'weak' }], range: [0, 1] }) })
defineTool({ name, outputSchema, inputSchema, handler: ({ wet }) => ({ celsius: 1, sky: wet ? 'rain' : 'clear', note: 'ok', hours: [{ at: 'now' }], range: [0, 1] }) })
defineTool({ name, outputSchema, inputSchema, handler: async ({ wet }, ctx) => { await ctx.progress(1); return { celsius: 1, sky: wet ? 'rain' : 'clear', hours: [], range: [0, 1] } } })
defineTool({ name, outputSchema, inputSchema, handler ({ wet }) { return wet ? { celsius: 1, sky: 'rain', hours: [], range: [0, 1] } : { celsius: 2, sky: 'clear', hours: [], range: [0, 1], note: 'dry' } } })
defineTool({ name, outputSchema, async handler () { return { celsius: 1, sky: 'clear', hours: [], range: [0, 1] } } })
defineTool({ name, outputSchema, handler: function () { return { celsius: 1, sky: 'clear', hours: [], range: [0, 1] } } })
defineTool({
  name,
  outputSchema,
  inputSchema,
  handler ({ wet }) {
    const sky = wet ? 'rain' : 'clear'
    if (sky === 'rain') return { celsius: 1, sky, hours: [], range: [0, 1] }
    return { celsius: 2, sky, hours: [], range: [0, 1], note: 'dry' }
  }
})

// The value, from elsewhere.
interface Weather { celsius: number, sky: 'clear' | 'rain', note?: string, hours: { at: string }[], range: [number, number] }
declare const weather: Weather
declare const frozen: { readonly celsius: 1, readonly sky: 'clear', readonly hours: readonly { readonly at: 'now' }[], readonly range: readonly [1, 2] }
declare function ask (): Promise<Weather>
defineTool({ name, outputSchema, handler: () => weather })
defineTool({ name, outputSchema, handler: () => frozen })
defineTool({ name, outputSchema, handler: () => ask() })
defineTool({ name, outputSchema, handler: async () => await ask() })
defineTool({ name, outputSchema, handler: ask })
defineTool({ name, outputSchema, inputSchema, handler: ({ wet }) => wet ? ask() : weather })
defineTool({ name, outputSchema, handler: async () => ({ ...await ask(), sky: 'rain' }) })

// A full result, alone or beside the value.
defineTool({ name, outputSchema, handler: () => result({ structuredContent: weather, content: [text('fine')] }) })
defineTool({ name, outputSchema, handler: async () => result({ isError: true, content: [text('no')], _meta: { 'a.example/b': 1 } }) })
defineTool({ name, outputSchema, inputSchema, handler: ({ wet }) => wet ? result({ isError: true }) : weather })
defineTool({ name, outputSchema, inputSchema, handler: async ({ wet }) => { if (wet) return result({ isError: true }); return { celsius: 1, sky: 'clear', hours: [], range: [0, 1] } } })
defineTool({ name, outputSchema, inputSchema, handler: ({ wet }) => { if (wet) return result({ isError: true }); return { celsius: 1, sky: 'clear', hours: [], range: [0, 1] } } })

// Only an error.
defineTool({ name, outputSchema, handler: () => { throw new ToolError('no') } })
defineTool({ name, outputSchema, handler: async () => { throw new McpError(-32602, 'no') } })
defineTool({ name, outputSchema, inputSchema, handler: ({ wet }) => { if (wet) throw new ToolError('no'); return weather } })

// A wrong value.
// @ts-expect-error a member is missing
defineTool({ name, outputSchema, handler: () => ({ celsius: 1, hours: [], range: [0, 1] }) })
// @ts-expect-error a member is missing
defineTool({ name, outputSchema, inputSchema, handler: async ({ wet }) => ({ celsius: wet ? 1 : 2, hours: [], range: [0, 1] }) })
// @ts-expect-error no such literal
defineTool({ name, outputSchema, handler: () => ({ celsius: 1, sky: 'snow', hours: [], range: [0, 1] }) })
// @ts-expect-error no such literal on one of two ways
defineTool({ name, outputSchema, inputSchema, handler: async ({ wet }) => ({ celsius: 1, sky: wet ? 'rain' : 'snow', hours: [], range: [0, 1] }) })
// @ts-expect-error a number is no string
defineTool({ name, outputSchema, handler: async () => ({ celsius: '1', sky: 'clear', hours: [], range: [0, 1] }) })
// @ts-expect-error an optional member of another type
defineTool({ name, outputSchema, handler: async () => ({ celsius: 1, sky: 'clear', hours: [], range: [0, 1], note: 1 }) })
// @ts-expect-error wrong within an array
defineTool({ name, outputSchema, handler: async () => ({ celsius: 1, sky: 'clear', hours: [{ at: 1 }], range: [0, 1] }) })
// @ts-expect-error no such literal within an array
defineTool({ name, outputSchema, handler: async () => ({ celsius: 1, sky: 'clear', hours: [{ at: 'now', wind: 'gale' }], range: [0, 1] }) })
// @ts-expect-error the tuple is too short
defineTool({ name, outputSchema, handler: async () => ({ celsius: 1, sky: 'clear', hours: [], range: [0] }) })
// @ts-expect-error wrong on one of two ways
defineTool({ name, outputSchema, inputSchema, handler ({ wet }) { if (wet) return { celsius: 1 }; return weather } })
// @ts-expect-error text is not the value
defineTool({ name, outputSchema, handler: () => 'fine' })
// @ts-expect-error content is not the value
defineTool({ name, outputSchema, handler: () => [text('fine')] })
// @ts-expect-error a result without its mark is not the value
defineTool({ name, outputSchema, handler: () => ({ content: [text('fine')], structuredContent: weather }) })
// @ts-expect-error nothing
defineTool({ name, outputSchema, handler: () => {} })
// @ts-expect-error nothing, later
defineTool({ name, outputSchema, handler: async () => {} })
// @ts-expect-error nothing on one of two ways
defineTool({ name, outputSchema, inputSchema, handler ({ wet }) { if (wet) return weather } })
// @ts-expect-error a promise within
defineTool({ name, outputSchema, handler: () => ({ ...weather, celsius: Promise.resolve(1) }) })

// Values that are no objects (2026-07-28), and unions.
defineTool({ name, outputSchema: Type.Array(Type.Number()), handler: () => [1, 2] })
defineTool({ name, outputSchema: Type.Number(), handler: async () => 1 })
defineTool({ name, outputSchema: Type.Null(), handler: async () => null })
defineTool({ name, outputSchema: Type.Union([Type.Object({ ok: Type.Literal(true), n: Type.Number() }), Type.Object({ ok: Type.Literal(false), why: Type.String() })]), inputSchema, handler: async ({ wet }) => wet ? { ok: true, n: 1 } : { ok: false, why: 'dry' } })
// @ts-expect-error the members of two branches
defineTool({ name, outputSchema: Type.Union([Type.Object({ ok: Type.Literal(true), n: Type.Number() }), Type.Object({ ok: Type.Literal(false), why: Type.String() })]), handler: async () => ({ ok: true, why: 'dry' }) })
defineTool({ name, outputSchema: Type.Recursive(Self => Type.Object({ value: Type.Number(), children: Type.Array(Self) })), handler: () => ({ value: 1, children: [{ value: 2, children: [] }] }) })
// @ts-expect-error wrong deep down
defineTool({ name, outputSchema: Type.Recursive(Self => Type.Object({ value: Type.Number(), children: Type.Array(Self) })), handler: () => ({ value: 1, children: [{ value: 2, children: [{ value: '3', children: [] }] }] }) })
defineTool({ name, outputSchema: Type.Object({ at: Type.Date(), any: Type.Unknown(), map: Type.Record(Type.String(), Type.Number()) }), handler: () => ({ at: new Date(), any: [{}], map: { a: 1 } }) })

// A plain schema: anything that can be written as JSON.
const plain = { type: 'object', properties: { a: { type: 'string' } } }
class Row { a = 1; toJSON () { return { a: this.a } } }
defineTool({ name, outputSchema: plain, handler: () => ({ a: 1, b: [null, 'x'] }) })
defineTool({ name, outputSchema: plain, handler: async () => ({ a: 1 }) })
defineTool({ name, outputSchema: plain, handler: () => weather })
defineTool({ name, outputSchema: plain, handler: () => ask() })
defineTool({ name, outputSchema: plain, handler: () => new Row() })
defineTool({ name, outputSchema: plain, handler: () => [1, new Date()] })
defineTool({ name, outputSchema: plain, handler: async () => null })
defineTool({ name, outputSchema: plain, handler: () => result({ isError: true }) })
// @ts-expect-error nothing
defineTool({ name, outputSchema: plain, handler: () => {} })
// @ts-expect-error nothing, later
defineTool({ name, outputSchema: plain, handler: async () => {} })
// @ts-expect-error not JSON
defineTool({ name, outputSchema: plain, handler: () => 1n })

// No output schema: a string, content, a full result.
defineTool({ name, handler: () => 'fine' })
defineTool({ name, handler: async () => 'fine' })
defineTool({ name, handler: () => text('fine') })
defineTool({ name, handler: () => ({ type: 'text', text: 'fine' }) })
defineTool({ name, handler: async () => ({ type: 'image', data: 'AA==', mimeType: 'image/png' }) })
defineTool({ name, handler: () => [text('fine'), image(Buffer.from('a'), 'image/png'), audio(new Uint8Array(1), 'audio/wav', { annotations: { audience: ['user'] } })] })
defineTool({ name, handler: async () => [resourceLink({ uri: 'a:b', name: 'b' }), embedded({ uri: 'a:b', text: 'b' })] })
defineTool({ name, handler: () => [] })
defineTool({ name, handler: () => ({ type: 'text', text: 'fine', annotations: { audience: ['user'], priority: 1 } }) })
defineTool({ name, handler: async () => ({ content: [{ type: 'resource_link', uri: 'a:b', name: 'b', icons: [{ src: 'a:b', sizes: ['any'] }] }] }) })
defineTool({ name, handler: () => { const blocks: ContentBlock[] = [text('fine')]; blocks.push(text('more')); return blocks } })
defineTool({ name, inputSchema, handler: async ({ wet }) => { const content: ContentBlock[] = []; if (wet) content.push(text('rain')); return { content } } })
defineTool({ name, handler: () => ({ content: [{ type: 'text', text: 'fine' }], isError: true, structuredContent: { a: 1 }, _meta: {} }) })
defineTool({ name, handler: async (): Promise<CallToolResult> => ({ content: [] }) })
defineTool({ name, handler: async () => result({ content: [text('fine')] }) })
defineTool({ name, inputSchema, handler: async ({ wet }) => wet ? 'rain' : [text('sun')] })
defineTool({ name, inputSchema, handler: ({ wet }) => wet ? Promise.resolve('rain') : text('sun') })
defineTool({ name, handler: () => { throw new ToolError('no') } })
defineTool({ name, handler: async () => { throw new ToolError('no') } })
// @ts-expect-error no plain value without an output schema
defineTool({ name, handler: () => ({ celsius: 1 }) })
// @ts-expect-error a number is no text
defineTool({ name, handler: async () => 1 })
// @ts-expect-error nothing
defineTool({ name, handler: () => {} })
// @ts-expect-error nothing, later
defineTool({ name, handler: async () => {} })
// @ts-expect-error nothing on one of two ways
defineTool({ name, inputSchema, handler: ({ wet }) => { if (wet) return 'rain' } })
// @ts-expect-error no such content
defineTool({ name, handler: () => ({ type: 'video', data: '' }) })
// @ts-expect-error its MIME type is missing
defineTool({ name, handler: () => [{ type: 'image', data: '' }] })
// @ts-expect-error strings are not content
defineTool({ name, handler: () => ['a', 'b'] })

// The helpers.
expect<Equal<ReturnType<typeof text>['type'], 'text'>>()
const blocks: ContentBlock[] = [text('a', { _meta: { a: 1 } }), embedded({ uri: 'a:b', blob: Buffer.from('b'), mimeType: 'a/b' }, { annotations: { priority: 1 } })]
for (const block of blocks) {
  if (block.type === 'resource') expect<Equal<typeof block.resource.uri, string>>()
  else if (block.type === 'text') expect<Equal<typeof block.text, string>>()
}
// @ts-expect-error either text or bytes
embedded({ uri: 'a:b' })
// @ts-expect-error not both
embedded({ uri: 'a:b', text: 'b', blob: 'AA==' })
// @ts-expect-error a name is needed
resourceLink({ uri: 'a:b' })
// @ts-expect-error no such member
resourceLink({ uri: 'a:b', name: 'b', mime: 'a/b' })
// @ts-expect-error a MIME type is needed
image('AA==')
// @ts-expect-error no such reader
text('a', { annotations: { audience: ['model'] } })

expect<Equal<Output<undefined>, Output<typeof plain>>>()
