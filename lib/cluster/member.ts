import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Broker, Store } from '../../types/index.js'
import { Recovery } from './recovery.js'

/** One channel for all processes, and one for each; never one for each session or call. */
const ALL = 'all'
/** What the store promises of the id of an entry. */
const ENTRY_ID = /^\d{13}-\d{6}$/

export interface MemberOptions {
  store: Store
  broker: Broker
  log: FastifyBaseLogger
  /** How long a process counts as alive after it was last heard of, in ms. */
  lifetime: number
}

/** What processes say to each other, by its kind. */
export interface Note { kind: string, [member: string]: any }
/** An entry of a log, as the store announces it. */
export type Announcement = [log: string, id: string, entry: string]

/** This process among those that serve the endpoint together. */
export class Member {
  readonly id = randomBytes(6).toString('hex')
  readonly store: Store
  readonly broker: Broker
  readonly log: FastifyBaseLogger
  private readonly lifetime: number
  private readonly notes = new Map<string, (note: Note) => void>()
  private readonly entries: ((...announcement: Announcement) => boolean)[] = []
  private readonly gaps: (() => void)[] = []
  private readonly recovery = new Recovery()
  private readonly ticks: (() => void)[] = []
  private timer: NodeJS.Timeout | undefined
  private closed = false

  constructor ({ store, broker, log, lifetime }: MemberOptions) {
    this.store = store
    this.broker = broker
    this.log = log
    this.lifetime = lifetime
  }

  get all (): string { return ALL }
  get channel (): string { return channelOf(this.id) }

  /** Hears notes of a kind. */
  on (kind: string, listener: (note: Note) => void): void { this.notes.set(kind, listener) }
  /** Hears entries of logs; says whether it was meant. */
  onEntry (listener: (...announcement: Announcement) => boolean): void { this.entries.push(listener) }
  /**
   * Messages may have been missed.
   * @param step what is done about it, after the steps of those who came before; tried again until it succeeds
   * @param first what is done before anything else
   */
  onGap (step: () => Promise<unknown>, first = () => {}): void {
    this.recovery.add(step)
    this.gaps.push(first)
  }

  /** A few times in the lifetime of a process. */
  onTick (listener: () => void): void { this.ticks.push(listener) }

  /** Resolves when this process hears the others and knows what there is to know, however long that takes. */
  async start (): Promise<void> {
    if (this.closed) return
    this.timer = setInterval(() => this.tick(), this.lifetime / 3).unref()
    this.tick()
    const message = (text: string) => this.hear(text)
    await this.broker.subscribe(ALL, { message, renewed: () => { this.recover() } })
    await this.broker.subscribe(this.channel, { message, renewed () {} })
    await this.recovery.run()
  }

  /** Messages may have been missed. */
  recover (): void {
    for (const gap of this.gaps) gap()
    this.recovery.run()
  }

  async close (): Promise<void> {
    this.closed = true
    this.recovery.close()
    clearInterval(this.timer)
    this.timer = undefined
    await this.store.delete(`process:${this.id}`).catch(() => {})
    await this.broker.close()
  }

  /** Says something to one process, itself included; false where it is not there. */
  async tell (process: string, note: Note): Promise<boolean> { return await this.broker.publish(channelOf(process), JSON.stringify(note)) > 0 }
  async tellAll (note: Note): Promise<void> { await this.broker.publish(ALL, JSON.stringify(note)) }

  /** Whether a process is there; undefined where that cannot be found out. */
  async alive (process: string): Promise<boolean | undefined> {
    return process === this.id || await this.store.get(`process:${process}`).then(value => value !== undefined, () => undefined)
  }

  private tick (): void {
    this.store.set(`process:${this.id}`, '1', this.lifetime).catch(() => {})
    for (const tick of this.ticks) tick()
  }

  private hear (text: string): void {
    try {
      const said = JSON.parse(text) as Note | Announcement
      if (!Array.isArray(said)) this.notes.get(said.kind)?.(said)
      else if (isAnnouncement(said)) this.entries.some(listener => listener(...said))
      else this.log.warn('an announcement is none: not of this plugin, or of another version of it')
    } catch (error) {
      this.log.error({ err: error }, 'a message of another process could not be taken')
    }
  }
}

const isAnnouncement = (said: unknown[]): said is Announcement => said.length === 3 && said.every(one => typeof one === 'string') && ENTRY_ID.test(said[1] as string)
export const channelOf = (process: string): string => `process:${process}`
