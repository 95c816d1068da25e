import { Type } from '@sinclair/typebox'
import type { Static, TProperties, TSchema } from '@sinclair/typebox'
import { AnyObject, Implementation, Level } from './envelope.js'

// The params of each method. null counts as absent where a member may be absent.

/** One type with null beside it, not a union: what is wrong is then said once. */
const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] }))
const params = <T extends TProperties>(properties: T) => Type.Object({ ...properties, _meta: nullable(AnyObject) })

export const NoParams = params({})
export const InitializeParams = params({
  protocolVersion: Type.String(),
  capabilities: Type.Optional(AnyObject),
  clientInfo: Type.Optional(Implementation)
})
export const ListParams = params({ cursor: nullable(Type.String()) })
/** Not repeated in what is said of it: only the tool or the prompt knows what of it is for nobody else. */
const unsaid = { 'x-sensitive': 'here' }
const Given = Type.Unsafe<Record<string, unknown>>({ ...AnyObject, ...unsaid })
export const CallToolParams = params({
  name: Type.String(),
  arguments: nullable(Given)
})
/** Longer ones are nobody's: a bound on what matching a template can cost (2026-07-28 server/resources, Security Considerations). */
const Uri = Type.String({ maxLength: 8_192 })
/** What a user filled in by hand: strings, whatever they stand for. */
const Filled = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string', ...unsaid }, ...unsaid })

export const ResourceParams = params({ uri: Uri })
export const GetPromptParams = params({ name: Type.String(), arguments: nullable(Given) })
export const CompleteParams = params({
  // Which of the two is needed depends on the type; the feature says so in better words than a union would.
  ref: Type.Object({ type: Type.Union([Type.Literal('ref/prompt'), Type.Literal('ref/resource')]), name: Type.Optional(Type.String()), uri: Type.Optional(Uri) }),
  argument: Type.Object({ name: Type.String(unsaid), value: Type.String(unsaid) }, unsaid),
  context: nullable(Type.Object({ arguments: nullable(Filled) }, unsaid))
})
export const SetLevelParams = params({ level: Level })
export const ListenParams = params({
  notifications: Type.Object({
    toolsListChanged: Type.Optional(Type.Boolean()),
    promptsListChanged: Type.Optional(Type.Boolean()),
    resourcesListChanged: Type.Optional(Type.Boolean()),
    resourceSubscriptions: Type.Optional(Type.Array(Type.String()))
  })
})
