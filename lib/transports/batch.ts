import { rpcError } from '../errors.js'
import { errorText, kindOf, readableId } from '../jsonrpc.js'
import type { Id, Notification, Request, Response } from '../jsonrpc.js'
import type { Channel, Served } from '../method.js'

// JSON-RPC batches, which 2025-03-26 alone has (basic/index, Batching): one exchange for each member, and one answer for all.

export interface Batch {
  requests: Request[]
  notifications: Notification[]
  /** The client's answers to requests of the server. */
  responses: Response[]
  /** Answers to members that are no message, as text. */
  refused: string[]
}

/**
 * @param used tells whether an id is in use
 * @throws McpError -32600 where nothing of it may be served
 */
export function readBatch (items: unknown[], served: Served, limit: number, used: (id: Id) => boolean = () => false): Batch {
  if (!served.revision.batches) throw rpcError('InvalidRequest', `${served.revision.version} has no batches; send one message at a time`)
  if (items.length === 0) throw rpcError('InvalidRequest', 'a batch needs at least one message')
  if (items.length > limit) throw rpcError('InvalidRequest', `a batch may have ${limit} messages, this one has ${items.length}`)
  const batch: Batch = { requests: [], notifications: [], responses: [], refused: [] }
  for (const item of items) {
    const kind = kindOf(item)
    const why = kind === 'invalid' ? 'not a JSON-RPC 2.0 message' : kind === 'request' ? unfit(item as Request, used) : undefined
    if (why !== undefined) batch.refused.push(errorText(readableId(item), rpcError('InvalidRequest', why)))
    else if (kind === 'notification') batch.notifications.push(item as Notification)
    else if (kind === 'request') batch.requests.push(item as Request)
    else batch.responses.push(item as Response)
  }
  if (new Set(batch.requests.map(one => one.id)).size < batch.requests.length) throw rpcError('InvalidRequest', 'two requests of the batch have the same id')
  return batch
}

function unfit ({ id, method }: Request, used: (id: Id) => boolean): string | undefined {
  if (method === 'initialize') return 'initialize cannot be part of a batch'
  return used(id) ? inUse(id) : undefined
}

export const inUse = (id: Id): string => `id ${JSON.stringify(id)} is in use by a request without an answer yet`

/** Gathers the answers of a batch for the channel that it came through. */
export class BatchAnswer {
  private readonly outer: Channel
  private readonly apart: boolean
  private readonly answers: string[]
  /** What is said of members that were cancelled, where nothing else is left to say. */
  private readonly unwanted: string[] = []
  private waiting: number
  private streaming = false
  private gone: (() => void)[] | undefined

  /** @param apart each answer goes out by itself once something precedes them, as on a stream of its own; else they are one array (JSON-RPC 2.0 section 6) */
  constructor (outer: Channel, batch: Batch, apart: boolean) {
    this.outer = outer
    this.apart = apart
    this.answers = batch.refused
    this.waiting = batch.requests.length
    if (this.waiting === 0) this.finish()
  }

  /** The channel of one member; `settled` is called once nothing more will come of it. */
  member (settled = () => {}): Channel {
    const { outer } = this
    return {
      streams: outer.streams,
      get connected () { return outer.connected },
      get gone () { return outer.gone },
      get ready () { return outer.ready },
      hears: outer.hears,
      send: text => this.send(text),
      end: text => {
        settled()
        this.add(text)
      },
      close: error => {
        settled()
        if (error !== undefined) this.unwanted.push(error)
        this.add(undefined)
      },
      hold: () => outer.hold(),
      onGone: listener => this.onGone(listener),
      open () { throw rpcError('InvalidRequest', 'initialize cannot be part of a batch') }
    }
  }

  /** One listener for all of them: a response warns of more than ten. */
  private onGone (listener: () => void): void {
    if (this.gone !== undefined) {
      this.gone.push(listener)
      return
    }
    const gone = this.gone = [listener]
    this.outer.onGone(() => {
      this.gone = undefined
      for (const one of gone) one()
    })
  }

  private send (text: string): void {
    this.streaming = this.apart
    this.outer.send(text)
  }

  private add (text: string | undefined): void {
    if (text !== undefined) this.answers.push(text)
    if (--this.waiting === 0) this.finish()
  }

  private finish (): void {
    if (this.answers.length === 0) return this.outer.close(`[${this.unwanted.join(',')}]`)
    if (!this.streaming) return this.outer.end(`[${this.answers.join(',')}]`, 200)
    for (const answer of this.answers) this.outer.send(answer)
    this.outer.close()
  }
}
