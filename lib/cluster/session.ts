import { reached, rpcError } from '../errors.js'
import type { Id, Notification, Response } from '../jsonrpc.js'
import type { Served } from '../method.js'
import type { KeptStream } from '../replay.js'
import { Session } from '../session.js'
import type { SessionBounds } from '../session-limits.js'
import { Delivery } from './delivery.js'
import type { Event } from './event.js'
import { Gathered } from './gathered.js'
import type { Journal } from './journal.js'
import type { Listener } from './listener.js'
import type { Member } from './member.js'
import { keyOf } from './record.js'
import type { SessionRecord } from './record.js'
import type { ClusterStreams } from './replays.js'

type Edit = (record: SessionRecord) => void

const ASKS = /^ask-([0-9a-f]{12})-/

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
  private delivery: Delivery | undefined
  private changes: Gathered<Edit> | undefined
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
  override get sender (): ((text: string) => Promise<void>) | undefined {
    if (this.listening === undefined) return undefined
    const delivery = (this.delivery ??= new Delivery(this))
    return text => delivery.send(text)
  }

  /** A stream has brought a question of this process to the client. */
  brought (question: string): void { this.delivery?.brought(question) }

  override answer (response: Response): Promise<void> | void {
    const process = ASKS.exec(String(response.id))?.[1]
    if (process === undefined || process === this.shared.member.id) {
      this.brought(String(response.id))
      return super.answer(response)
    }
    return reached(this.shared.member.tell(process, { kind: 'answer', session: this.id, response }).then(() => {}))
  }

  override heard (message: Notification): Promise<void> | void {
    if (message.method !== 'notifications/cancelled') return
    const { member } = this.shared
    const here = [...this.inFlight].some(one => one.message.id === message.params?.requestId)
    const told = reached(member.tellAll({ kind: 'notification', session: this.id, from: member.id, message }))
    // One that is here is cancelled in any case; there may be more of its id.
    return here ? told.catch(() => {}) : told
  }

  /** The record names a stream of this process that is not there: that its connection is gone could not be said. */
  get strays (): boolean {
    const { listening } = this
    return listening?.process === this.shared.member.id && ![...this.listeners].some(one => one.id === listening.stream)
  }

  /** Sees to it that one of the streams that are here brings what is new, where the one that should cannot any more. */
  async watch (): Promise<void> {
    const { listening } = this
    if (listening === undefined) await [...this.listeners].findLast(one => one.open)?.claim()
    else if (this.strays || (this.listeners.size > 0 && await this.shared.member.alive(listening.process) === false)) await this.vacate(listening.stream, true)
  }

  /** A stream brings nothing any more: another one, in whatever process, takes its place. */
  async vacate (stream: string, found = false): Promise<void> {
    await this.change(record => { if (record.listening?.stream === stream) delete record.listening })
    await this.shared.journal.append({ kind: 'left', session: this.id, stream, ...(found ? { found } : {}) })
  }

  /** From here on in the journal one stream brings what is new. */
  follow (event: Event, at: string): void {
    if (event.kind === 'change') return
    for (const one of this.listeners) one.follow(event, at)
  }

  /** Changes what all processes know; when it is done they have been told. */
  change (edit: Edit): Promise<void> { return (this.changes ??= new Gathered(edits => this.write(edits))).add(edit) }

  private async write (edits: Edit[]): Promise<void> {
    const { member, idle } = this.shared
    for (;;) {
      const before = this.text
      const record = JSON.parse(before) as SessionRecord
      for (const edit of edits) edit(record)
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
