/** How long something is kept, and how much of it. */
export interface LogLimits {
  /** Entries that a log keeps; the oldest go first. */
  readonly max: number
  /** Characters that a log keeps, its newest entry aside. */
  readonly size: number
  /** How long the log is kept after this entry, in milliseconds. */
  readonly ttl: number
  /** A channel that hears of this entry in any case. */
  readonly tell?: string | undefined
}

export interface LogEntry {
  /**
   * Greater, compared as text, than that of every entry before it in the same log: thirteen digits of a time in milliseconds, a hyphen,
   * and six digits that tell apart what came in the same one.
   */
  readonly id: string
  readonly entry: string
}

/** What a log holds after an entry. */
export interface LogReading {
  readonly entries: readonly LogEntry[]
  /** False if entries that came after the one asked for have been dropped. */
  readonly complete: boolean
  /** The id of the newest entry of the log, whether it is among `entries` or not. */
  readonly last: string
}

/**
 * Where several processes keep what they have in common. Everything in it has a lifetime, which is finite. Each method is one step: no other is seen
 * half-way through it. A method rejects in a bounded time if the store cannot be reached.
 */
export interface Store {
  /** The value, and a new lifetime for it if `touch` (milliseconds) is given. */
  get (key: string, options?: { readonly touch?: number }): Promise<string | undefined>
  set (key: string, value: string, ttl: number): Promise<void>
  /** Sets the value only if it is `before`, `undefined` being none at all. Whether it did. */
  swap (key: string, before: string | undefined, after: string, ttl: number): Promise<boolean>
  /** Whether there was one. A log goes with all its entries. */
  delete (key: string): Promise<boolean>
  /**
   * Adds an entry to a log and gives its id. In the same step the entry is announced on `tell` and on the channel that the last `read`
   * named, as the JSON array `[log, id, entry]`. No id is given twice, not even if the log was gone in between.
   */
  append (log: string, entry: string, limits: LogLimits): Promise<string>
  /**
   * The entries after the one with that id, which need not be there any more; none where some of them have been dropped. All there are
   * for `''`. `undefined` if there is no such log. In the same step `tell` becomes the channel that hears of the entries to come; `''` is
   * none. With `limit` there are so many at most, the oldest of them: what is in a log is not brought in one piece.
   */
  read (log: string, after: string, options?: { readonly tell?: string, readonly limit?: number }): Promise<LogReading | undefined>
}
