import { Type } from '@sinclair/typebox'
import type { TProperties } from '@sinclair/typebox'
import type { Implementation, McpOptions, Prompt, Resource, Tool, Validator } from '../types/index.js'
import { MCP_ERR_OPTION } from './errors.js'
import { revisions } from './revisions/index.js'
import type { Revision } from './revisions/revision.js'
import { checkOf } from './validate.js'

const MINUTE = 60_000
const MIB = 1_048_576
const VERSION = '0.1.0'

const group = <T extends TProperties>(properties: T) => Type.Optional(Type.Object(properties, { additionalProperties: false }))
const count = (minimum = 0) => Type.Optional(Type.Integer({ minimum }))
const ms = () => Type.Optional(Type.Number({ minimum: 0 }))
const names = () => Type.Optional(Type.Union([Type.Literal('*'), Type.Array(Type.String({ minLength: 1 }))]))

const Options = Type.Object({
  serverInfo: Type.Optional(Type.Object({ name: Type.String({ minLength: 1 }), version: Type.String({ minLength: 1 }) })),
  instructions: Type.Optional(Type.String()),
  path: Type.Optional(Type.String({ pattern: '^/' })),
  revisions: Type.Optional(Type.Array(Type.Union(revisions.map(one => Type.Literal(one.version))), { minItems: 1 })),
  tools: Type.Optional(Type.Array(Type.Unsafe<Tool>({ type: 'object' }))),
  resources: Type.Optional(Type.Array(Type.Unsafe<Resource>({ type: 'object' }))),
  prompts: Type.Optional(Type.Array(Type.Unsafe<Prompt>({ type: 'object' }))),
  sessions: Type.Optional(Type.Union([Type.Literal(false), Type.Object({ idle: ms(), max: count() }, { additionalProperties: false })])),
  httpSse: Type.Optional(Type.Boolean()),
  sse: group({ keepAlive: Type.Optional(Type.Number({ minimum: 1 })), after: ms(), maxBuffered: count(1) }),
  hosts: names(),
  origins: names(),
  pageSize: count(1),
  cache: group({ ttlMs: count(), cacheScope: Type.Optional(Type.Union([Type.Literal('public'), Type.Literal('private')])) }),
  limits: group({ body: count(1), batch: count(1), streams: count(1), toolTimeout: ms(), resource: count(1) }),
  requestState: group({ keys: Type.Optional(Type.Array(Type.Unsafe<Key>({}), { minItems: 1 })), ttl: Type.Optional(Type.Number({ minimum: 1 })) }),
  closeTimeout: ms(),
  validator: Type.Optional(Type.Unsafe<Validator>({ type: 'object', required: ['compile'] })),
  prefix: Type.Optional(Type.String()),
  logLevel: Type.Optional(Type.String()),
  logSerializers: Type.Optional(Type.Unsafe<object>({ type: 'object' }))
}, { additionalProperties: false })

type Key = string | Uint8Array

function keyOf (key: Key): Uint8Array {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : key
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32) throw new MCP_ERR_OPTION('option /requestState/keys must have 32 bytes each, as a Buffer or as base64')
  return bytes
}

/** The options with their defaults. */
export interface Settings {
  serverInfo: Implementation
  instructions: string | undefined
  path: string
  revisions: Revision[]
  tools: readonly Tool[]
  resources: readonly Resource[]
  prompts: readonly Prompt[]
  sessions: { idle: number, max: number } | false
  httpSse: boolean
  sse: { keepAlive: number, after: number, maxBuffered: number }
  hosts: readonly string[] | '*'
  origins: readonly string[] | '*'
  pageSize: number
  cache: { ttlMs: number, cacheScope: 'public' | 'private' }
  limits: { body: number, batch: number, streams: number, toolTimeout: number, resource: number }
  requestState: { keys: Uint8Array[], ttl: number }
  closeTimeout: number
  validator: Validator | undefined
}

/** @throws MCP_ERR_OPTION that names the option, what it must be and what it is */
export function settle (options: McpOptions, bodyLimit: number): Settings {
  const problem = checkOf(Options as unknown as Record<string, unknown>)(options)
  if (problem !== undefined) throw new MCP_ERR_OPTION(`option ${problem}`)
  const { sessions = {}, sse, cache, limits } = options
  const wanted = options.revisions ?? revisions.map(one => one.version)
  return {
    serverInfo: options.serverInfo ?? { name: 'fastify-mcp-plugin', version: VERSION },
    instructions: options.instructions,
    path: options.path ?? '/mcp',
    revisions: revisions.filter(one => wanted.includes(one.version)),
    tools: options.tools ?? [],
    resources: options.resources ?? [],
    prompts: options.prompts ?? [],
    sessions: sessions && { idle: sessions.idle ?? 30 * MINUTE, max: sessions.max ?? 10_000 },
    httpSse: options.httpSse ?? sessions !== false,
    sse: { keepAlive: sse?.keepAlive ?? 15_000, after: sse?.after ?? 1_000, maxBuffered: sse?.maxBuffered ?? 4 * MIB },
    hosts: options.hosts ?? [],
    origins: options.origins ?? [],
    pageSize: options.pageSize ?? 1_000,
    cache: { ttlMs: cache?.ttlMs ?? MINUTE, cacheScope: cache?.cacheScope ?? 'public' },
    limits: { body: limits?.body ?? bodyLimit, batch: limits?.batch ?? 100, streams: limits?.streams ?? 10_000, toolTimeout: limits?.toolTimeout ?? 5 * MINUTE, resource: limits?.resource ?? 16 * MIB },
    requestState: { keys: (options.requestState?.keys ?? []).map(keyOf), ttl: options.requestState?.ttl ?? 10 * MINUTE },
    closeTimeout: options.closeTimeout ?? 1_000,
    validator: options.validator
  }
}
