import { Type } from '@sinclair/typebox'
import type { TProperties } from '@sinclair/typebox'
import type { AuthInfo, AuthOptions, Broker, Implementation, McpOptions, Prompt, RedisClient, RedisOptions, Resource, Store, Tool, Validator } from '../types/index.js'
import { hostsOf, originsOf } from './allowed.js'
import { callerProblem } from './auth/caller.js'
import { MCP_ERR_OPTION } from './errors.js'
import { revisions } from './revisions/index.js'
import type { Revision } from './revisions/revision.js'
import { Icons } from './schemas/definition.js'
import { checkOf } from './validate.js'

const MINUTE = 60_000
const MIB = 1_048_576
const VERSION = '0.1.0'

const group = <T extends TProperties>(properties: T) => Type.Optional(Type.Object(properties, { additionalProperties: false }))
const count = (minimum = 0) => Type.Optional(Type.Integer({ minimum }))
const ms = () => Type.Optional(Type.Number({ minimum: 0 }))
const names = () => Type.Optional(Type.Union([Type.Literal('*'), Type.Array(Type.String({ minLength: 1 }))]))

const strings = () => Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }))
const audiences = () => Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })])

const Options = Type.Object({
  serverInfo: group({
    name: Type.String({ minLength: 1 }),
    version: Type.String({ minLength: 1 }),
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
  sessions: Type.Optional(Type.Union([Type.Literal(false), Type.Object({ idle: ms(), max: count(), maxPerCaller: count(1) }, { additionalProperties: false })])),
  httpSse: Type.Optional(Type.Boolean()),
  sse: group({ keepAlive: Type.Optional(Type.Number({ minimum: 1 })), after: ms(), maxBuffered: count(1), replay: group({ events: count(1), size: count(1), ttl: ms() }) }),
  auth: Type.Optional(Type.Object({
    jwt: group({
      issuer: Type.String({ minLength: 1 }),
      audience: audiences(),
      jwksUri: Type.Optional(Type.String()),
      jwks: Type.Optional(Type.Object({ keys: Type.Array(Type.Object({}), { minItems: 1 }) })),
      algorithms: Type.Optional(Type.Array(Type.String({ pattern: '^(RS|PS|ES|Ed)' }), { minItems: 1 })),
      clockTolerance: count(),
      cacheTtl: ms()
    }),
    introspection: group({
      endpoint: Type.String(),
      clientId: Type.String({ minLength: 1 }),
      clientSecret: Type.String(),
      issuer: Type.String({ minLength: 1 }),
      audience: audiences(),
      timeout: count(1),
      cacheTtl: ms()
    }),
    authenticate: Type.Optional(Type.Unsafe<AuthOptions['authenticate']>({})),
    resource: Type.Optional(Type.String()),
    authorizationServers: strings(),
    scopes: Type.Optional(Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }), { minItems: 1 })),
    implies: Type.Optional(Type.Unsafe<AuthOptions['implies']>({})),
    denied: Type.Optional(Type.Union([Type.Literal('hide'), Type.Literal('show')])),
    dpop: Type.Optional(Type.Union([Type.Literal('accept'), Type.Literal('require')])),
    rootMetadata: Type.Optional(Type.Boolean()),
    stdio: Type.Optional(Type.Unsafe<AuthOptions['stdio']>({}))
  }, { additionalProperties: false })),
  hosts: names(),
  origins: names(),
  pageSize: count(1),
  cache: group({ ttlMs: count(), cacheScope: Type.Optional(Type.Union([Type.Literal('public'), Type.Literal('private')])) }),
  limits: group({ body: count(1), batch: count(1), streams: count(1), calls: count(1), questions: count(1), toolTimeout: ms(), resource: count(1) }),
  requestState: group({ keys: Type.Optional(Type.Array(Type.Unsafe<Key>({}), { minItems: 1 })), ttl: Type.Optional(Type.Number({ minimum: 1 })) }),
  closeTimeout: ms(),
  redis: Type.Optional(Type.Unsafe<RedisClient | RedisOptions>({})),
  store: Type.Optional(Type.Unsafe<Store>({ type: 'object' })),
  broker: Type.Optional(Type.Unsafe<Broker>({ type: 'object' })),
  validator: Type.Optional(Type.Unsafe<Validator>({ type: 'object', required: ['compile'] })),
  prefix: Type.Optional(Type.String()),
  logLevel: Type.Optional(Type.String()),
  logSerializers: Type.Optional(Type.Unsafe<object>({ type: 'object' }))
}, { additionalProperties: false })

/** Routes of the app may have parameters; an endpoint has none, since clients and sessions know it by its URL. */
function pathOf (path = '/mcp'): string {
  if (!/^\/[^\s*:?#]*$/.test(path)) throw new MCP_ERR_OPTION(`option /path must begin with / and be the same for all requests, without * and :parameters, got ${JSON.stringify(path)}`)
  return path
}

type Key = string | Uint8Array

function keyOf (key: Key, i: number): Uint8Array {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : key
  const got = bytes instanceof Uint8Array ? `it has ${bytes.length}` : `it is a value of type ${typeof bytes}`
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32) throw new MCP_ERR_OPTION(`option /requestState/keys/${i} must have 32 bytes, as a Buffer or as base64; ${got}`)
  return bytes
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** @throws MCP_ERR_OPTION where it is none */
export function stdioCaller (caller: AuthInfo): AuthInfo {
  const problem = callerProblem(caller)
  if (problem !== undefined) throw new MCP_ERR_OPTION(`option /auth/stdio: ${problem}`)
  return caller
}

/** What a schema cannot say. */
function checked (auth: AuthOptions | undefined): AuthOptions | undefined {
  if (auth === undefined) return undefined
  const ways = [auth.jwt, auth.introspection, auth.authenticate].filter(one => one !== undefined)
  if (ways.length !== 1) throw new MCP_ERR_OPTION(`option /auth must have one of jwt, introspection and authenticate, it has ${ways.length}`)
  for (const name of ['authenticate', 'implies'] as const) if (auth[name] !== undefined && typeof auth[name] !== 'function') throw new MCP_ERR_OPTION(`option /auth/${name} must be a function`)
  if (auth.jwt !== undefined && (auth.jwt.jwksUri === undefined) === (auth.jwt.jwks === undefined)) throw new MCP_ERR_OPTION('option /auth/jwt must have one of jwksUri and jwks')
  if (auth.authenticate !== undefined && auth.dpop === 'require') throw new MCP_ERR_OPTION('option /auth/dpop cannot be demanded with /auth/authenticate, which checks what it wants itself')
  for (const [i, url] of (auth.authorizationServers ?? []).entries()) safe(`/auth/authorizationServers/${i}`, url)
  if (auth.stdio !== undefined && typeof auth.stdio !== 'function') stdioCaller(auth.stdio)
  safe('/auth/jwt/jwksUri', auth.jwt?.jwksUri)
  safe('/auth/introspection/endpoint', auth.introspection?.endpoint)
  if (auth.resource !== undefined && (!URL.canParse(auth.resource) || auth.resource.includes('#'))) throw new MCP_ERR_OPTION('option /auth/resource must be the absolute URL of the endpoint, without a fragment (RFC 9728 section 1.2)')
  return auth
}

/** Keys and tokens travel encrypted, but on the machine itself. */
function safe (name: string, url: string | undefined): void {
  if (url === undefined) return
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname))) throw new MCP_ERR_OPTION(`option ${name} must be a URL of https, or of http on a loopback address`)
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
  /** Where processes keep what they share; undefined where there is one. */
  shared: { client: RedisClient, prefix: string | undefined, timeout: number } | { store: Store, broker: Broker } | undefined
  validator: Validator | undefined
}

const STORE = ['get', 'set', 'swap', 'delete', 'append', 'read']
const REDIS = 'a client or a cluster of ioredis, or { client, prefix, timeout }'
const BROKER = ['publish', 'subscribe', 'close']
const lacks = (value: object, names: string[]) => names.filter(name => typeof (value as Record<string, unknown>)[name] !== 'function').join(', ')

function sharedOf ({ redis, store, broker }: McpOptions): Settings['shared'] {
  if (redis !== undefined) {
    if (typeof redis !== 'object' || redis === null) throw new MCP_ERR_OPTION(`option /redis must be ${REDIS}, got ${typeof redis}`)
    if (store !== undefined || broker !== undefined) throw new MCP_ERR_OPTION('option /redis takes the place of /store and /broker; give the one or the others')
    const { client, prefix, timeout = 2_000, ...strange } = 'call' in redis ? { client: redis } : redis
    if (typeof client !== 'object' || client === null || lacks(client, ['call', 'duplicate', 'on', 'off']) !== '') throw new MCP_ERR_OPTION(`option /redis must be ${REDIS}`)
    const [name] = Object.keys(strange)
    if (name !== undefined) throw new MCP_ERR_OPTION(`option /redis/${name} is not a known property; known: client, prefix, timeout`)
    if (prefix !== undefined && !(typeof prefix === 'string' && /^[^{}]+$/.test(prefix))) throw new MCP_ERR_OPTION(`option /redis/prefix must be a string of one character or more, without braces, got ${JSON.stringify(prefix)}`)
    if (!(typeof timeout === 'number' && timeout > 0)) throw new MCP_ERR_OPTION(`option /redis/timeout must be a number of ms, got ${JSON.stringify(timeout)}`)
    return { client, prefix, timeout }
  }
  if (store === undefined && broker === undefined) return undefined
  if (store === undefined || broker === undefined) throw new MCP_ERR_OPTION('options /store and /broker go together')
  const missing = [lacks(store, STORE), lacks(broker, BROKER)].join(' ').trim()
  if (missing !== '') throw new MCP_ERR_OPTION(`options /store and /broker have no ${missing}`)
  return { store, broker }
}

/** @throws MCP_ERR_OPTION that names the option, what it must be and what it is */
export function settle (options: McpOptions, bodyLimit: number): Settings {
  const problem = checkOf(Options)(options)
  if (problem !== undefined) throw new MCP_ERR_OPTION(`option ${problem}`)
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
    sse: { keepAlive: sse?.keepAlive ?? 15_000, after: sse?.after ?? 1_000, maxBuffered: sse?.maxBuffered ?? 4 * MIB, replay: { events: sse?.replay?.events ?? 1_000, size: sse?.replay?.size ?? MIB, ttl: sse?.replay?.ttl ?? 5 * MINUTE } },
    auth: checked(options.auth),
    hosts: hostsOf(options.hosts),
    origins: originsOf(options.origins),
    pageSize: options.pageSize ?? 1_000,
    cache: { ttlMs: cache?.ttlMs ?? MINUTE, cacheScope: cache?.cacheScope ?? (options.auth === undefined ? 'public' : 'private') },
    limits: { body: limits?.body ?? bodyLimit, batch: limits?.batch ?? 100, streams: limits?.streams ?? 10_000, calls: limits?.calls ?? 1_000, questions: limits?.questions ?? 100, toolTimeout: limits?.toolTimeout ?? 5 * MINUTE, resource: limits?.resource ?? 16 * MIB },
    requestState: { keys: (options.requestState?.keys ?? []).map(keyOf), ttl: options.requestState?.ttl ?? 10 * MINUTE },
    closeTimeout: options.closeTimeout ?? 1_000,
    shared: sharedOf(options),
    validator: options.validator
  }
}
