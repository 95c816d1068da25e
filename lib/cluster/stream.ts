import { randomUUID } from 'node:crypto'
import type { Id } from '../jsonrpc.js'
import type { KeptStream, Sink } from '../replay.js'
import type { LogLimits } from '../../types/index.js'
import { Backlog } from './backlog.js'
import type { Room } from './backlog.js'
import type { Member } from './member.js'

// A stream of a call. Its process writes every message to the log of the stream, whose id is that of the event; whoever holds the
// connection hears of it. The id of the stream names the process, so that nobody waits for one that is gone.

/** What an entry of a log is, by its first letter. */
export const OPEN = 'o'
export const MESSAGE = 'm'
export const END = 'e'
/** What should follow is lost; with the ids of the requests that get no answer. */
export const LOST = 'x'

export interface StreamOptions {
  log: string
  /** While the call runs, and when it is over. */
  running: LogLimits
  over: LogLimits
  room: Room
  ended: () => void
}

export const streamId = (process: string): string => `${process}_${randomUUID().slice(0, 8)}`
export const producerOf = (stream: string): string => stream.split('_', 1)[0] as string

/** The end of a stream that messages are put in. */
export class ClusterStream implements KeptStream {
  readonly id: string
  private readonly member: Member
  private readonly options: StreamOptions
  private readonly backlog: Backlog
  private sink: Sink | undefined
  /** The process where the client has come back for the rest. */
  private reader: string | undefined
  private pending = Promise.resolve()
  /** Counts what is written: an entry may get into the log twice, or before one that the store did not take. */
  private number = 0
  private over = false

  /** @param ids of the requests that are answered on it */
  constructor (id: string, member: Member, ids: Id[], options: StreamOptions) {
    const { log, running, over, room } = options
    this.id = id
    this.member = member
    this.options = options
    this.backlog = new Backlog({
      append: (entry, limits) => member.store.append(log, entry, limits),
      limits: running,
      ttl: over.ttl,
      room,
      mark: LOST + JSON.stringify(ids),
      lost: () => this.tell('lost'),
      empty: () => this.settle()
    })
    this.put(OPEN + JSON.stringify(ids), running, () => {})
  }

  get start (): string { return `${this.id}.0` }
  /** Somebody hears of what is written now. */
  get connected (): boolean { return this.sink !== undefined || (this.reader !== undefined && !this.backlog.waiting) }
  /** Resolves when what was written so far is in the log, or was offered once more. */
  get written (): Promise<void> { return this.pending.then(() => this.backlog.waiting ? this.backlog.offer() : undefined) }

  write (text: string): void { this.put(`${MESSAGE}${++this.number} ${text}`, this.options.running, id => this.sink?.event(id && `${this.id}.${id}`, text)) }

  end (): void {
    this.put(`${END}${++this.number}`, this.options.over, () => {
      const { sink } = this
      this.over = true
      this.sink = undefined
      sink?.disconnect()
      this.settle()
    })
  }

  attach (sink: Sink): void { this.sink = sink }

  release (): void {
    const { sink } = this
    this.sink = undefined
    sink?.disconnect()
    this.tell('release')
    this.reader = undefined
  }

  detach (sink: Sink): void { if (sink === this.sink) this.sink = undefined }

  /**
   * A process says that the client reads there, or does not any more. A connection that was before, here or elsewhere, is ended: no event goes to two.
   * @param still it has said so before
   */
  readBy (process: string, reads: boolean, still = false): void {
    if (!reads) {
      if (this.reader === process) this.reader = undefined
      return
    }
    if (still && this.connected) return
    if (this.reader !== process) this.tell('release')
    const { sink } = this
    this.sink = undefined
    this.reader = process
    sink?.disconnect()
    if (this.backlog.lost) this.tell('lost')
  }

  /** In the order of writing, whatever the store takes its time for. Without the store a message still goes to whoever is connected, as an event that cannot be resumed from. */
  private put (entry: string, limits: LogLimits, deliver: (id: string | undefined) => void): void {
    const { backlog, member, options } = this
    const appended = backlog.waiting || backlog.lost ? undefined : member.store.append(options.log, entry, limits).catch(() => undefined)
    this.pending = this.pending.then(() => appended).then(id => {
      // What was taken after what was not is put after it, once more.
      if (id === undefined || backlog.waiting) backlog.add(entry, limits)
      deliver(id)
    })
  }

  private tell (kind: 'release' | 'lost'): void {
    if (this.reader !== undefined) this.member.tell(this.reader, { kind, log: this.options.log }).catch(() => {})
  }

  /** Over, and the log says so or never will. */
  private settle (): void {
    if (!this.over || this.backlog.waiting) return
    this.release()
    this.options.ended()
  }
}
