import { createHash } from 'node:crypto'
import type { RedisClient } from '../../types/index.js'

// Commands of Redis with an end: a client queues without bound while its connection is away, so how long one may take is decided here.

export interface Script { readonly text: string, readonly sha: string }
export const script = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') })

/** While nothing is answered, one command in this many ms is sent to find out whether that has changed. */
const PROBE = 250

interface Waiting { deadline: number, expire (): void }

/** What the health of the connection is, and since when. */
export interface RedisHealth { ok: boolean, since: number, error: string | undefined }

export class Commands {
  private readonly redis: RedisClient
  private readonly timeout: number
  private readonly waiting = new Set<Waiting>()
  private readonly told: (health: RedisHealth) => void
  private timer: NodeJS.Timeout | undefined
  private probed = 0
  health: RedisHealth = { ok: true, since: Date.now(), error: undefined }

  /**
   * @param timeout ms that a command may take
   * @param told hears when the connection is lost, and when it is back
   */
  constructor (redis: RedisClient, timeout: number, told: (health: RedisHealth) => void) {
    this.redis = redis
    this.timeout = timeout
    this.told = told
    redis.on('error', this.onError)
  }

  /**
   * Resolves when the client is connected, or after as long as a command may take: one without a queue for what comes before
   * (`enableOfflineQueue: false`) would refuse it, as if Redis were away.
   */
  async ready (): Promise<void> {
    const { redis } = this
    if (redis.status === 'ready' || redis.status === 'end') return
    // Made with `lazyConnect`: its first command connects it.
    if (redis.status === 'wait') redis.call('PING').catch(() => {})
    let timer: NodeJS.Timeout | undefined
    let done = () => {}
    await new Promise<void>(resolve => {
      done = resolve
      timer = setTimeout(resolve, this.timeout)
      redis.on('ready', done)
    })
    clearTimeout(timer)
    redis.off('ready', done)
  }

  /** @throws Error in the time a command may take; at once where the commands before have got no answer */
  async run (command: string, ...args: (string | number)[]): Promise<unknown> {
    const now = Date.now()
    if (!this.health.ok) {
      if (now - this.probed < PROBE) throw new Error(`Redis does not answer: ${this.health.error}`)
      this.probed = now
    }
    return await this.bounded(this.redis.call(command, ...args), now)
  }

  async script ({ text, sha }: Script, keys: string[], args: (string | number)[]): Promise<unknown> {
    try {
      return await this.run('EVALSHA', sha, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error
      return await this.run('EVAL', text, keys.length, ...keys, ...args)
    }
  }

  /** Gives the client back as it was. */
  close (): void {
    this.redis.off('error', this.onError)
    clearInterval(this.timer)
    for (const one of this.waiting) one.expire()
  }

  private bounded (answer: Promise<unknown>, now: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { deadline: now + this.timeout, expire: () => reject(new Error(`Redis has not answered in ${this.timeout} ms`)) }
      this.waiting.add(one)
      this.timer ??= setInterval(() => this.sweep(Date.now()), Math.min(50, this.timeout))
      const done = () => {
        this.waiting.delete(one)
        this.rest()
      }
      answer.then(
        value => { done(); this.answered(); resolve(value) },
        (error: Error) => {
          done()
          // A refusal is an answer; without a connection there is none.
          if (error.name === 'ReplyError') this.answered()
          else this.lost(error.message)
          reject(error)
        })
    })
  }

  private readonly onError = (error: Error): void => { this.lost(error.message === '' ? String((error as { code?: string }).code) : error.message) }

  private sweep (now: number): void {
    for (const one of this.waiting) {
      if (one.deadline > now) return
      this.waiting.delete(one)
      this.lost(`no answer in ${this.timeout} ms`)
      one.expire()
    }
    this.rest()
  }

  private rest (): void {
    if (this.waiting.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  private answered (): void { if (!this.health.ok) this.told(this.health = { ok: true, since: Date.now(), error: undefined }) }
  private lost (error: string): void {
    if (!this.health.ok) return
    this.probed = 0
    this.told(this.health = { ok: false, since: Date.now(), error })
  }
}
