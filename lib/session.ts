import type { ClientCapabilities, Implementation } from '../types/index.js'
import { MAX_URIS } from './changes.js'
import type { Change } from './changes.js'
import { Asks } from './asks.js'
import { CallCancelled, rpcError } from './errors.js'
import type { Exchange } from './exchange.js'
import type { Id, Notification, Response } from './jsonrpc.js'
import type { Served } from './method.js'
import type { LEVELS } from './schemas/envelope.js'
import { Replays } from './replay.js'
import type { KeptStream, Shelf } from './replay.js'
import { BOUNDS } from './session-limits.js'
import type { SessionBounds } from './session-limits.js'
import type { Subscription } from './subscriptions.js'

const NOTHING: ReadonlySet<Exchange> = new Set()

/** Streams for changes that a session may have open: a client needs one, and one more while it comes back. */
const MAX_STREAMS = 8

export type Transport = 'http' | 'http-sse' | 'stdio'

/** What a handshake settled, and what is under way because of it. Kept small: there may be many, and most are idle. */
export class Session {
  readonly id: string
  readonly transport: Transport
  served: Served
  /** Whose it is; nobody else finds it. */
  readonly principal: string | undefined
  client: Implementation | undefined
  capabilities: ClientCapabilities
  logLevel: typeof LEVELS[number] | undefined
  /** Last use, in ms of Date.now(). */
  seen = Date.now()
  /** Streams for changes, the newest last: a change goes to that one alone (2025-11-25 basic/transports, Multiple Connections). */
  protected streams: Subscription[] | undefined
  private calls: Set<Exchange> | undefined
  private kept: Replays | undefined
  private readonly shelf: Shelf | undefined
  /** Resources whose updates it wants (`resources/subscribe`). */
  protected uris: Set<string> | undefined
  private subscribed = 0
  /** Our own requests that wait for an answer. */
  private waiting: Asks | undefined
  private readonly bounds: SessionBounds

  constructor (id: string, transport: Transport, served: Served, client: Implementation | undefined, capabilities: ClientCapabilities, principal?: string, shelf?: Shelf, bounds = BOUNDS) {
    this.bounds = bounds
    this.id = id
    this.transport = transport
    this.served = served
    this.principal = principal
    this.client = client
    this.capabilities = capabilities
    this.shelf = shelf
  }

  get inFlight (): ReadonlySet<Exchange> { return this.calls ?? NOTHING }
  get busy (): boolean { return this.inFlight.size > 0 || this.streams?.some(stream => stream.connected !== false) === true }
  /** What its streams have brought, for clients that come back. */
  get replays (): Replays { return (this.kept ??= new Replays(this.bounds.replay, this.shelf)) }
  /** Begins the ids of its own requests. */
  protected get asks (): string { return 'ask-' }

  /** A stream for the answers to requests of these ids. */
  stream (ids: Id[]): KeptStream { return this.replays.open() }

  /** @throws McpError (503) where its calls are as many as they may be */
  admit (more = 1): void {
    const { calls } = this.bounds
    if (this.inFlight.size + more > calls) throw rpcError('Unavailable', `a session may have ${calls} calls in flight; wait for some of them`)
  }

  began (exchange: Exchange): void { (this.calls ??= new Set()).add(exchange) }
  ended (exchange: Exchange): void {
    if (this.calls?.delete(exchange) === true) this.seen = Date.now()
  }

  /** The newest stream from now on. Those that nobody is connected to give way to it, and the oldest of too many; what they brought can still be fetched. */
  attach (stream: Subscription): void {
    const others = this.streams?.filter(one => one !== stream) ?? []
    const kept = others.filter(one => one.connected !== false).slice(1 - MAX_STREAMS)
    this.streams = [...kept, stream]
    for (const one of others) if (!kept.includes(one)) one.retire?.()
  }

  detach (stream: Subscription): void { this.streams = this.streams?.filter(one => one !== stream) }
  newest (stream: Subscription): boolean { return (this.open ?? this.streams?.at(-1)) === stream }
  private get open (): Subscription | undefined { return this.streams?.findLast(one => one.connected !== false) }

  // What other processes must know, where there are any, is done when the promise says so.

  setLevel (level: NonNullable<Session['logLevel']>): Promise<void> | void { this.logLevel = level }

  /** @throws McpError where that is more than a session may have */
  subscribe (uri: string): Promise<void> | void {
    const uris = (this.uris ??= new Set())
    if (uris.has(uri)) return
    if (this.subscribed + uri.length > MAX_URIS) throw rpcError('InvalidParams', `a session may subscribe to URIs of ${MAX_URIS} characters together; unsubscribe from some first`)
    this.subscribed += uri.length
    uris.add(uri)
  }

  get subscriptions (): Iterable<string> { return this.uris ?? [] }

  protected subscribedTo (uris: string[]): void {
    this.uris = new Set(uris)
    this.subscribed = uris.reduce((sum, uri) => sum + uri.length, 0)
  }

  unsubscribe (uri: string): Promise<void> | void {
    if (this.uris?.delete(uri) === true) this.subscribed -= uri.length
  }

  /** Lists are everybody's; an update of a resource is for those who subscribed to it. */
  wants (change: Change): boolean { return change.kind !== 'resource' || this.uris?.has(change.uri as string) === true }

  /** Sends on the newest stream for changes; undefined where there is none. */
  get sender (): ((text: string) => Promise<void> | void) | undefined {
    const { open } = this
    return open?.send?.bind(open)
  }

  /** A request of our own. What aborts the call takes the question back. */
  ask (method: string, params: Record<string, unknown>, send: (text: string) => Promise<void> | void, signal: AbortSignal): Promise<unknown> {
    return (this.waiting ??= new Asks(this.asks, this.bounds.questions)).ask(method, params, send, signal)
  }

  /** No answer will come any more. */
  unanswered (reason: Error): void { this.waiting?.none(reason) }

  /** The client's answer to a request of ours; one that nobody waits for is no error. */
  answer (response: Response): Promise<void> | void { this.waiting?.answer(response) }

  /** A notification of the client came in; it may be for a call that runs elsewhere. */
  heard (message: Notification): Promise<void> | void {}

  close (reason: string): void {
    for (const exchange of [...this.inFlight]) exchange.cancel(new CallCancelled(reason))
    for (const stream of this.streams ?? []) stream.end()
    this.kept?.clear()
  }
}
