import { eventOf, placeAt } from './event.js'
import type { Event } from './event.js'
import type { Announcement, Member } from './member.js'

// What concerns all sessions, in one order for all processes: changes, and which stream of a session brings them. A write for each
// change, whatever the number of sessions; a stream says with its event ids how far in the journal it is.

const LOG = '{journal}'
const LIMITS = { max: 10_000, size: 4_194_304 }
/** How many entries are read in one piece: the store has others to serve. */
const PAGE = 500
/** How far the clock of the store may be behind that of this process, in ms. */
const SKEW = 86_400_000

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
  private heard: string | undefined
  /** Where the journal stood at first. What is announced of before has come in since. */
  private floor = ''
  /** How often announcements may have been missed, and up to which of these times all is known: until then what is announced has to wait for those before it. */
  private gaps = 0
  private mended = 0
  /** What is announced while the journal is read. What was announced before is in the journal by then. */
  private early: { id: string, event: Event }[] | undefined
  /** What was read last, and may be announced yet. */
  private readonly read = new Set<string>()

  constructor (member: Member, reader: Reader, ttl: number) {
    this.member = member
    this.reader = reader
    this.ttl = ttl
    member.onEntry((...announcement) => this.announced(announcement))
  }

  /** A place that nobody is at before now. While the journal is empty it is as early as clocks may differ. */
  get now (): string { return this.heard || placeAt(Date.now() - SKEW) }

  /** Its place in the journal. All processes hear of it. */
  async append (event: Event): Promise<string> {
    const id = await this.member.store.append(LOG, JSON.stringify(event), { ...LIMITS, ttl: this.ttl, tell: this.member.all })
    // What is said here before it is known where the journal stands is heard here, too.
    this.heard ??= before(id)
    return id
  }

  /** Every event from one place to another; false where some are not kept any more. */
  async between (after: string, until: string, each: (event: Event, id: string) => void): Promise<boolean> {
    for (let at = after; at < until;) {
      const reading = await this.member.store.read(LOG, at, { limit: PAGE })
      if (reading?.complete === false && at !== '') return false
      for (const { id, entry } of reading?.entries ?? []) {
        if (id > until) return true
        const event = eventOf(entry)
        if (event !== undefined) each(event, id)
      }
      const last = reading?.entries.at(-1)?.id
      if (last === undefined) return true
      at = last
    }
    return true
  }

  /** Messages may have been missed. */
  pause (): void { this.gaps++ }

  /**
   * Takes what came after the newest event that was heard; at first, finds out where the journal stands: what came before is nobody's here.
   * @throws Error where the store cannot be reached; then nothing that is announced is taken until it can
   */
  async catchUp (): Promise<void> {
    const { gaps } = this
    this.early = []
    try {
      const last = (await this.member.store.read(LOG, '', { limit: 0 }))?.last ?? ''
      const { heard } = this
      if (heard === undefined) this.heard = this.floor = last
      // Where the end is before what was heard it is another journal: Redis was replaced, or what was heard was never in it.
      else if (last < heard || !await this.follow(heard, last)) await this.begin(last)
      this.settle(gaps, heard === undefined)
    } finally {
      this.early = undefined
    }
  }

  private async follow (after: string, until: string): Promise<boolean> {
    const events: { id: string, event: Event }[] = []
    if (!await this.between(after, until, (event, id) => events.push({ id, event }))) return false
    this.read.clear()
    for (const { id, event } of events) {
      this.read.add(id)
      this.take(id, event)
    }
    return true
  }

  /** What changed cannot be told any more; which streams bring what is new can. */
  private async begin (until: string): Promise<void> {
    const listening: { id: string, event: Event }[] = []
    const newest = new Map<string, Event>()
    if (!await this.between('', until, (event, id) => {
      if (event.kind === 'change') return
      listening.push({ id, event })
      newest.set(event.session, event)
    })) throw new Error('the journal was cut while it was read')
    this.heard = until
    this.floor = ''
    for (const { id, event } of listening) {
      // One that has left since is no reason for others to come forward.
      if (event.kind === 'listen' || (event.kind === 'left' && newest.get(event.session) === event)) this.reader.event(event, id)
    }
    this.reader.missed()
  }

  /** From now on what is announced is taken as it comes, unless something may have been missed meanwhile. */
  private settle (gaps: number, first: boolean): void {
    const { early = [] } = this
    this.early = undefined
    this.mended = gaps
    if (gaps < this.gaps) return
    for (const { id, event } of early) if (first || id > (this.heard as string)) this.take(id, event)
  }

  private announced ([log, id, entry]: Announcement): boolean {
    if (log !== LOG) return false
    const event = eventOf(entry)
    if (event === undefined) this.member.log.warn({ id }, 'an entry of the journal says nothing that is known here')
    else if (this.early !== undefined) this.early.push({ id, event })
    else if (this.heard === undefined) this.take(id, event)
    else if (this.mended < this.gaps || this.read.delete(id)) return true
    else if (id > this.heard) this.take(id, event)
    else if (id <= this.floor) this.reader.event(event, id)
    else this.member.recover()
    return true
  }

  private take (id: string, event: Event): void {
    this.heard = id
    this.reader.event(event, id)
  }
}

/** The place just before an entry. */
function before (id: string): string {
  const [ms = 0, nth = 0] = id.split('-').map(Number)
  return nth === 0 ? placeAt(ms - 1, 999_999) : placeAt(ms, nth - 1)
}
