import { createHash } from 'node:crypto'
import { rpcError } from './errors.js'

/** A list cut into pages once. Cursors are opaque, and those of another list or of an older state of this one are refused. */
export class Pages<T> {
  private readonly first: T
  private readonly rest = new Map<string, T>()

  /**
   * @param names what the items are called: the state that a cursor belongs to
   * @param page makes the page of the items from `from` up to `to`
   */
  constructor (kind: string, names: string[], size: number, page: (from: number, to: number, nextCursor: string | undefined) => T) {
    const state = createHash('sha256').update(JSON.stringify([kind, names])).digest('base64url').slice(0, 12)
    const cursor = (from: number) => Buffer.from(`${state}.${from}`).toString('base64url')
    const make = (from: number) => page(from, from + size, from + size < names.length ? cursor(from + size) : undefined)
    this.first = make(0)
    for (let from = size; from < names.length; from += size) this.rest.set(cursor(from), make(from))
  }

  /** @throws McpError -32602 (2026-07-28 server/utilities/pagination, Error Handling) */
  at (cursor: string | null | undefined): T {
    if (cursor === undefined || cursor === null) return this.first
    const page = this.rest.get(cursor)
    if (page === undefined) throw rpcError('InvalidParams', 'cursor is unknown, or the list has changed since it was given out; start again without one')
    return page
  }
}
