import type { Broker, McpOptions, RedisClient, Store } from '../../types/index.js'
import { MCP_ERR_OPTION } from '../errors.js'
import { kindOf, preview } from '../preview.js'
import { MAX_TIMER } from '../schemas/time.js'

/** Where processes keep what they share; undefined where there is one. */
export type Shared = { client: RedisClient, prefix: string | undefined, timeout: number } | { store: Store, broker: Broker } | undefined

const METHODS = {
  '/redis': ['call', 'duplicate', 'on', 'off'],
  '/store': ['get', 'set', 'swap', 'delete', 'append', 'read'],
  '/broker': ['publish', 'subscribe', 'close']
}
const TIMEOUT = 2_000

/** @throws MCP_ERR_OPTION that shows nothing of a client, which may hold a password */
export function sharedOf ({ redis, store, broker }: McpOptions): Shared {
  if (redis !== undefined) {
    if (store !== undefined || broker !== undefined) throw new MCP_ERR_OPTION('option /redis takes the place of /store and /broker; give the one or the others')
    return redisOf(redis)
  }
  if (store === undefined && broker === undefined) return undefined
  if (store === undefined || broker === undefined) throw new MCP_ERR_OPTION(`options /store and /broker go together, got /${store === undefined ? 'broker' : 'store'} alone`)
  can('/store', 'a Store', store)
  can('/broker', 'a Broker', broker)
  return { store, broker }
}

function redisOf (redis: NonNullable<McpOptions['redis']>): Shared {
  const form = 'a client or a cluster of ioredis, or { client, prefix, timeout }'
  if (typeof redis !== 'object' || redis === null) throw new MCP_ERR_OPTION(`option /redis must be ${form}, got ${kindOf(redis)}`)
  if ('call' in redis || !('client' in redis)) { // a client of ioredis has a command of that name, too
    can('/redis', form, redis)
    return { client: redis as RedisClient, prefix: undefined, timeout: TIMEOUT }
  }
  const { client, prefix, timeout = TIMEOUT, ...strange } = redis
  can('/redis/client', 'a client or a cluster of ioredis', client)
  const [name] = Object.keys(strange)
  if (name !== undefined) throw new MCP_ERR_OPTION(`option /redis/${name} is not a known property; known: client, prefix, timeout`)
  if (prefix !== undefined && !(typeof prefix === 'string' && /^[^{}]+$/.test(prefix))) throw new MCP_ERR_OPTION(`option /redis/prefix must be a string of one character or more, without braces, got ${preview(prefix)}`)
  if (!(typeof timeout === 'number' && timeout >= 1 && timeout <= MAX_TIMER)) throw new MCP_ERR_OPTION(`option /redis/timeout must be a number of ms from 1 to ${MAX_TIMER}, got ${preview(timeout)}`)
  return { client, prefix, timeout }
}

function can (name: string, what: string, value: unknown): void {
  const methods = METHODS[name.replace(/\/client$/, '') as keyof typeof METHODS]
  if (typeof value !== 'object' || value === null) throw new MCP_ERR_OPTION(`option ${name} must be ${what}, got ${kindOf(value)}`)
  const missing = methods.filter(method => typeof (value as Record<string, unknown>)[method] !== 'function')
  if (missing.length > 0) throw new MCP_ERR_OPTION(`option ${name} must be ${what}, got an object without the method${missing.length > 1 ? 's' : ''} ${missing.join(', ')}`)
}
