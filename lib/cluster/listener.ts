import { anything, changeText } from '../changes.js'
import type { Change } from '../changes.js'
import { reached, rpcError } from '../errors.js'
import type { Sink } from '../replay.js'
import type { Subscription } from '../subscriptions.js'
import { QUESTION } from './delivery.js'
import { placeAt } from './event.js'
import type { Event } from './event.js'
import { logOf, OWN } from './record.js'
import type { ClusterSession } from './session.js'
import { streamId } from './stream.js'

const STREAM_ID = /^-([0-9a-f]{12}_[0-9a-f]{8})\.(\d{13}-\d{6})\.(\d{13}-\d{6})$/
/** Before every entry of a log. */
const NOTHING = placeAt(0)
/** How long a stream waits for its own place in the journal, in ms. */
const PATIENCE = 5_000

/** How far a stream is: in the journal, and in the messages for its session. */
export interface Place { stream: string, journal: string, own: string }
/** Something that the client missed, and where the stream is with it. */
interface Missed { text: string, place: Partial<Place> }

/** An event id says both, so that a client can come back to any process. */
export function placeOf (eventId: string): Place | undefined {
  const [, stream, journal, own] = STREAM_ID.exec(eventId) ?? []
  return stream === undefined || journal === undefined || own === undefined ? undefined : { stream, journal, own }
}

/** A stream for changes of a session, whose connection is here. Of several the newest brings them, in whatever process it is. */
export class Listener implements Subscription {
  readonly id: string
  private readonly session: ClusterSession
  private place: Place | undefined
  private sink: Sink | undefined
  /** What came before the stream was open. */
  private early: (() => void)[] = []
  /** The stream that brings what is new. */
  private bringing: string | undefined
  private placed: ((at: string) => void)[] = []
  /** It was ended; before it was open, it ends as soon as it is. */
  private over = false

  constructor (session: ClusterSession, id?: string) {
    this.session = session
    this.id = id ?? streamId(session.shared.member.id)
  }

  /** From when it is asked for until its connection is gone. */
  connected = true
  /** An id that stands for the place where the stream is now. */
  get start (): string { return this.idAt(this.place) }

  /**
   * Takes its place: from there on this stream brings what is new.
   * @param lost where the client was
   * @returns what it missed
   */
  async claim (lost?: Place): Promise<Missed[]> {
    const { member, journal } = this.session.shared
    const [session, stream, process] = [this.session.id, this.id, member.id]
    this.session.listeners.add(this)
    // Ids of two logs cannot be compared: each has the clock of the machine that keeps it.
    const own = lost === undefined ? (await reached(member.store.read(logOf(session, OWN), '', { limit: 0 })))?.last : undefined
    await this.session.change(record => { record.listening = { stream, process } })
    const at = await reached(this.take(journal.append({ kind: 'listen', session, stream, process })))
    this.place = { stream, journal: at, own: own ?? NOTHING, ...lost }
    if (lost === undefined) return []
    if (lost.journal > at) throw gone()
    const said = await reached(member.store.read(logOf(session, OWN), lost.own))
    if (said?.complete === false) throw gone()
    const messages = said?.entries.map(({ id, entry }) => ({ text: entry.slice(1), place: { own: id } })) ?? []
    return [...await this.missed(lost, at), ...messages]
  }

  /** @param missed goes first */
  attach (sink: Sink, missed: Missed[]): void {
    this.sink = sink
    for (const { text, place } of missed) {
      Object.assign(this.place as Place, place)
      this.write(text)
    }
    for (const one of this.early.splice(0)) one()
    if (this.over) sink.disconnect()
  }

  write (text: string): void { this.sink?.event(this.start, text) }

  private idAt ({ journal = '', own = '' }: Partial<Place> = {}): string { return `-${this.id}.${journal}.${own}` }

  get uris (): Iterable<string> { return this.session.subscriptions }
  get open (): boolean { return this.sink !== undefined }
  get newest (): boolean { return this.bringing === this.id }
  wants (change: Change): boolean { return this.newest && this.session.wants(change) }

  deliver (_: Change, plain: string, at?: string): void {
    this.soon(() => {
      if (at !== undefined) (this.place as Place).journal = at
      this.write(plain)
    })
  }

  /** A message for the session. */
  message (id: string, text: string): void {
    this.soon(() => {
      const place = this.place as Place
      if (id <= place.own) return
      place.own = id
      this.write(text)
      const [, question, process] = QUESTION.exec(text) ?? []
      const { member } = this.session.shared
      if (process !== undefined) member.tell(process, { kind: 'brought', session: this.session.id, question }).catch(() => {})
    })
  }

  /** What was said to the session while this process heard nothing. */
  async recall (): Promise<void> {
    const { session: { id: session, shared: { member } }, place } = this
    if (place === undefined) return
    const own = await member.store.read(logOf(session, OWN), place.own)
    if (own?.complete === false) member.log.warn('messages for a session are lost: more came than are kept while Redis could not be heard')
    for (const { id, entry } of own?.entries ?? []) this.message(id, entry.slice(1))
  }

  send (text: string): void { this.session.sender?.(text).catch(() => {}) }

  /** An event of the journal that says which stream of the session brings what is new. */
  follow (event: Event, at: string): void {
    if (event.kind === 'listen') {
      this.bringing = event.stream
      if (this.newest) for (const placed of this.placed.splice(0)) placed(at)
    } else if (event.kind === 'left' && event.stream === this.bringing) {
      this.bringing = undefined
      if (this.connected) this.claim().then(() => event.found === true ? this.lately(event.stream) : undefined).catch(() => {})
    }
  }

  /** The connection is gone. */
  leave (): void {
    const { session, id: stream } = this
    this.sink = undefined
    this.connected = false
    session.listeners.delete(this)
    session.vacate(stream).catch(() => {}) // watch() does it when that can be done
  }

  end (): void {
    this.over = true
    this.sink?.disconnect()
  }

  retire (): void { this.end() }

  private soon (run: () => void): void {
    if (this.sink === undefined) this.early.push(run)
    else run()
  }

  /** Its place, when this process has come to it, too: from then on it misses nothing. */
  private take (append: Promise<string>): Promise<string> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(rpcError('Unavailable', 'the processes of this server do not hear each other; try again')), PATIENCE)
      this.placed.push(at => {
        clearTimeout(timer)
        resolve(at)
      })
      append.catch((error: unknown) => {
        clearTimeout(timer)
        reject(error)
      })
    })
  }

  /** What the journal has for this stream between where it was and where it is: another stream of the session may have brought the rest. */
  private async missed (lost: Place, until: string): Promise<Missed[]> {
    const missed: Missed[] = []
    let brings: string | undefined = this.id
    const complete = await reached(this.session.shared.journal.between(lost.journal, until, (event, id) => {
      if (event.kind === 'change') {
        if ((brings ?? this.id) === this.id && this.session.wants(event.change)) missed.push({ text: changeText(event.change), place: { journal: id } })
      } else if (event.session !== this.session.id) return
      if (event.kind === 'listen') brings = event.stream
      else if (event.kind === 'left' && brings === event.stream) brings = undefined
    }))
    // What cannot be told any more may have been anything.
    return complete ? missed : this.everything(until)
  }

  private everything (until: string): Missed[] {
    return anything(this.uris).map(change => ({ text: changeText(change), place: { journal: until } }))
  }

  /** What the stream that had its place may not have brought: changes of the time in which nobody knew that it was gone. */
  private async lately (gone: string): Promise<void> {
    const { member: { lifetime }, journal } = this.session.shared
    const { journal: until, own } = this.place as Place
    const told = new Map<string, string>()
    const complete = await journal.between(before(until, 2 * lifetime), until, (event, id) => {
      if (event.kind === 'listen' && event.stream === gone) told.clear()
      if (event.kind !== 'change' || !this.session.wants(event.change)) return
      const text = changeText(event.change)
      if (!told.has(text)) told.set(text, id)
    })
    if (!complete) for (const { text } of this.everything(until)) told.set(text, until)
    for (const [text, id] of told) this.sink?.event(this.idAt({ journal: id, own }), text)
  }
}

/** The id of a journal a while before another. */
const before = (id: string, ms: number): string => placeAt(Math.max(0, Number(id.slice(0, 13)) - ms))

const gone = () => rpcError('InvalidRequest', 'what came after Last-Event-ID is not kept any more; open a stream without it')
