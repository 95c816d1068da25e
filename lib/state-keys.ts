import { createHash, randomBytes } from 'node:crypto'
import { reached } from './errors.js'
import type { Store } from '../types/index.js'

/** How long a key that processes share is kept after one of them last looked at it, in ms. */
const LIFE = 30 * 24 * 3_600_000
/** How long a process that uses it takes for granted that it is still the same, and how long where a state says that it is not, in ms. */
const LOOK = { seldom: 10_000, often: 1_000 }
/** Keys that processes have shared, each in place of the one before. */
const MAX_SHARED = 3

/** The keys of requestState: the first seals, all of them open. */
export class StateKeys {
  private known: Map<string, Uint8Array>
  private readonly store: Store | undefined
  private looked = 0
  private looking: Promise<void> | undefined

  /** @param store where processes share a key, if none is given */
  constructor (given: Uint8Array[], store?: Store) {
    this.known = new Map(given.map(key => [keyId(key), key]))
    this.store = given.length > 0 ? undefined : store
  }

  async first (): Promise<[kid: string, key: Uint8Array]> {
    await this.current(LOOK.seldom)
    return [...this.known][0] as [string, Uint8Array]
  }

  async find (kid: string): Promise<Uint8Array | undefined> {
    await this.current(this.known.has(kid) ? Infinity : LOOK.often)
    return this.known.get(kid)
  }

  /** The store may have lost the key, and have got another: this process puts its own back, or takes that one, too. */
  async renew (): Promise<void> { if (this.known.size > 0) await this.look() }

  private async look (): Promise<void> {
    if (this.store === undefined) return
    this.looking ??= this.share(this.store).finally(() => { this.looking = undefined })
    await this.looking
  }

  private async current (age: number): Promise<void> {
    if (this.known.size === 0) return await reached(this.look())
    // A key that is known is good enough while nobody can be asked.
    if (this.store !== undefined && Date.now() - this.looked > age) await this.look().catch(() => {})
  }

  private async share (store: Store): Promise<void> {
    this.looked = Date.now()
    for (;;) {
      const shared = await store.get('state-key', { touch: LIFE })
      if (shared !== undefined) return this.take(Buffer.from(shared, 'base64'))
      const [own = randomBytes(32)] = this.known.values()
      await store.swap('state-key', undefined, Buffer.from(own).toString('base64'), LIFE)
    }
  }

  private take (key: Uint8Array): void {
    const id = keyId(key)
    this.known.delete(id)
    this.known = new Map([[id, key] as const, ...this.known].slice(0, MAX_SHARED))
  }
}

/** Tells keys apart without telling them. */
const keyId = (key: Uint8Array): string => createHash('sha256').update('fastify-mcp-plugin.kid').update(key).digest('base64url').slice(0, 8)
