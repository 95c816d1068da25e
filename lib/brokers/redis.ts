import type { Broker, BrokerListener, RedisClient, RedisSubscriber } from '../../types/index.js'

/** How commands are sent; they have an end. */
interface Sender { run (command: string, ...args: (string | number)[]): Promise<unknown> }

/** A connection that says nothing for this long is asked whether it is still there, in ms. */
const PING = 5_000
const MAX_DELAY = 1_000

/** Redis as a broker. It listens on a connection of its own, which it renews for ever. */
export class RedisBroker implements Broker {
  private readonly sender: Sender
  private readonly subscriber: RedisSubscriber
  private readonly prefix: string
  private readonly timeout: number
  private readonly listeners = new Map<string, BrokerListener>()
  private readonly timer: NodeJS.Timeout
  private first: ((value: void) => void)[] = []
  private listening = false

  constructor (redis: RedisClient, sender: Sender, { prefix, timeout }: { prefix: string, timeout: number }) {
    this.sender = sender
    this.prefix = prefix
    this.timeout = timeout
    this.subscriber = connect(redis)
    this.subscriber.on('ready', () => { this.renew() })
    this.subscriber.on('close', () => { this.listening = false })
    this.subscriber.on('error', () => {}) // the connection for commands tells of the same trouble
    this.subscriber.on('message', (channel: string, text: string) => this.listeners.get(channel)?.message(text))
    this.timer = setInterval(() => { this.check() }, PING).unref()
  }

  /** Whether what is published is heard here. */
  get connected (): boolean { return this.listening }

  async publish (channel: string, message: string): Promise<number> {
    return Number(await this.sender.run('PUBLISH', this.prefix + channel, message))
  }

  async subscribe (channel: string, listener: BrokerListener): Promise<void> {
    this.listeners.set(this.prefix + channel, listener)
    if (this.subscriber.status === 'ready') return await this.renew()
    await new Promise<void>(resolve => this.first.push(resolve))
  }

  async close (): Promise<void> {
    clearInterval(this.timer)
    this.listeners.clear()
    this.subscriber.disconnect()
  }

  /** Every channel anew: which of them the connection still has does not matter. */
  private async renew (): Promise<void> {
    const channels = [...this.listeners.keys()]
    if (channels.length === 0) return
    try {
      await this.subscriber.subscribe(...channels)
    } catch {
      return // gone again; the next one is on its way
    }
    const again = !this.listening && this.first.length === 0
    this.listening = true
    for (const resolve of this.first.splice(0)) resolve()
    if (again) for (const listener of this.listeners.values()) listener.renewed()
  }

  /** A connection whose other end has vanished looks like one that has nothing to say. */
  private async check (): Promise<void> {
    if (this.subscriber.status !== 'ready') return
    const late = setTimeout(() => this.subscriber.disconnect(true), this.timeout).unref()
    await this.subscriber.ping().catch(() => {})
    clearTimeout(late)
  }
}

function connect (redis: RedisClient): RedisSubscriber {
  const options = {
    autoResubscribe: false,
    enableOfflineQueue: true,
    lazyConnect: false,
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(times * 50, MAX_DELAY)
  }
  const cluster = (redis as { isCluster?: boolean }).isCluster === true
  return cluster ? redis.duplicate([], { clusterRetryStrategy: options.retryStrategy, redisOptions: options }) : redis.duplicate(options)
}
