import type { Change } from '../changes.js'
import type { ReplayStream } from '../replay.js'
import type { Session } from '../sessions.js'
import type { Subscription, Subscriptions } from '../subscriptions.js'
import type { Outlet } from './outlet.js'

/** A stream of a session that changes come on, as long as it is the newest of them. A class: a server may hold many, each idle. */
export class SessionListener implements Subscription {
  private readonly session: Session
  private readonly outlet: Outlet
  private readonly replay: ReplayStream | undefined
  private readonly among: Subscriptions

  /** @param replay what its client can come back to, if that is so */
  constructor (session: Session, outlet: Outlet, replay: ReplayStream | undefined, among: Subscriptions) {
    this.session = session
    this.outlet = outlet
    this.replay = replay
    this.among = among
  }

  get connected (): boolean { return this.outlet.connected }

  /** The newest of its session from now on. */
  enter (): void {
    this.replay?.last(true)
    this.session.attach(this)
    this.among.add(this)
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
    if (this.replay === undefined) return this.outlet.end()
    this.replay.last(false)
    this.replay.release()
  }

  end (): void {
    this.among.delete(this)
    this.outlet.end()
  }
}
