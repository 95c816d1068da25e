import type { Broker, LogEntry, LogLimits, LogReading, Store } from '../../types/index.js'

const SWEEP = 30_000
/** Ids are compared as text: digits of time, then of what came in the same millisecond. */
const idOf = (ms: number, nth: number): string => `${String(ms).padStart(13, '0')}-${String(nth).padStart(6, '0')}`

interface Log {
  entries: LogEntry[]
  size: number
  /** Id of the newest entry that was dropped. */
  dropped: string
  tell: string
}

interface Kept<T> { value: T, until: number }

/** What one process knows: the store where nothing is shared, and of tests that play several processes in one. */
export class MemoryStore implements Store {
  private readonly values = new Map<string, Kept<string>>()
  private readonly logs = new Map<string, Kept<Log>>()
  private readonly broker: Broker | undefined
  private timer: NodeJS.Timeout | undefined
  private ms = 0
  private nth = 0

  /** @param broker announces what is appended */
  constructor (broker?: Broker) { this.broker = broker }

  async get (key: string, { touch }: { touch?: number } = {}): Promise<string | undefined> {
    const kept = alive(this.values, key)
    if (kept !== undefined && touch !== undefined) kept.until = Date.now() + touch
    return kept?.value
  }

  async set (key: string, value: string, ttl: number): Promise<void> { this.keep(this.values, key, value, ttl) }

  async swap (key: string, before: string | undefined, after: string, ttl: number): Promise<boolean> {
    if (alive(this.values, key)?.value !== before) return false
    this.keep(this.values, key, after, ttl)
    return true
  }

  async delete (key: string): Promise<boolean> {
    const there = alive(this.values, key) !== undefined || alive(this.logs, key) !== undefined
    this.values.delete(key)
    this.logs.delete(key)
    return there
  }

  async append (name: string, entry: string, { max, size, ttl, tell }: LogLimits): Promise<string> {
    const log = alive(this.logs, name)?.value ?? { entries: [], size: 0, dropped: '', tell: '' }
    const id = this.nextId()
    log.entries.push({ id, entry })
    log.size += entry.length
    while (log.entries.length > max || (log.size > size && log.entries.length > 1)) {
      const oldest = log.entries.shift() as LogEntry
      log.size -= oldest.entry.length
      log.dropped = oldest.id
    }
    this.keep(this.logs, name, log, ttl)
    const heard = new Set([tell ?? '', log.tell])
    heard.delete('')
    for (const channel of heard) this.broker?.publish(channel, JSON.stringify([name, id, entry]))
    return id
  }

  async read (name: string, after: string, { tell, limit = Infinity }: { tell?: string, limit?: number } = {}): Promise<LogReading | undefined> {
    const log = alive(this.logs, name)?.value
    if (log === undefined) return undefined
    if (tell !== undefined) log.tell = tell
    const complete = log.dropped <= after
    const from = complete || after === '' ? log.entries.findIndex(one => one.id > after) : -1
    return { entries: from < 0 ? [] : log.entries.slice(from, from + limit), complete, last: log.entries.at(-1)?.id ?? '' }
  }

  private nextId (): string {
    const now = Math.max(Date.now(), this.ms)
    this.nth = now === this.ms ? this.nth + 1 : 0
    this.ms = now
    return idOf(now, this.nth)
  }

  private keep<T> (map: Map<string, Kept<T>>, key: string, value: T, ttl: number): void {
    map.set(key, { value, until: Date.now() + ttl })
    this.timer ??= setInterval(() => this.sweep(), SWEEP).unref()
  }

  private sweep (): void {
    for (const map of [this.values, this.logs]) for (const key of map.keys()) alive<unknown>(map, key)
    if (this.values.size + this.logs.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

function alive<T> (map: Map<string, Kept<T>>, key: string): Kept<T> | undefined {
  const kept = map.get(key)
  if (kept === undefined || kept.until > Date.now()) return kept
  map.delete(key)
}
