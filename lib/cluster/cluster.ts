import type { FastifyBaseLogger } from 'fastify'
import type { Change } from '../changes.js'
import type { Backing, Health } from './backing.js'
import type { Served } from '../method.js'
import type { SessionLimits } from '../session-limits.js'
import type { Subscriptions } from '../subscriptions.js'
import type { Event } from './event.js'
import { Journal } from './journal.js'
import { Member } from './member.js'
import { ClusterStreams } from './replays.js'
import { Said } from './said.js'
import { ClusterSessions } from './sessions.js'
import { trouble } from './trouble.js'

const HOUR = 3_600_000
const LIFETIME = 10_000
/** How long starting waits for the store, in ms; the rest happens when it is there. */
const PATIENCE = 2_000

export interface ClusterOptions {
  backing: Backing
  log: FastifyBaseLogger
  limits: SessionLimits
  /** ms that a call may take; 0: as long as it wants. */
  timeout: number
  subscriptions: Subscriptions
  served: (version: string) => Served | undefined
  lifetime?: number
}

/** Several processes that serve one endpoint together: what one of them knows and the others need. */
export class Cluster {
  readonly sessions: ClusterSessions
  private readonly backing: Backing
  readonly member: Member
  readonly streams: ClusterStreams
  private readonly journal: Journal
  private readonly subscriptions: Subscriptions
  private readonly said = new Said()

  constructor ({ backing, log, limits: { idle: given, ...limits }, timeout, subscriptions, served, lifetime = LIFETIME }: ClusterOptions) {
    this.subscriptions = subscriptions
    this.backing = backing
    this.member = new Member({ ...backing, log, lifetime })
    this.streams = new ClusterStreams(this.member, timeout === 0 ? 24 * HOUR : timeout, limits.replay)
    // What is shared has an end: a process that dies takes nothing back. A session that is in use is renewed long before.
    const idle = Number.isFinite(given) ? given : HOUR
    this.journal = new Journal(this.member, { event: (event, id) => this.follow(event, id), missed: () => this.subscriptions.missed() }, Math.max(HOUR, idle))
    this.sessions = new ClusterSessions({ member: this.member, journal: this.journal, streams: this.streams, idle }, { idle, ...limits }, served)
    // After the sessions: who wants to be told of a change may have changed, too.
    this.member.onGap(() => this.journal.catchUp(), () => this.journal.pause())
    // And after the journal, which says who brings what is said to them.
    this.member.onGap(() => this.sessions.catchUp())
    this.member.onTick(() => { for (const change of this.said.late()) this.subscriptions.publish(change) })
  }

  /** Resolves when the processes hear each other, or after a while without. */
  async start (): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => { timer = setTimeout(resolve, PATIENCE) })
    const started = this.backing.ready().then(() => this.member.start()).catch((error: unknown) => {
      this.member.log.warn(trouble(error), 'what the processes of this server share cannot be reached yet')
    })
    await Promise.race([started, late])
    clearTimeout(timer)
  }

  /** Tells the listeners of all processes; those of this one in any case. */
  publish (change: Change): void {
    const nth = this.said.say(change)
    this.journal.append({ kind: 'change', change, by: this.member.id, nth }).catch((error: unknown) => {
      // That Redis is away has been logged already, once.
      this.member.log[this.health.ok ? 'warn' : 'debug']({ ...trouble(error), change }, 'other processes could not be told of a change')
      if (this.said.heard(nth)) this.subscriptions.publish(change)
    })
  }

  async close (): Promise<void> {
    await this.streams.written()
    await this.member.close()
    this.backing.close()
  }

  /** Counts for all processes; undefined where each counts for itself. */
  get count (): Backing['count'] { return this.backing.count }

  get health (): Health { return this.backing.health() }

  private follow (event: Event, id: string): void {
    if (event.kind === 'change') {
      const { change, by, nth } = event
      if (by !== this.member.id || this.said.heard(nth as number)) this.subscriptions.publish(change, id)
    } else this.sessions.mine(event.session)?.follow(event, id)
  }
}
