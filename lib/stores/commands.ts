import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { RedisClient } from '../../types/index.js'

// Commands of Redis with an end: a client queues without bound while its connection is away, so how long one may take is decided here.

export interface Script { readonly text: string, readonly sha: string }
export const script = (text: string): Script => ({ text, sha: createHash('sha1').update(text).digest('hex') })

/** While nothing is answered, Redis is asked whether that has changed, this many ms after it has last said nothing. */
const PROBE = 250

interface Waiting { deadline: number, expire (): void }

/** Refusals of one command. Others tell of the state of the server, and end when any writing is taken again. */
const ITS_OWN = /^(NOPERM|WRONGTYPE|ERR(?!.* -[A-Z]{3}))\b/
/** The plainest writing there is; every process does it every few seconds. */
const WRITING = 'SET'

/** What the health of the connection is, and since when. */
export interface RedisHealth { ok: boolean, since: number, error: string | undefined }

export class Commands {
  private readonly redis: RedisClient
  private readonly timeout: number
  private readonly waiting = new Set<Waiting>()
  private readonly told: (health: RedisHealth) => void
  private timer: NodeJS.Timeout | undefined
  /** Why there is no answer at all. */
  private away: string | undefined
  /** Until when commands are sent though the connection is lost, since it may be back in time; in ms of Date.now(). */
  private hope = 0
  private probing = false
  /** What Redis does not do, by the command, and why. */
  private readonly refused = new Map<string, string>()
  health: RedisHealth = { ok: true, since: Date.now(), error: undefined }

  /**
   * @param timeout ms that a command may take
   * @param told hears when the connection is lost or a command refused, and when all is well again
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
  async run (command: string, ...args: (string | number)[]): Promise<unknown> { return await this.send(command, command, args) }

  async script ({ text, sha }: Script, keys: string[], args: (string | number)[]): Promise<unknown> {
    try {
      return await this.send(sha, 'EVALSHA', [sha, keys.length, ...keys, ...args])
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error
      return await this.send(sha, 'EVAL', [text, keys.length, ...keys, ...args])
    }
  }

  /** Gives the client back as it was. */
  close (): void {
    this.redis.off('error', this.onError)
    this.away = undefined
    clearInterval(this.timer)
    for (const one of this.waiting) one.expire()
  }

  /** @param name a script is one of several commands */
  private async send (name: string, command: string, args: (string | number)[]): Promise<unknown> {
    const now = Date.now()
    if (this.away !== undefined && now >= this.hope) throw new Error(`Redis does not answer: ${this.away}`)
    return await this.bounded(this.redis.call(command, ...args), name, this.away === undefined ? now + this.timeout : this.hope)
  }

  private bounded (answer: Promise<unknown>, name: string, deadline: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { deadline, expire: () => reject(new Error(`Redis has not answered in ${this.timeout} ms`)) }
      this.waiting.add(one)
      this.timer ??= setInterval(() => this.sweep(Date.now()), Math.min(50, this.timeout))
      const done = () => {
        this.waiting.delete(one)
        this.rest()
      }
      answer.then(
        value => { done(); this.taken(name); resolve(value) },
        (error: Error) => {
          done()
          const said = bare(error)
          // A refusal is an answer; without a connection there is none.
          if (said.name === 'ReplyError') this.refuses(name, said.message)
          else this.lost(said.message)
          reject(said)
        })
    })
  }

  private readonly onError = (error: Error): void => {
    this.lost(error.message === '' ? String((error as { code?: string }).code) : error.message, Date.now() + this.timeout)
  }

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

  private taken (name: string): void {
    this.away = undefined
    if (this.refused.size > 0) {
      for (const [one, why] of this.refused) if (one === name || (name === WRITING && !ITS_OWN.test(why))) this.refused.delete(one)
    }
    this.settle()
  }

  private refuses (name: string, why: string): void {
    this.away = undefined
    if (!why.startsWith('NOSCRIPT')) this.refused.set(name, why)
    this.settle()
  }

  private lost (error: string, hope = 0): void {
    if (this.away === undefined) this.hope = hope
    this.away ??= error
    this.probe().catch(() => {})
    this.settle()
  }

  /** Nobody's command has to find out when there are answers again. */
  private async probe (): Promise<void> {
    if (this.probing) return
    this.probing = true
    while (this.away !== undefined) {
      await pause(PROBE, undefined, { ref: false })
      const silent = await this.redis.call('PING').then(() => false, (error: Error) => error.name !== 'ReplyError')
      if (!silent) this.away = undefined
    }
    this.probing = false
    this.settle()
  }

  private settle (): void {
    const { away, health } = this
    const [why] = this.refused.values()
    const error = away ?? (why === undefined ? undefined : `refused: ${why}`)
    if (error === health.error) return
    const ok = error === undefined
    this.health = { ok, since: ok === health.ok ? health.since : Date.now(), error }
    if (ok !== health.ok) this.told(this.health)
  }
}

/** An error without the command, whose arguments are what users say: clients put it beside the message, and Redis puts it into some. */
function bare ({ name, message, code }: Error & { code?: unknown }): Error {
  const said = message.replace(/,? with args beginning with:.*$/s, '')
  return Object.assign(new Error(said), { name }, typeof code === 'string' ? { code } : undefined)
}
