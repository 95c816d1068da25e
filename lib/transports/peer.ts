import type { FastifyRequest } from 'fastify'
import type { AuthInfo } from '../../types/index.js'
import { dispatch, notify } from '../dispatch.js'
import { CallCancelled, McpError, NoStreamError, rpcError } from '../errors.js'
import { Exchange } from '../exchange.js'
import { errorText, isObject, kindOf, readableId } from '../jsonrpc.js'
import type { Id, Notification, Request, Response } from '../jsonrpc.js'
import type { Channel, Served } from '../method.js'
import { META } from '../schemas/envelope.js'
import type { McpServer } from '../server.js'
import type { Session } from '../session.js'
import type { Change } from '../changes.js'
import type { Subscription } from '../subscriptions.js'
import { BatchAnswer, inUse, readBatch } from './batch.js'

/** Who sent a message, and the request that brought it. */
export interface Sender {
  readonly auth?: AuthInfo | undefined
  readonly request?: FastifyRequest
  /** Where it comes from, if its request is at another process. */
  readonly address?: string
}

const NOBODY: Sender = {}

export interface PeerOptions {
  /** Sends one message, or an array of them. */
  write (text: string): void
  /** Makes the session that a handshake opens, or fills in the one that is there. */
  begin (served: Served, client: Session['client'], capabilities: Session['capabilities']): Session
  /** Resolves when the client has taken what was written; undefined where nothing waits. */
  ready? (): Promise<void> | undefined
  /** Ends the connection when the server closes. */
  end (): void
  session?: Session
  /** When the token of whoever opened it ends, in ms of Date.now(). */
  until?: number | undefined
  /** The one revision that the transport has. */
  revision?: Served
}

/** One client at the other end of a two-way channel: stdio, or the stream and the messages of HTTP+SSE. */
export class Peer implements Subscription {
  session: Session | undefined
  private readonly server: McpServer
  private readonly options: PeerOptions
  private readonly inFlight = new Map<Id, Exchange>()
  private left = false
  /** False when nothing more can come from the client: whoever waits for its answer would wait for ever. */
  answers = true
  /** The client has introduced itself: nothing is told before (2024-11-05 basic/lifecycle). */
  private introduced = false

  constructor (server: McpServer, options: PeerOptions) {
    this.server = server
    this.options = options
    this.session = options.session
    server.subscriptions.add(this, options.until)
  }

  get busy (): boolean { return this.inFlight.size > 0 }

  /** One parsed line or body, and who sent it. */
  receive (value: unknown, raw?: string, from: Sender = NOBODY): void {
    try {
      if (Array.isArray(value)) return this.batch(value, from)
      const kind = kindOf(value)
      if (kind === 'request') this.request(value as Request, raw, from)
      else if (kind === 'notification') this.notified(value as Notification)
      else if (kind === 'response') this.session?.answer(value as Response)
      else if (kind === 'invalid') throw rpcError('InvalidRequest', 'not a JSON-RPC 2.0 message')
    } catch (error) {
      this.refuse(error, readableId(value))
    }
  }

  refuse (error: unknown, id: Id | undefined): void {
    if (error instanceof McpError) return this.send(errorText(id, error))
    this.server.app.log.error({ err: error }, 'unexpected error before the message was served')
    this.send(errorText(id, rpcError('InternalError')))
  }

  private request (message: Request, raw: string | undefined, from: Sender): void {
    if (this.inFlight.has(message.id)) throw rpcError('InvalidRequest', inUse(message.id))
    const served = this.options.revision ?? this.server.revisions.choose(message, versionIn(message), this.session?.served)
    this.options.session?.admit()
    this.dispatch(message, served, new PeerChannel(this, message.id), from, raw)
  }

  private dispatch (message: Request, served: Served, channel: Channel, from: Sender, raw?: string): void {
    const session = served.revision.stateless ? undefined : this.session
    const exchange = new Exchange(this.server, served, message, channel, session, from.request, from.auth)
    exchange.raw = raw
    exchange.address = from.address
    this.inFlight.set(message.id, exchange)
    dispatch(exchange)
  }

  private notified (message: Notification): void {
    const { revisions } = this.server
    const served = this.session?.served ?? revisions.get(revisions.versions[0] as string)
    notify(served as Served, message, this.inFlight.values())
  }

  private batch (items: unknown[], from: Sender): void {
    const served = this.options.revision ?? this.server.revisions.ofBatch(items, undefined, this.session?.served)
    const batch = readBatch(items, served, this.server.settings.limits.batch, id => this.inFlight.has(id))
    for (const one of batch.responses) this.session?.answer(one)
    for (const one of batch.notifications) this.notified(one)
    const answer = new BatchAnswer(new PeerChannel(this, undefined), batch, false)
    for (const one of batch.requests) this.dispatch(one, served, answer.member(() => this.answered(one.id)), from)
  }

  // Channel side

  send (text: string): void { if (!this.left) this.options.write(text) }
  get ready (): Promise<void> | undefined { return this.options.ready?.() }
  answered (id: Id | undefined): void { if (id !== undefined) this.inFlight.delete(id) }
  open (served: Served, client: Session['client'], capabilities: Session['capabilities']): void {
    if (this.introduced) throw rpcError('InvalidRequest', 'this connection has been initialized already; open another one')
    this.session = this.options.begin(served, client, capabilities)
    this.introduced = true
  }

  /** The client says nothing more; it may still read what it asked for. */
  silent (): void {
    this.answers = false
    this.session?.unanswered(new NoStreamError('The client has ended its input: it cannot answer'))
  }

  /** The client is gone: nothing more is written, and what it asked for is cancelled. */
  leave (reason: string): void {
    this.server.subscriptions.delete(this)
    for (const exchange of [...this.inFlight.values()]) exchange.cancel(new CallCancelled(reason))
    this.left = true
  }

  // Changes reach a client of the handshake revisions unasked; later ones subscribe.

  get uris (): Iterable<string> | undefined { return this.session?.subscriptions }
  wants (change: Change): boolean { return this.introduced && this.session?.wants(change) === true }
  deliver (change: Change, plain: string): void { this.send(plain) }
  end (): void { this.options.end() }
}

class PeerChannel implements Channel {
  readonly streams = true
  get connected (): boolean { return this.peer.answers }
  get ready (): Promise<void> | undefined { return this.peer.ready }
  readonly hears = true
  readonly gone = false
  private readonly peer: Peer
  private readonly id: Id | undefined

  constructor (peer: Peer, id: Id | undefined) {
    this.peer = peer
    this.id = id
  }

  send (text: string): void { this.peer.send(text) }
  end (text: string): void {
    this.peer.answered(this.id)
    this.peer.send(text)
  }

  close (): void { this.peer.answered(this.id) }
  hold (): void {}
  /** Whoever leaves cancels all that is in flight. */
  onGone (): void {}
  open (served: Served, client: Session['client'], capabilities: Session['capabilities']): void { this.peer.open(served, client, capabilities) }
}

/** There are no headers here: the version is what the body says it is. */
function versionIn (message: Request): string | undefined {
  const meta = message.params?._meta
  const version = isObject(meta) ? meta[META.protocolVersion] : undefined
  return typeof version === 'string' || version === undefined ? version : 'no string'
}
