import { randomUUID } from 'node:crypto'
import type { Id } from '../jsonrpc.js'
import type { KeptStream, Sink } from '../replay.js'
import type { LogLimits } from '../../types/index.js'
import type { Member } from './member.js'

// A stream of a call. Its process writes every message to the log of the stream, whose id is that of the event; whoever holds the
// connection hears of it. The id of the stream names the process, so that nobody waits for one that is gone.

/** What an entry of a log is, by its first letter. */
export const OPEN = 'o'
export const MESSAGE = 'm'
export const END = 'e'

export interface StreamOptions {
  log: string
  /** While the call runs, and when it is over. */
  running: LogLimits
  over: LogLimits
  ended: () => void
}

export const streamId = (process: string): string => `${process}_${randomUUID().slice(0, 8)}`
export const producerOf = (stream: string): string => stream.split('_', 1)[0] as string

/** The end of a stream that messages are put in. */
export class ClusterStream implements KeptStream {
  readonly id: string
  private readonly member: Member
  private readonly options: StreamOptions
  private sink: Sink | undefined
  /** The process where the client has come back for the rest. */
  private reader: string | undefined
  private pending: Promise<void>

  /** @param ids of the requests that are answered on it */
  constructor (id: string, member: Member, ids: Id[], options: StreamOptions) {
    this.id = id
    this.member = member
    this.options = options
    this.pending = this.append(OPEN + JSON.stringify(ids), options.running).then(() => {})
  }

  get start (): string { return `${this.id}.0` }
  get connected (): boolean { return this.sink !== undefined || this.reader !== undefined }
  /** Resolves when what was written so far is in the log, or cannot be. */
  get written (): Promise<void> { return this.pending }

  write (text: string): void { this.put(MESSAGE + text, this.options.running, id => this.sink?.event(id && `${this.id}.${id}`, text)) }

  end (): void {
    this.put(END, this.options.over, () => {
      this.release()
      this.options.ended()
    })
  }

  attach (sink: Sink): void { this.sink = sink }

  release (): void {
    const { sink, reader } = this
    this.sink = undefined
    this.reader = undefined
    sink?.disconnect()
    if (reader !== undefined) this.member.tell(reader, { kind: 'release', log: this.options.log }).catch(() => {})
  }

  detach (sink: Sink): void { if (sink === this.sink) this.sink = undefined }

  /** A process says that the client reads there, or does not any more. A connection that was here before is ended: no event goes to two. */
  readBy (process: string, reads: boolean): void {
    if (!reads) {
      if (this.reader === process) this.reader = undefined
      return
    }
    const { sink } = this
    this.sink = undefined
    this.reader = process
    sink?.disconnect()
  }

  /** In the order of writing, whatever the store takes its time for. */
  private put (entry: string, limits: LogLimits, deliver: (id: string | undefined) => void): void {
    const appended = this.append(entry, limits)
    this.pending = this.pending.then(() => appended).then(deliver)
  }

  /** Without the store the message still goes to whoever is connected, as an event that cannot be resumed from. */
  private async append (entry: string, limits: LogLimits): Promise<string | undefined> {
    return await this.member.store.append(this.options.log, entry, limits).catch(() => undefined)
  }
}
