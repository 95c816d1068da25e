import { LRUCache } from 'lru-cache'
import type { AuthInfo } from '../../types/index.js'

/** How many tokens are remembered; the least used go first. */
const MAX_TOKENS = 10_000

/** Tokens that were checked, for a while and never beyond their end. Several requests with one new token check it once. */
export class Tokens {
  private readonly cache: LRUCache<string, AuthInfo>
  private readonly verify: (token: string) => Promise<AuthInfo>
  private readonly ttl: number

  /** @param ttl how long one counts, in ms; 0: each time it is checked again */
  constructor (verify: (token: string) => Promise<AuthInfo>, ttl: number) {
    this.verify = verify
    this.ttl = ttl
    this.cache = new LRUCache({
      max: MAX_TOKENS,
      fetchMethod: async (token, _, { options }) => {
        const caller = await verify(token)
        options.ttl = Math.max(1, Math.min(this.ttl, (caller.expiresAt ?? Number.POSITIVE_INFINITY) - Date.now()))
        return caller
      }
    })
  }

  /** At once where it is known. */
  find (token: string): AuthInfo | Promise<AuthInfo> {
    if (this.ttl === 0) return this.verify(token)
    return this.cache.get(token) ?? this.cache.fetch(token) as Promise<AuthInfo>
  }
}
