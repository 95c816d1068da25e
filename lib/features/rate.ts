import { createHash, randomUUID } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import type { Exchange } from '../exchange.js'

// How often one caller may call one tool. The library is loaded by the first tool that has such a limit.

export interface RateLimit { readonly max: number, readonly timeWindow: number }

/** Counts one more under a key that lasts `ms` from its first time on: how many there are, and how many ms it has left. Rejects in a bounded time. */
export type Count = (key: string, ms: number) => Promise<[count: number, left: number]>

/** Callers of one tool that a process remembers: with more, the one that was quiet for longest is forgotten, and begins anew. */
const MAX_CALLERS = 10_000
/** Whoever uses this process without a request: the one client on its standard streams. */
const CONNECTION = randomUUID()

export class Rate {
  private readonly name: string
  private readonly limit: RateLimit
  private readonly shared: () => Count | undefined
  private limiter: Promise<RateLimiterAbstract> | undefined
  /** The quietest first. */
  private readonly callers = new Set<string>()
  private forget = (caller: string): void => { this.callers.delete(caller) }

  /** @param shared counts for all processes that serve the endpoint; asked at the first call */
  constructor (name: string, limit: RateLimit, shared: () => Count | undefined) {
    this.name = name
    this.limit = limit
    this.shared = shared
  }

  /** Counts a call; resolves to the ms after which it may be made again, 0 where it may go on. */
  async take (exchange: Exchange): Promise<number> {
    if (await counted(exchange)) return 0
    const caller = createHash('sha256').update(networkOf(exchange.caller ?? CONNECTION)).digest('base64url')
    const limiter = await (this.limiter ??= this.load())
    this.touch(caller)
    try {
      await limiter.consume(caller)
      return 0
    } catch (over) {
      if (over instanceof Error) throw over
      return Math.max(1, (over as { msBeforeNext: number }).msBeforeNext)
    }
  }

  private touch (caller: string): void {
    this.callers.delete(caller)
    this.callers.add(caller)
    const [quietest] = this.callers
    if (this.callers.size > MAX_CALLERS && quietest !== undefined) this.forget(quietest)
  }

  /** In Redis where there is one, and while it does not answer in memory, so that calls go on. */
  private async load (): Promise<RateLimiterAbstract> {
    const { name, limit: { max, timeWindow }, shared } = this
    const { default: RateLimiterMemory } = await import('rate-limiter-flexible/lib/RateLimiterMemory.js')
    const memory = new RateLimiterMemory({ points: max, duration: timeWindow / 1000 })
    this.forget = caller => {
      this.callers.delete(caller)
      memory.delete(caller)
    }
    const count = shared()
    if (count === undefined) return memory
    const { default: RateLimiterRedis } = await import('rate-limiter-flexible/lib/RateLimiterRedis.js')
    // All that it asks of a client. Its own script knows whole seconds alone; what it hands on as such is taken for ms here.
    const storeClient = { rlflxIncr: ([key = '', , ms]: string[]) => count(key, Number(ms)) }
    return new RateLimiterRedis({ storeClient, keyPrefix: `rate:${name}`, points: max, duration: timeWindow, insuranceLimiter: memory })
  }
}

/** Whether it is a round of a call that was counted: one for each answer, so whoever answers nothing, or the same once more, makes another call. */
async function counted ({ rounds, message, endpoint }: Exchange): Promise<boolean> {
  return rounds?.goesOn === true && await endpoint.states.first(message.params?.requestState as string)
}

/** Whoever has an address of IPv6 has 2⁶⁴ of them: those of one network count as one. */
function networkOf (caller: string): string {
  if (!isIPv6(caller)) return caller
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(caller) ?? []
  if (mapped !== undefined) return mapped
  const [before = [], after = []] = caller.split('::').map(part => part.split(':').filter(group => group !== ''))
  const between = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return [...before, ...between, ...after].slice(0, 4).map(group => parseInt(group, 16).toString(16)).join(':')
}
