import type { LogEntry, LogReading } from '../../types/index.js'
import { reached, rpcError } from '../errors.js'
import { errorText } from '../jsonrpc.js'
import type { Id } from '../jsonrpc.js'
import type { Sink } from '../replay.js'
import type { Member } from './member.js'
import { END, LOST, MESSAGE, OPEN, producerOf } from './stream.js'

/** The other end of a stream: a connection that brings what is in the log, and then what is announced. */
export class Tail {
  readonly log: string
  private readonly id: string
  private readonly member: Member
  private ids: Id[] = []
  private sink: Sink | undefined
  /** What was announced before the log was read. */
  private early: LogEntry[] = []
  private last: string
  /** The number of the message that comes next; undefined where it is not known. */
  private next: number | undefined
  /** What came before its connection. */
  private failure: string | undefined
  private released = false
  /** What was missed could not be read. */
  private behind = false
  over = false

  private constructor (member: Member, log: string, id: string, after: string) {
    this.member = member
    this.log = log
    this.id = id
    this.last = after
  }

  get producer (): string { return producerOf(this.id) }

  /** @returns undefined where there is no such stream, or what came after the event is not kept any more */
  static async open (member: Member, tails: Map<string, Tail>, log: string, id: string, after: string): Promise<{ tail: Tail, reading: LogReading } | undefined> {
    const tail = new Tail(member, log, id, after)
    const before = tails.get(log)
    tails.set(log, tail)
    try {
      const reading = await reached(member.store.read(log, after === '0' ? '' : after, { tell: member.channel }))
      if (reading?.complete === true) {
        tail.begin(after === '0' ? reading : await reached(member.store.read(log, '')))
        before?.release()
        return { tail, reading }
      }
    } catch (error) {
      forget(tails, tail)
      throw error
    }
    forget(tails, tail)
  }

  /** Whose answers it brings, and which message is next. */
  private begin (whole: LogReading | undefined): void {
    const opening = whole?.entries[0]?.entry
    if (opening?.startsWith(OPEN)) this.ids = JSON.parse(opening.slice(1))
    const last = whole?.entries.find(one => one.id === this.last)
    if (this.last === '0') this.next = 1
    else if (last !== undefined) this.next = numberOf(last.entry) + 1
  }

  /** From now on events go to `sink`, those of the log first. */
  attach (sink: Sink, { entries }: LogReading): void {
    if (this.over) return sink.disconnect()
    this.sink = sink
    for (const one of [...entries, ...this.early.splice(0)]) this.take(one)
    if (this.failure !== undefined) this.fail(this.failure)
    else if (this.released) this.release()
  }

  announced (entry: LogEntry): void {
    if (this.sink === undefined) this.early.push(entry)
    else this.take(entry)
  }

  /** Announcements may have been missed. */
  async catchUp (): Promise<void> {
    this.behind = true
    const reading = await this.member.store.read(this.log, this.last === '0' ? '' : this.last, { tell: this.member.channel })
    this.behind = false
    // A log that ends before what was heard of it is not the one that it was.
    if (reading?.complete === true && (reading.last >= this.last || this.last === '0')) return reading.entries.forEach(one => this.announced(one))
    this.fail('what it had to say is lost')
  }

  /** Looks again where that could not be done when it should have been. */
  async lookAgain (): Promise<void> { if (this.behind) await this.catchUp() }

  /** No answer will come: the client gets an error for each request. */
  fail (why: string): void {
    if (this.over) return
    if (this.sink === undefined) {
      this.failure = why
      return
    }
    for (const id of this.ids) this.sink.event(undefined, errorText(id, rpcError('InternalError', `${why}; make the call again if it may be made twice`)))
    this.release()
  }

  release (): void {
    this.released = true
    if (this.sink === undefined) return
    this.over = true
    this.sink.disconnect()
  }

  private take ({ id, entry }: LogEntry): void {
    if (this.over || id <= this.last) return
    if (entry.startsWith(LOST)) {
      this.ids = JSON.parse(entry.slice(1))
      return this.fail('what it had to say is lost')
    }
    // What comes too early comes once more, and what came already is no news (stream.ts, put).
    const number = numberOf(entry)
    if (entry.startsWith(OPEN) || number !== (this.next ?? number)) return
    this.last = id
    this.next = number + 1
    if (entry.startsWith(MESSAGE)) this.sink?.event(`${this.id}.${id}`, entry.slice(entry.indexOf(' ') + 1))
    else if (entry.startsWith(END)) this.release()
  }
}

const numberOf = (entry: string): number => Number(/^[a-z](\d+)/.exec(entry)?.[1] ?? 0)

function forget (tails: Map<string, Tail>, tail: Tail): void { if (tails.get(tail.log) === tail) tails.delete(tail.log) }
