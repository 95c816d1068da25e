import type { Change } from '../changes.js'
import type { Session } from '../session.js'
import type { Subscription, Subscriptions } from '../subscriptions.js'
import type { Outlet } from './outlet.js'

/** A stream of a session that changes come on, as long as it is the newest of them. A class: a server may hold many, each idle. */
export class SessionListener implements Subscription {
  private readonly session: Session
  private readonly outlet: Omit<Outlet, 'ready'>
  private readonly among: Subscriptions

  /** @param outlet a connection, or what outlives connections, and then none of them: a listener may be kept after the last is gone */
  constructor (session: Session, outlet: Omit<Outlet, 'ready'>, among: Subscriptions) {
    this.session = session
    this.outlet = outlet
    this.among = among
  }

  get uris (): Iterable<string> { return this.session.subscriptions }
  get connected (): boolean { return this.outlet.connected }

  /**
   * The newest of its session from now on.
   * @param until when the token of whoever opened it ends
   */
  enter (until?: number): void {
    this.outlet.last?.(true)
    this.session.attach(this)
    this.among.add(this, until)
  }

  /** Nobody will come back to it. */
  leave (): void {
    this.session.detach(this)
    this.among.delete(this)
  }

  wants (change: Change): boolean { return this.session.newest(this) && this.session.wants(change) }
  deliver (_: Change, plain: string): void { this.outlet.write(plain) }
  send (text: string): void { this.outlet.write(text) }

  retire (): void {
    this.among.delete(this)
    if (this.outlet.last === undefined) return this.outlet.end()
    this.outlet.last(false)
    this.outlet.release()
  }

  lapse (): void {
    if (this.outlet.last === undefined) this.end()
    else this.outlet.release()
  }

  end (): void {
    this.among.delete(this)
    this.outlet.end()
  }
}
