import { Type } from '@sinclair/typebox'
import type { TProperties } from '@sinclair/typebox'
import { AnyObject } from './envelope.js'

// What clients answer to the questions of a server (2026-07-28 schema, CreateMessageResult and ListRootsResult). Unknown members are always allowed.

const data = { data: Type.String(), mimeType: Type.String() }
const block = (type: string, more: TProperties) => Type.Object({ type: Type.Literal(type), ...more })
const said = [
  block('text', { text: Type.String() }), block('image', data), block('audio', data),
  block('tool_use', { id: Type.String(), name: Type.String(), input: AnyObject }),
  block('tool_result', { toolUseId: Type.String(), content: Type.Array(AnyObject) })
]

export const SampleAnswer = Type.Object({
  role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]),
  model: Type.String(),
  content: Type.Union([...said, Type.Array(Type.Union(said))])
})

/** Directories and files alone, for now (client/roots, Root). */
export const RootsAnswer = Type.Object({ roots: Type.Array(Type.Object({ uri: Type.String({ pattern: '^file://' }), name: Type.Optional(Type.String()) })) })
