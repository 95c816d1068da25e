import { reached, rpcError } from '../errors.js'
import type { Id, Notification, Response } from '../jsonrpc.js'
import type { Served } from '../method.js'
import type { KeptStream } from '../replay.js'
import { Session } from '../sessions.js'
import type { SessionBounds } from '../session-limits.js'
import type { Event } from './event.js'
import type { Journal } from './journal.js'
import type { Listener } from './listener.js'
import { channelOf } from './member.js'
import type { Member } from './member.js'
import { keyOf, logOf, OWN } from './record.js'
import type { SessionRecord } from './record.js'
import type { ClusterStreams } from './replays.js'
import { MESSAGE } from './stream.js'

const ASKS = /^ask-([0-9a-f]{12})-/
const OWN_LIMITS = { max: 1_000, size: 1_048_576 }

/** What the sessions of a cluster have in common. */
export interface Shared {
  readonly member: Member
  readonly journal: Journal
  readonly streams: ClusterStreams
  /** How long a session lives without use, in ms. */
  readonly idle: number
}

/** What this process knows of a session that all processes serve. The store holds it; before each call it is read there. */
export class ClusterSession extends Session {
  readonly shared: Shared
  /** Streams for changes whose connection is here. */
  readonly listeners = new Set<Listener>()
  private record: SessionRecord
  private text: string

  constructor (id: string, served: Served, text: string, shared: Shared, bounds: SessionBounds) {
    const record = JSON.parse(text) as SessionRecord
    super(id, 'http', served, record.client, record.capabilities, record.principal, undefined, bounds)
    this.shared = shared
    this.text = text
    this.record = record
    this.use()
  }

  /** The record as the store, or a process that changed it, has it. An older one changes nothing. */
  take (text: string): void {
    if (text === this.text) return
    const record = JSON.parse(text) as SessionRecord
    if (record.turn < this.record.turn) return
    this.text = text
    this.record = record
    this.use()
  }

  /** Where messages for the session go. */
  get listening (): SessionRecord['listening'] { return this.record.listening }

  /** Whether one of its streams may have been at that place of the journal. */
  mayHaveBeenAt (place: string): boolean { return place > (this.record.since ?? '') }

  override get asks (): string { return `ask-${this.shared.member.id}-` }
  override stream (ids: Id[]): KeptStream { return this.shared.streams.open(this.id, ids) }

  override async setLevel (level: NonNullable<Session['logLevel']>): Promise<void> {
    await this.change(record => { record.level = level })
  }

  override async subscribe (uri: string): Promise<void> {
    super.subscribe(uri)
    await this.change(record => { record.uris = [...new Set([...record.uris ?? [], uri])] })
  }

  override async unsubscribe (uri: string): Promise<void> {
    await this.change(record => { record.uris = record.uris?.filter(one => one !== uri) })
  }

  /** Messages for the session go to the process that holds its stream, and are kept for a client that comes back. */
  override get sender (): ((text: string) => void) | undefined {
    if (this.listening === undefined) return undefined
    const { member } = this.shared
    return text => {
      member.store.append(logOf(this.id, OWN), MESSAGE + text, { ...OWN_LIMITS, ttl: this.shared.idle, tell: channelOf(this.listening?.process ?? member.id) })
        .catch((error: unknown) => member.log.warn({ err: error }, 'a message for a session could not be sent'))
    }
  }

  override answer (response: Response): Promise<void> | void {
    const process = ASKS.exec(String(response.id))?.[1]
    if (process === undefined || process === this.shared.member.id) return super.answer(response)
    return reached(this.shared.member.tell(process, { kind: 'answer', session: this.id, response }).then(() => {}))
  }

  override heard (message: Notification): Promise<void> | void {
    const { member } = this.shared
    const id = message.params?.requestId
    if (message.method !== 'notifications/cancelled' || [...this.inFlight].some(one => one.message.id === id)) return
    return reached(member.tellAll({ kind: 'notification', session: this.id, from: member.id, message }))
  }

  /** From here on in the journal one stream brings what is new. */
  follow (event: Event, at: string): void {
    if (event.kind === 'change') return
    for (const one of this.listeners) one.follow(event, at)
  }

  /** Changes what all processes know; when it is done they have been told. */
  async change (edit: (record: SessionRecord) => void): Promise<void> {
    const { member, idle } = this.shared
    for (;;) {
      const before = this.text
      const record = JSON.parse(before) as SessionRecord
      edit(record)
      if (JSON.stringify(record) === before) return
      record.turn++
      const after = JSON.stringify(record)
      if (await reached(member.store.swap(keyOf(this.id), before, after, idle))) {
        this.take(after)
        return await reached(member.tellAll({ kind: 'session', session: this.id, text: after }))
      }
      const now = await reached(member.store.get(keyOf(this.id)))
      if (now === undefined) throw rpcError('SessionNotFound')
      this.text = now
      this.record = JSON.parse(now)
      this.use()
    }
  }

  private use (): void {
    this.logLevel = this.record.level
    this.subscribedTo(this.record.uris ?? [])
  }
}
