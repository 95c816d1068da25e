import type { FastifyBaseLogger } from 'fastify'
import type { Broker, RedisClient, Store } from '../../types/index.js'
import type { RedisStore } from '../stores/redis.js'

/** Where processes keep what they share. */
export interface Backing {
  store: Store
  broker: Broker
  /** Counts for all processes, where it can. */
  count?: RedisStore['count']
  /** Resolves when it can be asked, or after a while without. */
  ready (): Promise<void>
  health (): Health
  close (): void
}

export interface Health { ok: boolean, since: number, error: string | undefined }

const FINE: Health = { ok: true, since: Date.now(), error: undefined }

export interface RedisSettings { client: RedisClient, prefix: string, timeout: number }

/** Redis as the backing of a cluster. One line of the log when it is lost or refuses what it is asked, and one when all is well again. */
export async function redisBacking ({ client, prefix, timeout }: RedisSettings, log: FastifyBaseLogger): Promise<Backing> {
  const [{ Commands }, { RedisStore }, { RedisBroker }] = await Promise.all([import('../stores/commands.js'), import('../stores/redis.js'), import('../brokers/redis.js')])
  const commands = new Commands(client, timeout, ({ ok, error }) => {
    if (ok) log.info('Redis serves again')
    else log.warn({ error }, 'Redis does not serve: sessions cannot be served as they should until it does')
  })
  const broker = new RedisBroker(client, commands, { prefix, timeout })
  const store = new RedisStore(commands, prefix)
  return { store, broker, count: (key, ms) => store.count(key, ms), ready: () => commands.ready(), health: () => commands.health, close: () => commands.close() }
}

export const givenBacking = (store: Store, broker: Broker): Backing => ({ store, broker, ready: async () => {}, health: () => FINE, close () {} })
