import { randomUUID } from 'node:crypto'

// What was sent on the streams of a session, so that a client that lost one can go on where it was
// (2025-03-26 to 2025-11-25 basic/transports, Resumability and Redelivery).

/** Where events go while somebody is connected. */
export interface Sink {
  /** Without an id nobody can come back for what follows. */
  event (id: string | undefined, text: string): void
  disconnect (): void
}

/** A stream that may outlive its connections. */
export interface KeptStream {
  /** An id that stands for the beginning of the stream. */
  readonly start: string
  readonly connected: boolean
  write (text: string): void
  end (): void
  attach (sink: Sink, after?: number): void
  detach (sink: Sink): void
  release (): void
}

export const REPLAY: ReplayLimits = { events: 10_000, size: 2_097_152, ttl: 300_000 }
export const SHELF: ShelfLimits = { streams: 10_000, size: 67_108_864, ttl: REPLAY.ttl }

export interface ReplayLimits {
  /** Events, characters of them, and streams without a connection, that a session keeps in all. The last are no more than the first. */
  events: number
  size: number
  /** How long a stream without a connection is kept, in ms. */
  ttl: number
}

export interface ShelfLimits {
  /** Streams without a connection. */
  streams: number
  /** Characters that all streams keep. */
  size: number
  ttl: number
}

/** One stream, which may outlive its connections. Its events have ids that no other stream of the session has. */
export class ReplayStream implements KeptStream {
  readonly id = randomUUID().slice(0, 8)
  /** The last of what was sent; the newest has the number `number`. */
  private readonly texts: string[] = []
  private readonly home: Replays
  private number = 0
  private sink: Sink | undefined
  private ended = false
  private lasting = false
  private dropped = false
  /** When nothing held it any more, neither a connection nor what it brings, in ms of Date.now(). */
  since = 0
  /** Whose changes it brings, where it is a stream for changes. */
  listener: { enter (until?: number): void } | undefined

  constructor (home: Replays) { this.home = home }

  get size (): number { return this.texts.reduce((sum, text) => sum + text.length, 0) }
  get count (): number { return this.texts.length }
  get connected (): boolean { return this.sink !== undefined }
  /** Nothing will come, and nothing of what came is left. */
  get spent (): boolean { return this.ended && this.texts.length === 0 }

  /** An id that stands for the beginning of the stream. */
  get start (): string { return `${this.id}.0` }

  write (text: string): void {
    if (this.dropped) return
    this.number++
    this.texts.push(text)
    this.home.keep(text.length)
    this.sink?.event(`${this.id}.${this.number}`, text)
  }

  /** Nothing follows; what was sent can still be fetched for a while. */
  end (): void {
    this.ended = true
    this.lasting = false
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
    this.settle()
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
    this.settle()
  }

  /** Whether it is kept as long as its session, connected or not: the changes that come meanwhile are its own. */
  last (lasting: boolean): void {
    this.lasting = lasting && !this.ended
    this.settle()
  }

  /** Drops the oldest event; its size. */
  forget (): number { return this.texts.shift()?.length ?? 0 }

  drop (): void {
    this.dropped = true
    this.home.drop(this)
  }

  private settle (): void {
    if (this.dropped) return
    if (this.lasting || this.sink !== undefined) this.home.take(this)
    else this.home.put(this)
  }
}

/** The streams of one session, bounded in all. */
export class Replays {
  private readonly shelf: Shelf
  private readonly byId = new Map<string, ReplayStream>()
  /** Those that nobody is connected to, in the order in which they were left. */
  private readonly left = new Set<ReplayStream>()
  private readonly limits: ReplayLimits
  private size = 0
  private count = 0

  constructor (limits: ReplayLimits, shelf = new Shelf({ ...SHELF, ttl: limits.ttl })) {
    this.limits = limits
    this.shelf = shelf
  }

  open (): ReplayStream {
    this.shelf.sweep(Date.now())
    const stream = new ReplayStream(this)
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

  put (stream: ReplayStream): void {
    this.left.add(stream)
    this.shelf.put(stream)
    if (this.left.size > this.limits.events) first(this.left)?.drop()
  }

  take (stream: ReplayStream): void {
    this.left.delete(stream)
    this.shelf.take(stream)
  }

  /** The session is over. */
  clear (): void { for (const stream of this.byId.values()) stream.drop() }

  keep (size: number): void {
    this.size += size
    this.count++
    this.shelf.keep(size)
    if (this.full) this.trim()
  }

  drop (stream: ReplayStream): void {
    this.size -= stream.size
    this.count -= stream.count
    this.shelf.free(stream.size)
    this.take(stream)
    this.byId.delete(stream.id)
  }

  private get full (): boolean { return this.count > this.limits.events || this.size > this.limits.size || this.shelf.full }

  /** The oldest streams lose their oldest events first. */
  private trim (): void {
    for (const stream of this.byId.values()) {
      while (stream.count > 0) {
        if (!this.full) return
        const size = stream.forget()
        this.size -= size
        this.count--
        this.shelf.free(size)
      }
      if (stream.spent) stream.drop()
    }
  }
}

/** Streams of all sessions that nobody is connected to, in the order in which they were left. The first go when their time is over, or when all streams keep too much. */
export class Shelf {
  private readonly left = new Set<ReplayStream>()
  private readonly limits: ShelfLimits
  private size = 0

  constructor (limits: ShelfLimits) { this.limits = limits }

  get full (): boolean { return this.size > this.limits.size }

  put (stream: ReplayStream): void {
    if (this.left.has(stream)) return
    stream.since = Date.now()
    this.left.add(stream)
    if (this.left.size > this.limits.streams) first(this.left)?.drop()
  }

  take (stream: ReplayStream): void { this.left.delete(stream) }

  keep (size: number): void {
    this.size += size
    while (this.full && this.left.size > 0) first(this.left)?.drop()
  }

  free (size: number): void { this.size -= size }

  sweep (now: number): void {
    for (const stream of this.left) {
      if (now - stream.since <= this.limits.ttl) return
      stream.drop()
    }
  }
}

function first<T> (set: ReadonlySet<T>): T | undefined {
  const [one] = set
  return one
}
