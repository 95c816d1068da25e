import { randomUUID } from 'node:crypto'
import type { Subscription } from './subscriptions.js'

// What was sent on the streams of a session, so that a client that lost one can go on where it was
// (2025-03-26 to 2025-11-25 basic/transports, Resumability and Redelivery).

/** Where events go while somebody is connected. */
export interface Sink {
  event (id: string, text: string): void
  disconnect (): void
}

export const REPLAY: ReplayLimits = { events: 1_000, size: 1_048_576, ttl: 300_000 }

export interface ReplayLimits {
  /** Events, and characters of them, that a session keeps in all. */
  events: number
  size: number
  /** How long a stream without a connection is kept, in ms. */
  ttl: number
}

/** One stream, which may outlive its connections. Its events have ids that no other stream of the session has. */
export class ReplayStream {
  readonly id = randomUUID().slice(0, 8)
  /** The last of what was sent; the newest has the number `number`. */
  private readonly texts: string[] = []
  private readonly kept: (size: number) => void
  private number = 0
  private sink: Sink | undefined
  private ended = false
  /** When its last connection went, in ms of Date.now(); undefined while it has one. */
  since: number | undefined
  /** The listener whose changes it brings, where it is a stream for changes. */
  listener: Subscription | undefined

  constructor (kept: (size: number) => void) { this.kept = kept }

  get size (): number { return this.texts.reduce((sum, text) => sum + text.length, 0) }
  get count (): number { return this.texts.length }
  get connected (): boolean { return this.sink !== undefined }
  /** Nothing will come, and nothing of what came is left. */
  get spent (): boolean { return this.ended && this.texts.length === 0 }

  /** An id that stands for the beginning of the stream. */
  get start (): string { return `${this.id}.0` }

  write (text: string): void {
    this.number++
    this.texts.push(text)
    this.kept(text.length)
    this.sink?.event(`${this.id}.${this.number}`, text)
  }

  /** Nothing follows; what was sent can still be fetched for a while. */
  end (): void {
    this.ended = true
    this.release()
  }

  /** Whether all that came after an event is still here. */
  reaches (after: number): boolean {
    return after <= this.number && after >= this.number - this.texts.length
  }

  /** From now on events go to `sink`, those after `after` first. A connection that was there before is ended: no event goes to two. */
  attach (sink: Sink, after = this.number): void {
    this.sink?.disconnect()
    this.sink = sink
    this.since = undefined
    const dropped = this.number - this.texts.length
    this.texts.forEach((text, i) => { if (dropped + i >= after) sink.event(`${this.id}.${dropped + i + 1}`, text) })
    if (this.ended) this.end()
  }

  /** Gives the connection up, so that the client comes back for the rest. */
  release (): void {
    const { sink } = this
    this.detach()
    sink?.disconnect()
  }

  /** The connection is gone. */
  detach (sink = this.sink): void {
    if (sink !== this.sink) return
    this.sink = undefined
    this.since ??= Date.now()
  }

  /** Drops the oldest event; its size. */
  forget (): number { return this.texts.shift()?.length ?? 0 }
}

/** The streams of one session, bounded in all. */
export class Replays {
  private readonly byId = new Map<string, ReplayStream>()
  private readonly limits: ReplayLimits
  private size = 0
  private count = 0
  /** When streams whose time is over are looked for again: not at every new stream, since there may be many. */
  private next = 0

  constructor (limits: ReplayLimits) { this.limits = limits }

  open (): ReplayStream {
    const now = Date.now()
    if (now >= this.next) this.sweep(now)
    const stream = new ReplayStream(size => this.kept(size))
    this.byId.set(stream.id, stream)
    return stream
  }

  /** The stream of an event id, and the number of the event in it; undefined where it is not of this session, or no longer kept. */
  find (eventId: string): { stream: ReplayStream, after: number } | undefined {
    const [id = '', number = ''] = eventId.split('.', 2)
    const stream = this.byId.get(id)
    const after = Number(number)
    if (stream === undefined || !/^\d{1,15}$/.test(number) || !stream.reaches(after)) return undefined
    return { stream, after }
  }

  private sweep (now: number): void {
    this.next = now + this.limits.ttl / 10
    for (const stream of this.byId.values()) if (this.over(stream, now)) this.drop(stream)
  }

  /** A stream that still brings changes is kept as long as its session. */
  private over (stream: ReplayStream, now: number): boolean { return stream.listener === undefined && stream.since !== undefined && now - stream.since > this.limits.ttl }

  private kept (size: number): void {
    this.size += size
    this.count++
    if (this.count > this.limits.events || this.size > this.limits.size) this.trim()
  }

  /** The oldest streams lose their oldest events first. */
  private trim (): void {
    for (const stream of this.byId.values()) {
      while (stream.count > 0) {
        if (this.count <= this.limits.events && this.size <= this.limits.size) return
        this.size -= stream.forget()
        this.count--
      }
      if (stream.spent) this.drop(stream)
    }
  }

  private drop (stream: ReplayStream): void {
    this.size -= stream.size
    this.count -= stream.count
    this.byId.delete(stream.id)
  }
}
