import { randomUUID } from 'node:crypto'
import type { ClientCapabilities, Implementation } from '../types/index.js'
import { MAX_URIS } from './changes.js'
import type { Change } from './changes.js'
import { CallCancelled, InputRejectedError, rpcError } from './errors.js'
import type { Exchange } from './exchange.js'
import { notificationText } from './jsonrpc.js'
import type { Id, Response } from './jsonrpc.js'
import type { Served } from './method.js'
import type { LEVELS } from './schemas/envelope.js'
import { REPLAY, Replays, Shelf, SHELF } from './replay.js'
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
  private streams: Subscription[] | undefined
  private calls: Set<Exchange> | undefined
  private kept: Replays | undefined
  private readonly shelf: Shelf | undefined
  /** Resources whose updates it wants (`resources/subscribe`). */
  private uris: Set<string> | undefined
  private subscribed = 0
  /** Our own requests that wait for an answer. */
  private waiting: Map<Id, (response: Response | Error) => void> | undefined
  private asked = 0

  constructor (id: string, transport: Transport, served: Served, client: Implementation | undefined, capabilities: ClientCapabilities, principal?: string, shelf?: Shelf) {
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
  get replays (): Replays { return (this.kept ??= new Replays(REPLAY, this.shelf)) }

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

  /** @throws McpError where that is more than a session may have */
  subscribe (uri: string): void {
    const uris = (this.uris ??= new Set())
    if (uris.has(uri)) return
    if (this.subscribed + uri.length > MAX_URIS) throw rpcError('InvalidParams', `a session may subscribe to URIs of ${MAX_URIS} characters together; unsubscribe from some first`)
    this.subscribed += uri.length
    uris.add(uri)
  }

  unsubscribe (uri: string): void {
    if (this.uris?.delete(uri) === true) this.subscribed -= uri.length
  }

  /** Lists are everybody's; an update of a resource is for those who subscribed to it. */
  wants (change: Change): boolean { return change.kind !== 'resource' || this.uris?.has(change.uri as string) === true }

  /** Sends on the newest stream for changes; undefined where there is none. */
  get sender (): ((text: string) => void) | undefined {
    const { open } = this
    return open?.send?.bind(open)
  }

  /** A request of our own. What aborts the call takes the question back. */
  ask (method: string, params: Record<string, unknown>, send: (text: string) => void, signal: AbortSignal): Promise<unknown> {
    const id = `ask-${++this.asked}`
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        this.waiting?.delete(id)
        send(notificationText('notifications/cancelled', { requestId: id, reason: 'The call that asked is over' }))
        reject(signal.reason)
      }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', withdraw, { once: true })
      const settle = (response: Response | Error) => {
        signal.removeEventListener('abort', withdraw)
        if (response instanceof Error) return reject(response)
        if (!('error' in response)) return resolve(response.result)
        const { code, message } = { ...response.error as { code?: unknown, message?: unknown } | null }
        reject(new InputRejectedError(`The client answered ${method} with an error: ${typeof message === 'string' ? message : 'it says no more'}`, typeof code === 'number' ? code : undefined))
      }
      ;(this.waiting ??= new Map()).set(id, settle)
      send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
  }

  /** No answer will come any more. */
  unanswered (reason: Error): void {
    for (const settle of this.waiting?.values() ?? []) settle(reason)
    this.waiting = undefined
  }

  /** The client's answer to a request of ours; one that nobody waits for is no error. */
  answer (response: Response): void {
    const settle = this.waiting?.get(response.id)
    this.waiting?.delete(response.id)
    settle?.(response)
  }

  close (reason: string): void {
    for (const exchange of [...this.inFlight]) exchange.cancel(new CallCancelled(reason))
    for (const stream of this.streams ?? []) stream.end()
    this.kept?.clear()
  }
}

export interface SessionLimits { idle: number, max: number }

/** The sessions of one endpoint: unguessable ids, an end after idle time, and a bound on how many there are. */
export class Sessions {
  private readonly byId = new Map<string, Session>()
  /** Whose client has said nothing since `initialize`, the oldest first. */
  private readonly fresh = new Set<Session>()
  private readonly shelf: Shelf
  private readonly limits: SessionLimits
  private timer: NodeJS.Timeout | undefined

  constructor (limits: SessionLimits, shelf = new Shelf(SHELF)) {
    this.limits = limits
    this.shelf = shelf
  }

  get size (): number { return this.byId.size }

  /** @throws McpError (503) where there are as many as there may be */
  open (transport: Transport, served: Served, client?: Implementation, capabilities: ClientCapabilities = {}, principal?: string): Session {
    if (this.byId.size >= this.limits.max) this.makeRoom()
    if (this.byId.size >= this.limits.max) throw rpcError('Unavailable', 'there are too many sessions; try again later')
    const session = new Session(randomUUID(), transport, served, client, capabilities, principal, this.shelf)
    this.byId.set(session.id, session)
    if (transport === 'http') this.fresh.add(session)
    this.timer ??= setInterval(() => this.sweep(), Math.min(Math.max(this.limits.idle / 4, 50), 30_000)).unref()
    return session
  }

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

  end (session: Session, reason: string): void {
    this.fresh.delete(session)
    if (this.byId.delete(session.id)) session.close(reason)
    if (this.byId.size === 0) this.stop()
  }

  endAll (reason: string): void { for (const session of [...this.byId.values()]) this.end(session, reason) }

  private expired (session: Session, now: number): boolean {
    const idle = this.fresh.has(session) ? Math.min(this.limits.idle, FRESH.idle) : this.limits.idle
    return now - session.seen > idle && !session.busy
  }

  /** A session whose client is there goes before no other; of the rest the oldest does, so that nobody can shut the others out by opening many. */
  private makeRoom (): void {
    this.sweep()
    const [oldest] = this.fresh
    if (this.byId.size >= this.limits.max && oldest !== undefined && Date.now() - oldest.seen > FRESH.grace) this.end(oldest, 'The session was not used, and another needed the room')
  }

  private sweep (): void {
    const now = Date.now()
    this.shelf.sweep(now)
    for (const session of [...this.byId.values()]) if (this.expired(session, now)) this.end(session, 'The session was idle too long')
  }

  private stop (): void {
    clearInterval(this.timer)
    this.timer = undefined
  }
}
