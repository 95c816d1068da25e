import { randomUUID } from 'node:crypto'
import type { ClientCapabilities, Implementation } from '../types/index.js'
import { MAX_URIS } from './changes.js'
import type { Change } from './changes.js'
import { Asks } from './asks.js'
import { CallCancelled, rpcError } from './errors.js'
import type { Exchange } from './exchange.js'
import type { Id, Notification, Response } from './jsonrpc.js'
import type { Served } from './method.js'
import type { LEVELS } from './schemas/envelope.js'
import { Replays, Shelf, SHELF } from './replay.js'
import type { KeptStream } from './replay.js'
import { BOUNDS } from './session-limits.js'
import type { SessionBounds, SessionLimits } from './session-limits.js'
import type { Subscription } from './subscriptions.js'

const NOTHING: ReadonlySet<Exchange> = new Set()

/** Streams for changes that a session may have open: a client needs one, and one more while it comes back. */
const MAX_STREAMS = 8

/** How long a client has, in ms, to send what follows its `initialize`: before, its session gives way to no other; after, it ends. */
const FRESH = { grace: 5_000, idle: 300_000 }

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

/** The sessions of one endpoint: unguessable ids, an end after idle time, and a bound on how many there are. */
export class Sessions {
  protected readonly byId = new Map<string, Session>()
  /** Whose client has said nothing since `initialize`, the oldest first. */
  protected readonly fresh = new Set<Session>()
  private readonly shelf: Shelf
  protected readonly limits: SessionLimits
  protected readonly bounds: SessionBounds
  private timer: NodeJS.Timeout | undefined

  constructor (limits: SessionLimits, shelf?: Shelf) {
    this.limits = limits
    this.bounds = { ...BOUNDS, ...limits }
    this.shelf = shelf ?? new Shelf({ ...SHELF, ttl: this.bounds.replay.ttl })
  }

  get size (): number { return this.byId.size }

  /** @throws McpError (503) where there are as many as there may be */
  open (transport: Transport, served: Served, client?: Implementation, capabilities: ClientCapabilities = {}, principal?: string): Session {
    const session = this.keep(new Session(randomUUID(), transport, served, client, capabilities, principal, this.shelf, this.bounds))
    if (transport === 'http') this.fresh.add(session)
    return session
  }

  /** Resolves when other processes know of the session; undefined where there are none. */
  known (session: Session): Promise<void> | undefined { return undefined }

  /** The session, which counts as used; undefined where there is none, its time is over, or it is another's. */
  find (id: string, transport: Transport, principal?: string): Session | undefined {
    const session = this.peek(id, transport, principal)
    if (session === undefined) return undefined
    session.seen = Date.now()
    this.fresh.delete(session)
    return session
  }

  peek (id: string, transport: Transport, principal?: string): Session | undefined {
    const session = this.byId.get(id)
    return session?.transport !== transport || session.principal !== principal || this.expired(session, Date.now()) ? undefined : session
  }

  /** A promise where that takes a while. */
  end (session: Session, reason: string): Promise<void> | void { this.drop(session, reason) }

  endAll (reason: string): void { for (const session of [...this.byId.values()]) this.drop(session, reason) }

  protected keep<S extends Session> (session: S): S {
    if (this.byId.size >= this.limits.max) this.makeRoom()
    if (this.byId.size >= this.limits.max) throw rpcError('Unavailable', 'there are too many sessions; try again later')
    this.byId.set(session.id, session)
    this.timer ??= setInterval(() => this.tick(), Math.min(Math.max(this.limits.idle / 4, 50), 30_000)).unref()
    return session
  }

  protected drop (session: Session, reason: string): void {
    this.fresh.delete(session)
    if (this.byId.delete(session.id)) session.close(reason)
    if (this.byId.size === 0) this.stop()
  }

  private expired (session: Session, now: number): boolean {
    const idle = this.fresh.has(session) ? Math.min(this.limits.idle, FRESH.idle) : this.limits.idle
    return now - session.seen > idle && !session.busy
  }

  /** A session whose client is there goes before no other; of the rest the oldest does, so that nobody can shut the others out by opening many. */
  protected makeRoom (): void {
    this.sweep()
    const [oldest] = this.fresh
    if (this.byId.size >= this.limits.max && oldest !== undefined && Date.now() - oldest.seen > FRESH.grace) this.drop(oldest, 'The session was not used, and another needed the room')
  }

  protected tick (): void { this.sweep() }

  private sweep (): void {
    const now = Date.now()
    this.shelf.sweep(now)
    for (const session of [...this.byId.values()]) if (this.expired(session, now)) this.drop(session, 'The session was idle too long')
  }

  private stop (): void {
    clearInterval(this.timer)
    this.timer = undefined
  }
}
