import type { FastifyBaseLogger } from 'fastify'
import type { Change } from '../changes.js'
import type { Backing, Health } from './backing.js'
import type { Served } from '../method.js'
import type { SessionLimits } from '../session-limits.js'
import type { Subscriptions } from '../subscriptions.js'
import { Journal } from './journal.js'
import type { Event } from './journal.js'
import { Member } from './member.js'
import { ClusterStreams } from './replays.js'
import { ClusterSessions } from './sessions.js'

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

  constructor ({ backing, log, limits, timeout, subscriptions, served, lifetime = LIFETIME }: ClusterOptions) {
    this.subscriptions = subscriptions
    this.backing = backing
    this.member = new Member({ ...backing, log, lifetime })
    this.streams = new ClusterStreams(this.member, timeout === 0 ? 24 * HOUR : timeout, limits.replay)
    this.journal = new Journal(this.member, { event: (event, id) => this.follow(event, id), missed: () => this.missed() }, Math.max(HOUR, limits.idle))
    this.sessions = new ClusterSessions({ member: this.member, journal: this.journal, streams: this.streams, idle: limits.idle }, limits, served)
  }

  /** Resolves when the processes hear each other, or after a while without. */
  async start (): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => { timer = setTimeout(resolve, PATIENCE) })
    const started = this.member.start().then(() => this.journal.start()).catch((error: unknown) => {
      this.member.log.warn({ err: error }, 'what the processes of this server share cannot be reached yet')
    })
    await Promise.race([started, late])
    clearTimeout(timer)
  }

  /** Tells the listeners of all processes; those of this one in any case. */
  publish (change: Change): void {
    this.journal.append({ kind: 'change', change }).catch((error: unknown) => {
      // That Redis is away has been logged already, once.
      this.member.log[this.health.ok ? 'warn' : 'debug']({ err: error, change }, 'other processes could not be told of a change')
      this.subscriptions.publish(change)
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
    if (event.kind === 'change') this.subscriptions.publish(event.change, id)
    else this.sessions.mine(event.session)?.follow(event, id)
  }

  /** Whoever listens is told that anything may have changed. */
  private missed (): void { for (const kind of ['tools', 'prompts', 'resources'] as const) this.subscriptions.publish({ kind }) }
}
