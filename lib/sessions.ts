import { randomUUID } from 'node:crypto'
import type { ClientCapabilities, Implementation } from '../types/index.js'
import { rpcError } from './errors.js'
import type { Served } from './method.js'
import { Shelf, SHELF } from './replay.js'
import { BOUNDS } from './session-limits.js'
import type { SessionBounds, SessionLimits } from './session-limits.js'
import { Session } from './session.js'
import type { Transport } from './session.js'

/** How long a client has, in ms, to send what follows its `initialize`: before, its session gives way to no other; after, it ends. */
const FRESH = { grace: 5_000, idle: 300_000 }

/** The sessions of one endpoint: unguessable ids, an end after idle time, and a bound on how many there are. */
export class Sessions {
  protected readonly byId = new Map<string, Session>()
  /** Whose client has said nothing since `initialize`, the oldest first. */
  protected readonly fresh = new Set<Session>()
  /** How many each caller has that is known by name. */
  private readonly held = new Map<string, number>()
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

  /** @throws McpError (503) where there are as many as there may be, of all or of this caller */
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
    const { principal } = session
    if (this.crowded(principal)) this.makeRoom(() => this.crowded(principal), principal)
    if (this.crowded(principal)) throw rpcError('Unavailable', `you have ${this.limits.maxPerCaller} sessions, which is as many as one caller may have; end those that are not used, or try again later`)
    if (this.full) this.makeRoom(() => this.full)
    if (this.full) throw rpcError('Unavailable', 'there are too many sessions; try again later')
    this.byId.set(session.id, session)
    if (principal !== undefined) this.held.set(principal, this.heldBy(principal) + 1)
    this.timer ??= setInterval(() => this.tick(), Math.min(Math.max(this.limits.idle / 4, 50), 30_000)).unref()
    return session
  }

  protected drop (session: Session, reason: string): void {
    this.fresh.delete(session)
    if (this.byId.delete(session.id)) {
      this.released(session)
      session.close(reason)
    }
    if (this.byId.size === 0) this.stop()
  }

  protected get full (): boolean { return this.byId.size >= this.limits.max }
  protected crowded (principal: string | undefined): boolean { return principal !== undefined && this.heldBy(principal) >= this.limits.maxPerCaller }
  private heldBy (principal: string): number { return this.held.get(principal) ?? 0 }

  private released ({ principal }: Session): void {
    if (principal === undefined) return
    const left = this.heldBy(principal) - 1
    if (left > 0) this.held.set(principal, left)
    else this.held.delete(principal)
  }

  private expired (session: Session, now: number): boolean {
    const idle = this.fresh.has(session) ? Math.min(this.limits.idle, FRESH.idle) : this.limits.idle
    return now - session.seen > idle && !session.busy
  }

  /**
   * A session whose client is there goes before no other; of the rest the oldest does, so that nobody can shut the others out by opening many.
   * Where a caller needs the room, it is one of his.
   */
  protected makeRoom (needed: () => boolean, principal?: string): void {
    this.sweep()
    if (!needed()) return
    for (const oldest of this.fresh) {
      if (principal !== undefined && oldest.principal !== principal) continue
      if (Date.now() - oldest.seen > FRESH.grace) this.drop(oldest, 'The session was not used, and another needed the room')
      return
    }
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
