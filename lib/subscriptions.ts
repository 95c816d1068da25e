import { anything, changeText } from './changes.js'
import type { Change } from './changes.js'

/** A stream held open for changes: a GET stream, HTTP+SSE, `subscriptions/listen` or stdio. */
export interface Subscription {
  wants (change: Change): boolean
  /** `plain` is the message of the handshake revisions, the same text for all; `at` its place in the journal, where processes share one. */
  deliver (change: Change, plain: string, at?: string): void
  /** The resources whose updates it wants. */
  readonly uris?: Iterable<string> | undefined
  /** False while nobody is connected to a stream that can be come back to. */
  readonly connected?: boolean
  /** Any message, on a stream that takes more than changes. */
  send? (text: string): void
  /** Another stream of its session has taken its place. */
  retire? (): void
  /** The token that it was opened with has ended: the connection goes, whoever has a new one may come back. Default: `end`. */
  lapse? (): void
  /** Says good-bye and ends the stream. */
  end (): void
}

const TICK = 1_000

/** The subscriptions of one endpoint in this process. */
export class Subscriptions {
  private readonly open = new Set<Subscription>()
  /** Those that end with the token they were opened with, and when, in ms of Date.now(). */
  private readonly ends = new Map<Subscription, number>()
  private timer: NodeJS.Timeout | undefined

  /** How many have somebody at the other end. */
  get size (): number {
    let size = 0
    for (const { connected } of this.open) if (connected !== false) size++
    return size
  }

  /** @param until when its caller's token ends */
  add (subscription: Subscription, until?: number): void {
    this.open.add(subscription)
    if (until === undefined) {
      this.ends.delete(subscription)
      return
    }
    this.ends.set(subscription, until)
    this.timer ??= setInterval(() => this.sweep(Date.now()), TICK).unref()
  }

  delete (subscription: Subscription): void {
    this.open.delete(subscription)
    this.ends.delete(subscription)
  }

  private sweep (now: number): void {
    for (const [subscription, until] of [...this.ends]) {
      if (until > now) continue
      this.ends.delete(subscription)
      if (subscription.lapse === undefined) subscription.end()
      else subscription.lapse()
    }
    if (this.ends.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }

  publish (change: Change, at?: string): void {
    const plain = changeText(change)
    for (const subscription of this.open) if (subscription.wants(change)) subscription.deliver(change, plain, at)
  }

  /** What changed is not known: each is told of all that it wants to be told of. */
  missed (): void {
    for (const subscription of this.open) {
      for (const change of anything(subscription.uris)) if (subscription.wants(change)) subscription.deliver(change, changeText(change))
    }
  }

  end (): void {
    for (const subscription of [...this.open]) {
      this.delete(subscription)
      subscription.end()
    }
  }
}
