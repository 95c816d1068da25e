import { Type } from '@sinclair/typebox'
import type { AuthOptions, Broker, Implementation, McpOptions, Prompt, RedisClient, RedisOptions, Resource, Store, Tool, Validator } from '../types/index.js'
import { hostsOf, originsOf } from './allowed.js'
import { MCP_ERR_OPTION } from './errors.js'
import { Auth, checkAuth } from './options/auth.js'
import { count, group, ms, secret, text, timer } from './options/kinds.js'
import { sharedOf } from './options/processes.js'
import type { Shared } from './options/processes.js'
import { kindOf, preview } from './preview.js'
import { revisions } from './revisions/index.js'
import type { Revision } from './revisions/revision.js'
import { Icons } from './schemas/definition.js'
import { checkOf } from './validate.js'

const MINUTE = 60_000
const MIB = 1_048_576
const VERSION = '0.1.0'

const names = () => Type.Optional(Type.Union([Type.Literal('*'), Type.Array(text())]))

const Options = Type.Object({
  serverInfo: group({
    name: text(),
    version: text(),
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    icons: Type.Optional(Icons),
    websiteUrl: Type.Optional(Type.String())
  }),
  instructions: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
  revisions: Type.Optional(Type.Array(Type.Union(revisions.map(one => Type.Literal(one.version))), { minItems: 1 })),
  tools: Type.Optional(Type.Array(Type.Unsafe<Tool>({ type: 'object' }))),
  resources: Type.Optional(Type.Array(Type.Unsafe<Resource>({ type: 'object' }))),
  prompts: Type.Optional(Type.Array(Type.Unsafe<Prompt>({ type: 'object' }))),
  sessions: Type.Optional(Type.Union([Type.Literal(false), Type.Object({ idle: ms(1), max: count(1), maxPerCaller: count(1) }, { additionalProperties: false })])),
  httpSse: Type.Optional(Type.Boolean()),
  sse: group({ keepAlive: timer(1), after: ms(), maxBuffered: count(1), replay: group({ events: count(1), size: count(1), ttl: ms() }) }),
  auth: Auth,
  hosts: names(),
  origins: names(),
  pageSize: count(1),
  cache: group({ ttlMs: count(), cacheScope: Type.Optional(Type.Union([Type.Literal('public'), Type.Literal('private')])) }),
  limits: group({ body: count(1), batch: count(1), streams: count(1), calls: count(1), questions: count(1), toolTimeout: ms(), resource: count(1) }),
  requestState: group({ keys: Type.Optional(Type.Array(Type.Unsafe<Key>(secret), { minItems: 1, ...secret })), ttl: ms(1) }),
  closeTimeout: timer(),
  redis: Type.Optional(Type.Unsafe<RedisClient | RedisOptions>(secret)),
  store: Type.Optional(Type.Unsafe<Store>(secret)),
  broker: Type.Optional(Type.Unsafe<Broker>(secret)),
  validator: Type.Optional(Type.Unsafe<Validator>({ type: 'object' })),
  prefix: Type.Optional(Type.String()),
  logLevel: Type.Optional(Type.String()),
  logSerializers: Type.Optional(Type.Unsafe<object>({ type: 'object' }))
}, { additionalProperties: false })

/** Routes of the app may have parameters; an endpoint has none, since clients and sessions know it by its URL. */
function pathOf (path = '/mcp'): string {
  if (!/^\/[^\s*:?#]*$/.test(path)) throw new MCP_ERR_OPTION(`option /path must begin with / and be the same for all requests, without * and :parameters, got ${preview(path)}`)
  return path
}

type Key = string | Uint8Array

function keyOf (key: Key, i: number): Uint8Array {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : key
  const got = bytes instanceof Uint8Array ? `it has ${bytes.length}` : `got ${kindOf(bytes)}`
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32) throw new MCP_ERR_OPTION(`option /requestState/keys/${i} must have 32 bytes, as a Buffer or as base64; ${got}`)
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
  sessions: { idle: number, max: number, maxPerCaller: number } | false
  httpSse: boolean
  sse: { keepAlive: number, after: number, maxBuffered: number, replay: { events: number, size: number, ttl: number } }
  auth: AuthOptions | undefined
  hosts: readonly string[] | '*'
  origins: readonly string[] | '*'
  pageSize: number
  cache: { ttlMs: number, cacheScope: 'public' | 'private' }
  limits: { body: number, batch: number, streams: number, calls: number, questions: number, toolTimeout: number, resource: number }
  requestState: { keys: Uint8Array[], ttl: number }
  closeTimeout: number
  shared: Shared
  validator: Validator | undefined
}

/** What helps beside what a schema says. */
const HINTS = [
  ['/requestState/keys must be array', '; give an array of keys, even of one'],
  ['/sessions/max must be >=', '; for none there is sessions: false']
] as const

function validatorOf (validator: Validator | undefined): Validator | undefined {
  if (validator !== undefined && typeof validator.compile !== 'function') throw new MCP_ERR_OPTION(`option /validator/compile must be a function, got ${preview(validator.compile)}`)
  return validator
}

/** @throws MCP_ERR_OPTION that names the option, what it must be and what it is */
export function settle (options: McpOptions, bodyLimit: number): Settings {
  const problem = checkOf(Options)(options)
  if (problem !== undefined) throw new MCP_ERR_OPTION(`option ${problem}${HINTS.find(([start]) => problem.startsWith(start))?.[1] ?? ''}`)
  const { sessions = {}, sse, cache, limits } = options
  const wanted = options.revisions ?? revisions.map(one => one.version)
  return {
    serverInfo: options.serverInfo ?? { name: 'fastify-mcp-plugin', version: VERSION },
    instructions: options.instructions,
    path: pathOf(options.path),
    revisions: revisions.filter(one => wanted.includes(one.version)),
    tools: options.tools ?? [],
    resources: options.resources ?? [],
    prompts: options.prompts ?? [],
    sessions: sessions && { idle: sessions.idle ?? 30 * MINUTE, max: sessions.max ?? 10_000, maxPerCaller: sessions.maxPerCaller ?? 1_000 },
    httpSse: options.httpSse ?? sessions !== false,
    sse: { keepAlive: sse?.keepAlive ?? 15_000, after: sse?.after ?? 1_000, maxBuffered: sse?.maxBuffered ?? MIB, replay: { events: sse?.replay?.events ?? 10_000, size: sse?.replay?.size ?? 2 * MIB, ttl: sse?.replay?.ttl ?? 5 * MINUTE } },
    auth: options.auth && checkAuth(options.auth),
    hosts: hostsOf(options.hosts),
    origins: originsOf(options.origins),
    pageSize: options.pageSize ?? 1_000,
    cache: { ttlMs: cache?.ttlMs ?? MINUTE, cacheScope: cache?.cacheScope ?? (options.auth === undefined ? 'public' : 'private') },
    limits: { body: limits?.body ?? bodyLimit, batch: limits?.batch ?? 100, streams: limits?.streams ?? 10_000, calls: limits?.calls ?? 1_000, questions: limits?.questions ?? 100, toolTimeout: limits?.toolTimeout ?? 5 * MINUTE, resource: limits?.resource ?? 16 * MIB },
    requestState: { keys: (options.requestState?.keys ?? []).map(keyOf), ttl: options.requestState?.ttl ?? 10 * MINUTE },
    closeTimeout: options.closeTimeout ?? 1_000,
    shared: sharedOf(options),
    validator: validatorOf(options.validator)
  }
}
