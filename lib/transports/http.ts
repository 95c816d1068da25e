import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { authOf, principalIn } from '../connection.js'
import { dispatch, notify } from '../dispatch.js'
import { McpError, rpcError } from '../errors.js'
import { Exchange } from '../exchange.js'
import { kindOf, readableId } from '../jsonrpc.js'
import type { Id, Notification, Request, Response } from '../jsonrpc.js'
import type { Served } from '../method.js'
import type { McpServer } from '../server.js'
import type { Session } from '../session.js'
import { accepted, asksForStream } from './accept.js'
import type { Accepts } from './accept.js'
import { BatchAnswer, readBatch } from './batch.js'
import { kRaw } from './body.js'
import { checkMirrors } from './headers.js'
import { HttpChannel } from './http-channel.js'
import type { Door } from './http-channel.js'
import { HttpSse } from './http-sse.js'
import { listenAcross } from './listen-across.js'
import { notKept, plain, resumable, type Outlet } from './outlet.js'
import { hearClose } from './queued.js'
import { sendError } from './reply.js'
import { SessionListener } from './session-listener.js'
import { openStream } from './stream.js'
import type { SseStream, Streams } from './stream.js'

export const SESSION = 'mcp-session-id'
const VERSION = 'mcp-protocol-version'

/** Streamable HTTP of all revisions, and the door to HTTP+SSE, at one URL. */
export class HttpTransport implements Door {
  readonly hears: boolean
  private readonly server: McpServer
  private readonly streams: Streams
  private readonly httpSse: HttpSse | undefined
  private readonly enter: RouteHandlerMethod

  /** @param enter the route handler of @fastify/sse, which sends the headers of a stream */
  constructor (server: McpServer, streams: Streams, enter: RouteHandlerMethod) {
    this.server = server
    this.streams = streams
    this.enter = enter
    this.hears = server.settings.sessions !== false
    const { settings, revisions } = server
    if (settings.httpSse && revisions.get('2024-11-05') !== undefined) this.httpSse = new HttpSse(server, reply => this.stream(reply))
  }

  get closing (): boolean { return this.server.closing }

  /** Whether there is anything to GET or DELETE: later revisions have neither. */
  get handshakes (): boolean { return this.server.settings.revisions.some(one => !one.stateless) }

  readonly post = (request: FastifyRequest, reply: FastifyReply): void => {
    const { body } = request
    hearClose(reply)
    try {
      const accepts = accepted(request.headers.accept)
      if (!accepts.json && !accepts.sse) throw rpcError('NotAcceptable', 'Accept must admit application/json or text/event-stream')
      if (Array.isArray(body)) return this.batch(body, request, reply, accepts)
      const kind = kindOf(body)
      if (kind === 'request') return this.request(body as Request, request, reply, accepts)
      if (kind === 'invalid') throw rpcError('InvalidRequest', 'the body must be one JSON-RPC 2.0 message with an id that is a string or an integer')
      const passed = kind === 'notification' ? this.notification(body as Notification, request) : this.response(body as Response, request)
      after(passed, reply, 202)
    } catch (error) {
      this.refuse(reply, error, body)
    }
  }

  private request (message: Request, request: FastifyRequest, reply: FastifyReply, accepts: Accepts): void {
    const { revisions } = this.server
    const alone = revisions.opens(message) || revisions.standsAlone(message)
    const session = alone ? undefined : this.session(request)
    const served = revisions.choose(message, header(request, VERSION), session?.served)
    if (served.revision.mirrors) checkMirrors(served, message, request.headers)
    session?.admit()
    const channel = new HttpChannel(this, reply, accepts, outletsOf(served, session, [message.id]))
    const exchange = new Exchange(this.server, served, message, channel, session, request, authOf(request))
    const held = request as { [kRaw]?: string | undefined }
    exchange.raw = held[kRaw]
    held[kRaw] = undefined
    dispatch(exchange)
    if (!accepts.json) channel.hold()
  }

  private batch (items: unknown[], request: FastifyRequest, reply: FastifyReply, accepts: Accepts): void {
    const session = this.session(request)
    const served = this.server.revisions.ofBatch(items, header(request, VERSION), session?.served)
    const batch = readBatch(items, served, this.server.settings.limits.batch)
    const passed = all([batch.responses.length > 0 ? this.heard(batch.responses, session) : undefined, ...batch.notifications.map(message => session?.heard(message))])
    for (const message of batch.notifications) notify(served, message, session?.inFlight ?? [])
    if (batch.requests.length === 0 && batch.refused.length === 0) return after(passed, reply, 202)
    passed?.catch(() => {}) // what the requests are answered with does not depend on it
    session?.admit(batch.requests.length)
    const channel = new HttpChannel(this, reply, accepts, outletsOf(served, session, batch.requests.map(one => one.id)))
    const answer = new BatchAnswer(channel, batch, accepts.sse)
    for (const message of batch.requests) dispatch(new Exchange(this.server, served, message, answer.member(), session, request, authOf(request)))
    if (!accepts.json) channel.hold()
  }

  private notification (message: Notification, request: FastifyRequest): Promise<void> | void {
    const { revisions } = this.server
    const session = revisions.standsAlone(message) ? undefined : this.session(request)
    const version = header(request, VERSION)
    if (version !== undefined && revisions.get(version) === undefined) throw rpcError('InvalidRequest', `MCP-Protocol-Version ${JSON.stringify(version)} is not spoken here; use one of ${revisions.versions.join(', ')}`)
    if (session === undefined) return
    revisions.ofSession(session.served, version)
    const passed = session.heard(message)
    notify(session.served, message, session.inFlight)
    return passed
  }

  /** Answers to what this server asked; a session alone is ever asked. */
  private response (message: Response, request: FastifyRequest): Promise<void> | void {
    const session = this.session(request)
    if (session !== undefined) this.server.revisions.ofSession(session.served, header(request, VERSION))
    return this.heard([message], session)
  }

  private heard (responses: Response[], session: Session | undefined): Promise<void> | void {
    if (session === undefined) throw rpcError('InvalidRequest', 'a response can only be sent in a session (Mcp-Session-Id)')
    return all(responses.map(response => session.answer(response)))
  }

  readonly get = (request: FastifyRequest, reply: FastifyReply): void => {
    hearClose(reply)
    try {
      const version = header(request, VERSION)
      if (this.server.revisions.isStateless(version)) throw rpcError('MethodNotAllowed', `${version} has no GET; use subscriptions/listen`)
      const session = this.session(request)
      if (session !== undefined) this.server.revisions.ofSession(session.served, version)
      else if (this.httpSse === undefined && !this.hears) throw rpcError('MethodNotAllowed', 'there are no sessions here, so there is nothing to listen to')
      else if (this.httpSse === undefined || (version !== undefined && version !== '2024-11-05')) throw rpcError('InvalidRequest', 'GET needs the header Mcp-Session-Id')
      if (!asksForStream(request.headers.accept)) throw rpcError('NotAcceptable', 'Accept must name text/event-stream')
      if (this.server.subscriptions.size >= this.server.settings.limits.streams) throw rpcError('Unavailable', 'there are too many streams; try again later')
      if (session === undefined) this.httpSse?.connect(request, reply)
      else if (this.server.cluster === undefined) this.listen(session, reply, header(request, 'last-event-id'))
      else listenAcross(this.server, session, header(request, 'last-event-id'), reply, () => this.stream(reply)).catch(error => { reply.send(error) })
    } catch (error) {
      this.refuse(reply, error, undefined)
    }
  }

  readonly delete = (request: FastifyRequest, reply: FastifyReply): void => {
    try {
      const session = this.session(request)
      if (session === undefined) throw rpcError('InvalidRequest', 'DELETE needs the header Mcp-Session-Id')
      this.server.revisions.ofSession(session.served, header(request, VERSION))
      after(this.server.sessions.end(session, 'The client ended the session'), reply, 204)
    } catch (error) {
      this.refuse(reply, error, undefined)
    }
  }

  /** The messages of HTTP+SSE; undefined where it is not offered. */
  get message (): ((request: FastifyRequest, reply: FastifyReply) => void) | undefined {
    const { httpSse } = this
    return httpSse && ((request, reply) => httpSse.message(request, reply))
  }

  // What a reply needs

  stream (reply: FastifyReply): SseStream {
    return this.streams.add(openStream(this.enter, reply))
  }

  open (reply: FastifyReply, served: Served, client: Session['client'], capabilities: Session['capabilities']): Promise<void> | void {
    if (!this.hears) return
    const { sessions } = this.server
    const session = sessions.open('http', served, client, capabilities, principalIn(reply.request))
    const tell = () => { reply.header(SESSION, session.id) }
    const known = sessions.known(session)
    return known === undefined ? tell() : known.then(tell)
  }

  /** A stream for changes, one of perhaps several of its session; or the rest of a stream that the client lost. */
  private listen (session: Session, reply: FastifyReply, lastEventId: string | undefined): void {
    const until = authOf(reply.request)?.expiresAt
    const { resumes } = session.served.revision
    const { subscriptions } = this.server
    const lost = lastEventId === undefined || resumes === 'no' ? undefined : lostBy(session, lastEventId)
    const stream = this.stream(reply)
    if (resumes === 'no') {
      const listener = new SessionListener(session, plain(stream), subscriptions)
      listener.enter(until)
      stream.onClose(() => listener.leave())
    } else {
      const replay = lost?.stream ?? session.replays.open()
      resumable(replay, stream, { primed: resumes === 'primed' && lost === undefined, after: lost?.after })
      if (lost === undefined) replay.listener = new SessionListener(session, replay, subscriptions)
      replay.listener?.enter(until)
    }
    stream.onClose(() => { session.seen = Date.now() })
  }

  /** @throws McpError 404, which tells the client to begin anew (2025-11-25 basic/transports, Session Management) */
  private session (request: FastifyRequest): Session | undefined {
    const id = header(request, SESSION)
    if (id === undefined) return undefined
    const session = this.server.sessions.find(id, 'http', principalIn(request))
    if (session === undefined) throw rpcError('SessionNotFound', 'open a new one with initialize')
    return session
  }

  private refuse (reply: FastifyReply, error: unknown, body: unknown): void {
    if (!(error instanceof McpError)) throw error
    if (error.status === 405) reply.header('allow', 'POST')
    sendError(reply, error, readableId(body))
  }
}

/** A promise only where there is one among them. */
function all (passed: (Promise<void> | void)[]): Promise<void> | undefined {
  const waiting = passed.filter(one => one !== undefined)
  return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {})
}

/** Answers without a body, when the other processes know what they must. */
function after (passed: Promise<void> | void, reply: FastifyReply, status: number): void {
  if (passed === undefined) reply.code(status).send()
  else passed.then(() => { reply.code(status).send() }, error => { reply.send(error) })
}

/** What a stream of a call is: one that its client can come back to, where it has a session. */
function outletsOf ({ revision: { resumes } }: Served, session: Session | undefined, ids: Id[]): (stream: SseStream) => Outlet {
  if (session === undefined || resumes === 'no') return plain
  return stream => resumable(session.stream(ids), stream, { primed: resumes === 'primed', after: undefined })
}

/** @throws McpError where the id is not of this session, or what came after it is not kept any more */
function lostBy (session: Session, lastEventId: string) {
  const lost = session.replays.find(lastEventId)
  if (lost === undefined) throw notKept()
  return lost
}

const header = (request: FastifyRequest, name: string): string | undefined => request.headers[name] as string | undefined
