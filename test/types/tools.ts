// A tool and what it says about itself; tools together.
import { Type } from '@sinclair/typebox'
import { defineTool } from 'fastify-mcp-plugin'
import type { FastifyInstance } from 'fastify'
import type { Confirm, Context, McpOptions, RateLimit, Tool, ToolAnnotations } from 'fastify-mcp-plugin'
import { is } from './equal.js'

const full = defineTool({
  name: 'full',
  title: 'Full',
  description: 'Has everything.',
  inputSchema: Type.Object({ a: Type.String() }),
  outputSchema: Type.Object({ a: Type.String() }),
  annotations: { title: 'Full', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  icons: [{ src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }],
  _meta: { 'a.example/b': 1 },
  timeout: 1000,
  handler: ({ a }) => ({ a })
})
const limited = defineTool({
  name: 'limited',
  inputSchema: Type.Object({ to: Type.String() }),
  annotations: { destructiveHint: true },
  concurrency: 4,
  rateLimit: { max: 10, timeWindow: 60_000 },
  maxResultBytes: 1_048_576,
  confirm: ({ to }, ctx) => { is<string>()(to); is<Context>()(ctx); return `Write to ${to}?` },
  handler: ({ to }) => { is<string>()(to); return to }
})
const confirmed = defineTool({
  name: 'confirmed',
  inputSchema: Type.Object({ n: Type.Integer() }),
  outputSchema: Type.Object({ n: Type.Integer() }),
  confirm ({ n }) { is<number>()(n); is<FastifyInstance>()(this); return `${n}?` },
  handler: ({ n }) => ({ n })
})
const asked = [defineTool({ name: 'asked', confirm: true, handler: () => 'ok' }), defineTool({ name: 'asked_so', confirm: 'Sure?', outputSchema: Type.Object({}), handler: () => ({}) })]
const limit: RateLimit = { max: 1, timeWindow: 1000 }
const says: Confirm<{ a: number }> = ({ a }) => `${a}?`
const bare = defineTool({ name: 'bare', handler: () => 'ok' })
const plain = defineTool({ name: 'plain', inputSchema: { type: 'object' }, outputSchema: { type: 'object' }, handler: args => args })
const maybe: string | undefined = globalThis.process?.env.TITLE
const undecided = defineTool({ name: 'undecided', title: maybe, description: maybe, annotations: undefined, icons: undefined, _meta: undefined, timeout: undefined, concurrency: undefined, rateLimit: undefined, maxResultBytes: undefined, confirm: undefined, handler: () => 'ok' })

// Whatever their schemas, they are of one type.
is<Tool>()(full)
is<Tool>()(bare)
const tools: Tool[] = [full, limited, confirmed, ...asked, bare, plain, undecided, defineTool({ name: 'inline', inputSchema: Type.Object({ n: Type.Number() }), handler: ({ n }) => `${n}` })]
const options: McpOptions = { tools }
const more: McpOptions = { tools: [full, bare] as const }
is<string>()(full.name)
is<string | undefined>()(full.title)
is<ToolAnnotations | undefined>()(full.annotations)

// @ts-expect-error a tool stays as it is
full.name = 'other'
// @ts-expect-error only defineTool makes a tool
const made: Tool = { name: 'made', handler: () => 'ok' }
// @ts-expect-error only defineTool makes a tool
const given: McpOptions = { tools: [{ name: 'made', handler: () => 'ok' }] }
// @ts-expect-error a name is needed
defineTool({ handler: () => 'ok' })
// @ts-expect-error a handler is needed
defineTool({ name: 'x' })
// @ts-expect-error a handler is needed
defineTool({ name: 'x', outputSchema: Type.Object({}) })
// @ts-expect-error no such member
defineTool({ name: 'x', parameters: {}, handler: () => 'ok' })
// @ts-expect-error no such member, with an output schema
defineTool({ name: 'x', inputschema: Type.Object({}), outputSchema: Type.Object({}), handler: () => ({}) })
// @ts-expect-error no such hint
defineTool({ name: 'x', annotations: { readonlyHint: true }, handler: () => 'ok' })
// @ts-expect-error no such theme
defineTool({ name: 'x', icons: [{ src: 'a:b', theme: 'blue' }], handler: () => 'ok' })
// @ts-expect-error milliseconds
defineTool({ name: 'x', timeout: '1s', handler: () => 'ok' })
// @ts-expect-error a number of calls
defineTool({ name: 'x', concurrency: '4', handler: () => 'ok' })
// @ts-expect-error in how much time
defineTool({ name: 'x', rateLimit: { max: 1 }, handler: () => 'ok' })
// @ts-expect-error no such member
defineTool({ name: 'x', rateLimit: { max: 1, timeWindow: 1, window: 1 }, handler: () => 'ok' })
// @ts-expect-error milliseconds
defineTool({ name: 'x', rateLimit: { max: 1, timeWindow: '1 minute' }, handler: () => 'ok' })
// @ts-expect-error bytes
defineTool({ name: 'x', maxResultBytes: '1mb', handler: () => 'ok' })
// @ts-expect-error leave it out
defineTool({ name: 'x', confirm: false, handler: () => 'ok' })
// @ts-expect-error a text
defineTool({ name: 'x', confirm: () => 5, handler: () => 'ok' })
// @ts-expect-error no such argument
defineTool({ name: 'x', inputSchema: Type.Object({ a: Type.String() }), confirm: ({ b }) => b, handler: () => 'ok' })
// @ts-expect-error arguments are named
defineTool({ name: 'x', inputSchema: Type.Array(Type.String()), handler: () => 'ok' })
// @ts-expect-error arguments are named, with an output schema
defineTool({ name: 'x', inputSchema: Type.String(), outputSchema: Type.Object({}), handler: () => ({}) })
defineTool({ name: 'x', inputSchema: Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })]), handler: args => { is<{ a: string } | { b: number }>()(args); return 'ok' } })
defineTool({ name: 'x', inputSchema: Type.Record(Type.String(), Type.Number()), handler: ({ any }) => String(any) })
defineTool({ name: 'x', inputSchema: Type.Object({}), handler: () => 'ok' })

export { given, limit, made, more, options, says }
