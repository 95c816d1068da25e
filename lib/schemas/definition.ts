import { Type } from '@sinclair/typebox'
import { MAX_TIMER } from './time.js'

// What an author says of the server, of a tool, a resource or a prompt, as clients take it (2026-07-28 schema: Icon, Annotations, ToolAnnotations, Implementation).

const text = () => Type.Optional(Type.String())
const hint = () => Type.Optional(Type.Boolean())
const several = () => Type.Optional(Type.Integer({ minimum: 1 }))

export const Icons = Type.Array(Type.Object({
  src: Type.String({ minLength: 1 }),
  mimeType: text(),
  sizes: Type.Optional(Type.Array(Type.String())),
  theme: Type.Optional(Type.Union([Type.Literal('light'), Type.Literal('dark')]))
}))

/** Clients refuse a date in another form, and with it all that stands beside it. */
const Annotations = Type.Object({
  audience: Type.Optional(Type.Array(Type.Union([Type.Literal('user'), Type.Literal('assistant')]))),
  priority: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  lastModified: Type.Optional(Type.String({ format: 'date-time' })),
  title: text(),
  readOnlyHint: hint(),
  destructiveHint: hint(),
  idempotentHint: hint(),
  openWorldHint: hint()
})

/** The members that lists show: one schema for all of them, since those that two have in common are of one type. */
export const Shown = Type.Object({
  title: text(),
  description: text(),
  mimeType: text(),
  size: Type.Optional(Type.Integer({ minimum: 0 })),
  annotations: Type.Optional(Annotations),
  icons: Type.Optional(Icons),
  _meta: Type.Optional(Type.Object({}))
})

/** What a call of a tool may cost. */
export const Costs = Type.Object({
  concurrency: several(),
  rateLimit: Type.Optional(Type.Object({ max: Type.Integer({ minimum: 1 }), timeWindow: Type.Integer({ minimum: 1, maximum: MAX_TIMER }) }, { additionalProperties: false })),
  maxResultBytes: several()
})
