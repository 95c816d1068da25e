import type { FastifyReply, FastifyRequest } from 'fastify'
import { authOf, principalIn } from '../connection.js'
import { rpcError } from '../errors.js'
import type { Served } from '../method.js'
import type { McpServer } from '../server.js'
import type { Session } from '../session.js'
import { pathOf } from '../target.js'
import { Peer } from './peer.js'
import { sendError } from './reply.js'
import { frame } from './stream.js'
import type { SseStream } from './stream.js'

// HTTP+SSE, the transport of 2024-11-05 (basic/transports, HTTP with SSE): a stream that names the URL for messages, whose answers come on the stream.

const REVISION = '2024-11-05'
const PREFIX = /^(?:\/[\w.~-]+)+$/

export class HttpSse {
  private readonly server: McpServer
  private readonly stream: (reply: FastifyReply) => SseStream
  private readonly peers = new Map<string, Peer>()

  constructor (server: McpServer, stream: (reply: FastifyReply) => SseStream) {
    this.server = server
    this.stream = stream
    server.cluster?.sessions.onMessage((session, { body, auth, address }) => this.peers.get(session)?.receive(body, undefined, { auth, address }))
  }

  /** GET on the endpoint. The session is as old as the stream. */
  connect (request: FastifyRequest, reply: FastifyReply): void {
    const { sessions, revisions } = this.server
    const served = revisions.get(REVISION) as Served
    const session = sessions.open('http-sse', served, undefined, {}, principalIn(request))
    const known = sessions.known(session)
    if (known === undefined) this.begin(session, served, request, reply)
    else known.then(() => this.begin(session, served, request, reply)).catch(error => { reply.send(error) })
  }

  private begin (session: Session, served: Served, request: FastifyRequest, reply: FastifyReply): void {
    const { sessions } = this.server
    const stream = this.stream(reply)
    const peer = new Peer(this.server, {
      session,
      revision: served,
      until: authOf(request)?.expiresAt,
      write: text => stream.write(frame(text)),
      ready: () => stream.ready,
      begin: (_, client, capabilities) => Object.assign(session, { client, capabilities }),
      end: () => { sessions.end(session, 'The server is closing') }
    })
    session.attach({ wants: () => false, deliver () {}, end: () => stream.end() })
    this.peers.set(session.id, peer)
    stream.write(`event: endpoint\ndata: ${messagesUrl(request, session.id)}\n\n`)
    reply.raw.once('close', () => {
      this.peers.delete(session.id)
      peer.leave('The client is gone')
      sessions.end(session, 'The client is gone')
    })
  }

  /** POST on the URL of the endpoint event: accepted here, answered on the stream. */
  message (request: FastifyRequest, reply: FastifyReply): void {
    const { sessionId } = request.query as { sessionId?: unknown }
    if (typeof sessionId !== 'string') return sendError(reply, rpcError('InvalidRequest', 'the query must have one sessionId'), undefined)
    const { sessions, cluster } = this.server
    const principal = principalIn(request)
    const peer = sessions.find(sessionId, 'http-sse', principal) === undefined ? undefined : this.peers.get(sessionId)
    if (peer === undefined && cluster !== undefined) {
      const message = { body: request.body, auth: authOf(request), address: request.ip }
      cluster.sessions.forward(sessionId, principal, message).then(taken => taken ? reply.code(202).send() : sendError(reply, rpcError('SessionNotFound'), undefined)).catch(error => { reply.send(error) })
      return
    }
    if (peer === undefined) return sendError(reply, rpcError('SessionNotFound'), undefined)
    reply.code(202).send()
    peer.receive(request.body, undefined, { auth: authOf(request), request })
  }
}

/** A path, never a host: the client resolves it against the URL that it used itself, so a forged one leads nowhere. */
function messagesUrl (request: FastifyRequest, sessionId: string): string {
  const path = pathOf(request).replace(/\/+$/, '')
  // `ips` is there only where the app trusts its proxy.
  const forwarded = request.ips === undefined ? '' : String(request.headers['x-forwarded-prefix'] ?? '').replace(/\/+$/, '')
  return `${PREFIX.test(forwarded) ? forwarded : ''}${path}/messages?sessionId=${sessionId}`
}
