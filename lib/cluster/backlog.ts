import type { LogLimits } from '../../types/index.js'

/** Between two attempts, in ms: at first, and at most. */
const DELAY = { first: 250, most: 1_000 }

/** What all streams of a process may keep together, in characters. */
export class Room {
  private readonly size: number
  private used = 0

  constructor (size: number) { this.size = size }

  get full (): boolean { return this.used > this.size }
  take (size: number): void { this.used += size }
}

interface Item { entry: string, limits: LogLimits }

export interface BacklogOptions {
  append (entry: string, limits: LogLimits): Promise<string>
  limits: LogLimits
  /** How long an entry is kept, in ms. */
  ttl: number
  room: Room
  /** Says in the log that what should follow is lost. */
  mark: string
  /** What was kept is dropped. */
  lost (): void
  /** Nothing is kept any more. */
  empty (): void
}

/** What the store has not taken of a stream. It is offered again until it does, in order; what is too much, or too old, is lost as a whole. */
export class Backlog {
  private readonly options: BacklogOptions
  private items: Item[] = []
  private size = 0
  private since = 0
  private delay = DELAY.first
  private timer: NodeJS.Timeout | undefined
  private offering: Promise<void> | undefined
  lost = false

  constructor (options: BacklogOptions) { this.options = options }

  get waiting (): boolean { return this.items.length > 0 }

  add (entry: string, limits: LogLimits): void {
    if (this.lost) return
    if (!this.waiting) this.since = Date.now()
    this.push(entry, limits)
    const { limits: { max, size }, room } = this.options
    if (this.items.length > max || this.size > size || room.full) this.lose()
    this.soon()
  }

  /** Offers all of it, once. */
  offer (): Promise<void> { return (this.offering ??= this.each().finally(() => { this.offering = undefined })) }

  private async each (): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    for (let [item] = this.items; item !== undefined; [item] = this.items) {
      try {
        await this.options.append(item.entry, item.limits)
      } catch {
        return this.refused()
      }
      this.delay = DELAY.first
      if (this.items[0] === item) this.shift()
    }
    this.options.empty()
  }

  private refused (): void {
    if (Date.now() - this.since > this.options.ttl) {
      if (!this.lost) this.lose()
      this.clear()
      return this.options.empty()
    }
    this.delay = Math.min(this.delay * 2, DELAY.most)
    this.soon()
  }

  private lose (): void {
    this.clear()
    this.lost = true
    this.push(this.options.mark, this.options.limits)
    this.options.lost()
  }

  private soon (): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      this.offer()
    }, this.delay).unref()
  }

  private push (entry: string, limits: LogLimits): void {
    this.items.push({ entry, limits })
    this.count(entry.length)
  }

  private shift (): void { this.count(-(this.items.shift() as Item).entry.length) }

  private clear (): void {
    this.items = []
    this.count(-this.size)
  }

  private count (size: number): void {
    this.size += size
    this.options.room.take(size)
  }
}
