import { randomUUID } from 'node:crypto'
import type { AuthInfo, ClientCapabilities, Implementation } from '../../types/index.js'
import { reached } from '../errors.js'
import type { Notification } from '../jsonrpc.js'
import type { Served } from '../method.js'
import { Session } from '../session.js'
import { Sessions } from '../sessions.js'
import type { SessionLimits } from '../session-limits.js'
import type { Transport } from '../session.js'
import type { Listener } from './listener.js'
import type { Announcement, Note } from './member.js'
import { keyOf, logOf, OWN } from './record.js'
import type { SessionRecord } from './record.js'
import { ClusterSession } from './session.js'
import type { Shared } from './session.js'
import { MESSAGE } from './stream.js'

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** How long a session is kept whose client says nothing after `initialize`, in ms: opening many fills no store. */
const UNUSED = 300_000
/** Where the stream of an HTTP+SSE session is: its messages may come in at any process. */
const placeOf = (session: string): string => `sse:{${session}}`

/** A message that came in elsewhere, and who sent it. */
export interface Forwarded { body: unknown, auth: AuthInfo | undefined, address: string }

/** The sessions that all processes serve. Here are those that this one has to do with; the limits are for each process. */
export class ClusterSessions extends Sessions {
  private readonly shared: Shared
  private readonly served: (version: string) => Served | undefined
  private readonly saving = new WeakMap<Session, Promise<void>>()
  /** Messages for sessions that came while those before them may have been missed. */
  private postponed: Announcement[] | undefined
  private message = (session: string, message: Forwarded) => {}

  constructor (shared: Shared, limits: SessionLimits, served: (version: string) => Served | undefined) {
    super(limits)
    this.shared = shared
    this.served = served
    const { member } = shared
    member.on('session', ({ session, text }: Note) => { this.mine(session)?.take(text) })
    member.on('ended', ({ session, reason }: Note) => { this.forget(session, reason) })
    member.on('answer', ({ session, response }: Note) => { this.mine(session)?.answer(response) })
    member.on('brought', ({ session, question }: Note) => { this.mine(session)?.brought(question) })
    member.on('notification', ({ session, from, message }: Note) => { if (from !== member.id) this.notified(session, message) })
    member.on('message', ({ session, message }: Note) => { this.message(session, message) })
    member.onEntry((...announcement) => this.announced(announcement))
    member.onGap(() => Promise.all([...this.byId.values()].filter(session => session.busy).map(session => this.load(session.id))), () => { this.postponed ??= [] })
    member.onTick(() => { this.renew() })
  }

  override open (transport: Transport, served: Served, client?: Implementation, capabilities: ClientCapabilities = {}, principal?: string): Session {
    if (transport !== 'http') {
      const session = super.open(transport, served, client, capabilities, principal)
      this.saving.set(session, this.place(session))
      return session
    }
    const record: SessionRecord = { turn: 0, version: served.revision.version, principal, client, capabilities, since: this.shared.journal.now }
    const session = this.keep(new ClusterSession(randomUUID(), served, JSON.stringify(record), this.shared, this.bounds))
    this.fresh.add(session)
    this.saving.set(session, this.shared.member.store.set(keyOf(session.id), JSON.stringify(record), Math.min(this.limits.idle, UNUSED)))
    return session
  }

  override known (session: Session): Promise<void> {
    return reached(this.saving.get(session) ?? Promise.resolve()).catch((error: unknown) => {
      this.drop(session, 'The session could not be kept')
      throw error
    })
  }

  /** Reads the session, which counts as used, so that `find` has it as it is. The one round trip of a call. */
  async load (id: string): Promise<void> {
    if (!ID.test(id)) return
    const text = await reached(this.shared.member.store.get(keyOf(id), { touch: this.limits.idle }))
    const session = this.mine(id)
    if (text === undefined) this.forget(id, 'The session is over')
    else if (session !== undefined) {
      session.take(text)
      session.seen = Date.now()
      // Those that were used longest ago are the first.
      this.byId.delete(id)
      this.byId.set(id, session)
    } else this.revive(id, text)
  }

  /** In all processes. */
  override async end (session: Session, reason: string): Promise<void> {
    const { store } = this.shared.member
    const http = session instanceof ClusterSession
    this.drop(session, reason)
    if (!http) {
      await store.delete(placeOf(session.id)).catch(() => {}) // its time will end it
      return
    }
    await reached(store.delete(keyOf(session.id)))
    await reached(Promise.all([store.delete(logOf(session.id, OWN)), this.shared.member.tellAll({ kind: 'ended', session: session.id, reason })]))
  }

  /** Brings what was said to sessions while this process heard nothing, before what has come since. */
  async catchUp (): Promise<void> {
    await Promise.all([...this.byId.keys()].map(id => this.listener(id)?.recall()))
    const { postponed = [] } = this
    this.postponed = undefined
    for (const one of postponed) this.announced(one)
  }

  /** Takes messages for streams of HTTP+SSE that are here. */
  onMessage (message: (session: string, message: Forwarded) => void): void { this.message = message }

  /** Brings a message to the process that holds the stream of an HTTP+SSE session; false where there is none, or it is another's. */
  async forward (session: string, principal: string | undefined, message: Forwarded): Promise<boolean> {
    const { member } = this.shared
    const place = ID.test(session) ? await reached(member.store.get(placeOf(session))) : undefined
    if (place === undefined) return false
    const { process, principal: owner } = JSON.parse(place) as { process: string, principal?: string }
    if (owner !== principal) return false
    // A Redis that is several counts those that heard it from the one alone that was told.
    return await reached(member.tell(process, { kind: 'message', session, message })) || await member.alive(process) === true
  }

  mine (id: string): ClusterSession | undefined {
    const session = this.byId.get(id)
    return session instanceof ClusterSession ? session : undefined
  }

  private revive (id: string, text: string): void {
    const { version } = JSON.parse(text) as SessionRecord
    const served = this.served(version)
    if (served === undefined) return // another version of the app opened it
    const session = new ClusterSession(id, served, text, this.shared, this.bounds)
    if (this.crowded(session.principal)) this.evict(one => one.principal === session.principal)
    if (this.full) this.makeRoom(() => this.full)
    if (this.full) this.evict(() => true)
    this.keep(session)
  }

  /**
   * What all processes know need not be known here: it can be read again. A new session makes others go that were used, but none whose client has
   * had no time to; and it makes none go because its caller has many, or there would be no end to them.
   */
  protected override makeRoom (needed: () => boolean, principal?: string): void {
    super.makeRoom(needed, principal)
    if (principal === undefined && needed()) this.evict(session => !this.fresh.has(session))
  }

  /** The one that was used longest ago. */
  private evict (may: (session: Session) => boolean): void {
    for (const session of this.byId.values()) {
      if (session.busy || !may(session)) continue
      this.drop(session, 'There is no room for it here')
      return
    }
  }

  private forget (id: string, reason: string): void {
    const session = this.mine(id)
    if (session !== undefined) this.drop(session, reason)
  }

  /** The stream that is here for what is said to a session. */
  private listener (session: string): Listener | undefined {
    const listeners = [...this.mine(session)?.listeners ?? []]
    return listeners.find(one => one.newest) ?? listeners.at(-1)
  }

  private announced ([log, id, entry]: Announcement): boolean {
    const [, session] = /^log:\{(.+)\}:own$/.exec(log) ?? []
    if (session === undefined) return false
    if (this.postponed !== undefined) this.postponed.push([log, id, entry])
    else if (entry.startsWith(MESSAGE)) this.listener(session)?.message(id, entry.slice(1))
    return true
  }

  /** A notification that came in elsewhere is taken as one that came in here. */
  private notified (id: string, { method, params }: Notification): void {
    const session = this.mine(id)
    session?.served.listeners.get(method)?.receive(params ?? {}, session.inFlight)
  }

  protected override tick (): void {
    super.tick()
    this.renew()
  }

  private renew (): void {
    for (const session of [...this.byId.values()]) {
      if (!(session instanceof ClusterSession)) this.renewPlace(session).catch(() => {})
      else if (session.busy || session.strays) this.renewed(session).catch(() => {})
    }
  }

  /** A session with a stream or a call is not idle, though nobody reads it. One that the store has lost is over, and its streams say so. */
  private async renewed (session: ClusterSession): Promise<void> {
    const text = await this.shared.member.store.get(keyOf(session.id), { touch: this.limits.idle })
    if (this.byId.get(session.id) !== session) return
    if (text === undefined) return this.drop(session, 'The session is over')
    session.take(text)
    await session.watch()
  }

  private async renewPlace (session: Session): Promise<void> {
    const place = await this.shared.member.store.get(placeOf(session.id), { touch: this.limits.idle })
    if (place === undefined && this.byId.has(session.id)) await this.place(session)
  }

  private place ({ id, principal }: Session): Promise<void> {
    return this.shared.member.store.set(placeOf(id), JSON.stringify({ process: this.shared.member.id, principal }), this.limits.idle)
  }
}
