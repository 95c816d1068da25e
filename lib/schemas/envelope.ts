import { Type } from '@sinclair/typebox'

// What comes in beside the params of a method. Unknown members are always allowed: newer clients send more.

/** The keys of `_meta` that 2026-07-28 reserves (basic/index, `_meta`). */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId'
} as const

/** RFC 5424 severities, the least severe first. */
export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

export const Level = Type.Union(LEVELS.map(level => Type.Literal(level)))
export const Implementation = Type.Object({ name: Type.String(), version: Type.String() })
/** Any object; a record of patterns would test every key. */
export const AnyObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' })

/** `_meta` of a request of 2026-07-28 and later (basic/index, Per-request protocol fields). */
export const RequestMeta = Type.Object({
  [META.protocolVersion]: Type.String(),
  [META.clientCapabilities]: AnyObject,
  [META.clientInfo]: Type.Optional(Implementation),
  [META.logLevel]: Type.Optional(Level)
})
