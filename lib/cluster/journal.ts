import type { Change } from '../changes.js'
import type { Announcement, Member } from './member.js'
import { trouble } from './trouble.js'

// What concerns all sessions, in one order for all processes: changes, and which stream of a session brings them. A write for each
// change, whatever the number of sessions; a stream says with its event ids how far in the journal it is.

const LOG = '{journal}'
const LIMITS = { max: 10_000, size: 4_194_304 }

export type Event =
  | { kind: 'change', change: Change }
  /** From here on a session hears of changes on this stream. */
  | { kind: 'listen', session: string, stream: string, process: string }
  /** The connection of that stream is gone; `found` where others found out. */
  | { kind: 'left', session: string, stream: string, found?: boolean }

export interface Reader {
  event (event: Event, id: string): void
  /** Events were missed and cannot be had any more. */
  missed (): void
}

export class Journal {
  private readonly member: Member
  private readonly reader: Reader
  private readonly ttl: number
  /** The newest event that was heard; undefined before it is known where the journal stands. */
  private last: string | undefined

  constructor (member: Member, reader: Reader, ttl: number) {
    this.member = member
    this.reader = reader
    this.ttl = ttl
    member.onEntry((...announcement) => this.announced(announcement))
    member.onGap(() => { this.catchUp() })
  }

  /** Its place in the journal. All processes hear of it. */
  async append (event: Event): Promise<string> {
    return await this.member.store.append(LOG, JSON.stringify(event), { ...LIMITS, ttl: this.ttl, tell: this.member.all })
  }

  /** Finds out where the journal stands; what came before is nobody's here. */
  async start (): Promise<void> {
    const reading = await this.member.store.read(LOG, '')
    this.last ??= reading?.entries.at(-1)?.id ?? ''
  }

  async since (after: string): Promise<{ events: { id: string, event: Event }[], complete: boolean }> {
    const reading = await this.member.store.read(LOG, after)
    return { events: (reading?.entries ?? []).map(({ id, entry }) => ({ id, event: JSON.parse(entry) })), complete: reading?.complete ?? true }
  }

  private announced ([log, id, entry]: Announcement): boolean {
    if (log !== LOG) return false
    if (this.last === undefined || id > this.last) this.take(id, JSON.parse(entry))
    return true
  }

  private take (id: string, event: Event): void {
    this.last = id
    this.reader.event(event, id)
  }

  private async catchUp (): Promise<void> {
    const { last } = this
    if (last === undefined) return
    try {
      const { events, complete } = await this.since(last)
      if (!complete) this.reader.missed()
      for (const { id, event } of events) if (id > (this.last as string)) this.take(id, event)
    } catch (error) {
      this.member.log.warn(trouble(error), 'what changed while Redis was away could not be read')
      this.reader.missed()
    }
  }
}
