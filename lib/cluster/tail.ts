import type { LogEntry, LogReading } from '../../types/index.js'
import { rpcError } from '../errors.js'
import { errorText } from '../jsonrpc.js'
import type { Id } from '../jsonrpc.js'
import type { Sink } from '../replay.js'
import type { Member } from './member.js'
import { END, MESSAGE, OPEN, producerOf } from './stream.js'

/** The other end of a stream: a connection that brings what is in the log, and then what is announced. */
export class Tail {
  readonly log: string
  private readonly id: string
  private readonly member: Member
  private readonly ids: Id[]
  private sink: Sink | undefined
  /** What was announced before the log was read. */
  private early: LogEntry[] = []
  private last: string
  over = false

  /** @param ids of the requests that are answered on it */
  private constructor (member: Member, log: string, id: string, after: string, ids: Id[]) {
    this.member = member
    this.log = log
    this.id = id
    this.last = after
    this.ids = ids
  }

  get producer (): string { return producerOf(this.id) }

  /** @returns undefined where there is no such stream, or what came after the event is not kept any more */
  static async open (member: Member, tails: Map<string, Tail>, log: string, id: string, after: string): Promise<{ tail: Tail, reading: LogReading } | undefined> {
    const ids: Id[] = []
    const tail = new Tail(member, log, id, after, ids)
    const before = tails.get(log)
    tails.set(log, tail)
    const reading = await member.store.read(log, after === '0' ? '' : after, { tell: member.channel }).catch((error: unknown) => {
      tails.delete(log)
      throw error
    })
    if (reading?.complete !== true) {
      tails.delete(log)
      return undefined
    }
    before?.release()
    const opening = (after === '0' ? reading : await member.store.read(log, '', { limit: 1 }))?.entries[0]?.entry
    if (opening?.startsWith(OPEN)) ids.push(...JSON.parse(opening.slice(1)))
    return { tail, reading }
  }

  /** From now on events go to `sink`, those of the log first. */
  attach (sink: Sink, { entries }: LogReading): void {
    this.sink = sink
    for (const one of [...entries, ...this.early.splice(0)]) this.take(one)
  }

  announced (entry: LogEntry): void {
    if (this.sink === undefined) this.early.push(entry)
    else this.take(entry)
  }

  /** Announcements may have been missed. */
  async catchUp (): Promise<void> {
    const reading = await this.member.store.read(this.log, this.last === '0' ? '' : this.last, { tell: this.member.channel })
    // A log that ends before what was heard of it is not the one that it was.
    if (reading?.complete === true && (reading.last >= this.last || this.last === '0')) return reading.entries.forEach(one => this.announced(one))
    this.fail('what it had to say is lost')
  }

  /** Its process is gone: the client gets an error for each answer that will not come. */
  fail (why: string): void {
    if (this.over) return
    for (const id of this.ids) this.sink?.event(undefined, errorText(id, rpcError('InternalError', `${why}; make the call again if it may be made twice`)))
    this.release()
  }

  release (): void {
    this.over = true
    this.sink?.disconnect()
  }

  private take ({ id, entry }: LogEntry): void {
    if (this.over || id <= this.last) return
    this.last = id
    if (entry.startsWith(MESSAGE)) this.sink?.event(`${this.id}.${id}`, entry.slice(1))
    else if (entry === END) this.release()
  }
}
