import { changeText } from './changes.js'
import type { Change } from './changes.js'

/** A stream held open for changes: a GET stream, HTTP+SSE, `subscriptions/listen` or stdio. */
export interface Subscription {
  wants (change: Change): boolean
  /** `plain` is the message of the handshake revisions, the same text for all. */
  deliver (change: Change, plain: string): void
  /** False while nobody is connected to a stream that can be come back to. */
  readonly connected?: boolean
  /** Any message, on a stream that takes more than changes. */
  send? (text: string): void
  /** Another stream of its session has taken its place. */
  retire? (): void
  /** Says good-bye and ends the stream. */
  end (): void
}

/** The subscriptions of one endpoint in this process. */
export class Subscriptions {
  private readonly open = new Set<Subscription>()

  /** How many have somebody at the other end. */
  get size (): number {
    let size = 0
    for (const { connected } of this.open) if (connected !== false) size++
    return size
  }

  add (subscription: Subscription): void { this.open.add(subscription) }
  delete (subscription: Subscription): void { this.open.delete(subscription) }

  publish (change: Change): void {
    const plain = changeText(change)
    for (const subscription of this.open) if (subscription.wants(change)) subscription.deliver(change, plain)
  }

  end (): void {
    for (const subscription of [...this.open]) {
      this.open.delete(subscription)
      subscription.end()
    }
  }
}
