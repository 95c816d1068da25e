import { CallTimeout } from './errors.js'
import type { Exchange } from './exchange.js'

const TICK = 50

interface Times { began: number, deadline: number, hold: number, over: Error | undefined }

/** The calls in flight of one endpoint. Timeouts are found by one sweep over them; a timer for each call would cost more than the call. */
export class Calls {
  private readonly open = new Map<Exchange, Times>()
  private readonly after: number
  private readonly expire: (exchange: Exchange, error: Error) => void
  private timer: NodeJS.Timeout | undefined
  private idle: (() => void)[] = []

  /**
   * @param after ms after which the connection of a call is kept alive
   * @param expire answers a call whose time is over
   */
  constructor (after: number, expire: (exchange: Exchange, error: Error) => void) {
    this.after = after
    this.expire = expire
  }

  get size (): number { return this.open.size }

  /**
   * A call that is there already keeps the time it began; how long it may take is known once its method has said so.
   *
   * @param over what it ends with then, if not with a CallTimeout
   */
  add (exchange: Exchange, over?: Error): void {
    const { timeout, method } = exchange
    const before = this.open.get(exchange)
    const { began, hold } = before ?? this.beginning(method?.brief === true)
    this.open.set(exchange, { began, deadline: timeout === 0 ? Infinity : began + timeout, hold, over: over ?? before?.over })
    this.timer ??= setInterval(() => this.sweep(Date.now()), TICK).unref()
  }

  /** Its time begins anew: what it took so far was its client's. */
  restart (exchange: Exchange, over?: Error): void { if (this.open.delete(exchange)) this.add(exchange, over) }

  /** Whether its time ends in another way than a CallTimeout: its handler does not run yet. */
  waits (exchange: Exchange): boolean { return this.open.get(exchange)?.over !== undefined }

  private beginning (brief: boolean) {
    const began = Date.now()
    return { began, hold: brief ? Infinity : began + this.after }
  }

  delete (exchange: Exchange): void {
    if (!this.open.delete(exchange) || this.open.size > 0) return
    for (const resolve of this.idle.splice(0)) resolve()
  }

  /** Resolves when nothing is in flight, or after `ms`. */
  async drained (ms: number): Promise<void> {
    if (this.open.size === 0) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => { timer = setTimeout(resolve, ms) })
    await Promise.race([late, new Promise<void>(resolve => this.idle.push(resolve))])
    clearTimeout(timer)
  }

  /** Answers all of them: their time is over. */
  stop (reason: Error): void { for (const exchange of [...this.open.keys()]) this.expire(exchange, reason) }

  private sweep (now: number): void {
    for (const [exchange, times] of [...this.open]) {
      if (times.deadline <= now) this.expire(exchange, times.over ?? new CallTimeout(exchange.timeout))
      else if (times.hold <= now) {
        times.hold = Infinity
        exchange.channel.hold()
      }
    }
    if (this.open.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}
