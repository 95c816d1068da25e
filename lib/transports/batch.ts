import { rpcError } from '../errors.js'
import { errorText, kindOf, readableId } from '../jsonrpc.js'
import type { Notification, Request } from '../jsonrpc.js'
import type { Channel, Served } from '../method.js'

// JSON-RPC batches, which 2025-03-26 alone has (basic/index, Batching): one exchange for each member, and one answer for all.

export interface Batch {
  requests: Request[]
  notifications: Notification[]
  /** Answers to members that are no message, as text. */
  refused: string[]
}

/** @throws McpError -32600 where nothing of it may be served */
export function readBatch (items: unknown[], served: Served, limit: number): Batch {
  if (!served.revision.batches) throw rpcError('InvalidRequest', `${served.revision.version} has no batches; send one message at a time`)
  if (items.length === 0) throw rpcError('InvalidRequest', 'a batch needs at least one message')
  if (items.length > limit) throw rpcError('InvalidRequest', `a batch may have ${limit} messages, this one has ${items.length}`)
  const batch: Batch = { requests: [], notifications: [], refused: [] }
  for (const item of items) {
    const kind = kindOf(item)
    if (kind === 'notification') batch.notifications.push(item as Notification)
    else if (kind === 'request' && (item as Request).method !== 'initialize') batch.requests.push(item as Request)
    else if (kind === 'request') batch.refused.push(refusal(item, 'initialize cannot be part of a batch'))
    else if (kind === 'invalid') batch.refused.push(refusal(item, 'not a JSON-RPC 2.0 message'))
  }
  if (new Set(batch.requests.map(one => one.id)).size < batch.requests.length) throw rpcError('InvalidRequest', 'two requests of the batch have the same id')
  return batch
}

const refusal = (item: unknown, why: string): string => errorText(readableId(item), rpcError('InvalidRequest', why))

/** Gathers the answers of a batch for the channel that it came through. */
export class BatchAnswer {
  private readonly outer: Channel
  private readonly answers: string[]
  private waiting: number
  private streaming = false

  constructor (outer: Channel, batch: Batch) {
    this.outer = outer
    this.answers = batch.refused
    this.waiting = batch.requests.length
    if (this.waiting === 0) this.finish()
  }

  /** The channel of one member. */
  member (): Channel {
    const { outer } = this
    return {
      streams: outer.streams,
      get connected () { return outer.connected },
      hears: outer.hears,
      send: text => this.send(text),
      end: text => this.add(text),
      close: () => this.add(undefined),
      hold: () => outer.hold(),
      onGone: listener => outer.onGone(listener),
      open () { throw rpcError('InvalidRequest', 'initialize cannot be part of a batch') }
    }
  }

  /** Something precedes the answers: from now on each goes out by itself. */
  private send (text: string): void {
    if (this.outer.streams) this.streaming = true
    this.outer.send(text)
  }

  private add (text: string | undefined): void {
    if (text !== undefined) this.answers.push(text)
    if (--this.waiting === 0) this.finish()
  }

  private finish (): void {
    if (this.answers.length === 0) return this.outer.close()
    if (!this.streaming) return this.outer.end(`[${this.answers.join(',')}]`, 200)
    for (const answer of this.answers) this.outer.send(answer)
    this.outer.close()
  }
}
