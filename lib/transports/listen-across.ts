import type { FastifyReply } from 'fastify'
import { Listener, placeOf } from '../cluster/listener.js'
import type { Place } from '../cluster/listener.js'
import type { ClusterSession } from '../cluster/session.js'
import { authOf } from '../connection.js'
import { rpcError } from '../errors.js'
import type { Sink } from '../replay.js'
import type { McpServer } from '../server.js'
import type { Session } from '../sessions.js'
import { RETRY } from './outlet.js'
import { frame } from './stream.js'
import type { SseStream } from './stream.js'

// A stream for changes, or the rest of one that the client lost, in whatever process it was.

export async function listenAcross (server: McpServer, session: Session, lastEventId: string | undefined, reply: FastifyReply, open: () => SseStream): Promise<void> {
  const { resumes } = session.served.revision
  const across = session as ClusterSession
  const eventId = resumes === 'no' ? undefined : lastEventId
  const place = eventId === undefined ? undefined : placeOf(eventId)
  if (eventId === undefined || place !== undefined) return await changes(server, across, place, reply, open)
  const lost = await across.shared.streams.find(session.id, eventId)
  if (lost === undefined) throw rpcError('InvalidRequest', 'Last-Event-ID is of no stream of this session, or what came after it is not kept any more; open a stream without it')
  if (left(reply)) return lost.detach()
  const stream = open()
  stream.onClose(() => lost.detach())
  lost.attach(sinkOf(stream, true))
}

async function changes (server: McpServer, session: ClusterSession, lost: Place | undefined, reply: FastifyReply, open: () => SseStream): Promise<void> {
  const { resumes } = session.served.revision
  const listener = new Listener(session, lost?.stream)
  const leave = () => {
    session.detach(listener)
    server.subscriptions.delete(listener)
    listener.leave()
  }
  session.attach(listener)
  server.subscriptions.add(listener, authOf(reply.request)?.expiresAt)
  let missed
  try {
    missed = await listener.claim(lost)
  } catch (error) {
    leave()
    throw error
  }
  if (left(reply)) return leave()
  const stream = open()
  stream.onClose(leave)
  if (resumes === 'primed' && lost === undefined) stream.write(`id: ${listener.start}\nretry: ${RETRY}\ndata: \n\n`)
  listener.attach(sinkOf(stream, resumes !== 'no'), missed)
}

const sinkOf = (stream: SseStream, ids: boolean): Sink => ({
  event: (id, text) => stream.write(ids && id !== undefined ? `id: ${id}\n${frame(text)}` : frame(text)),
  disconnect: () => stream.end()
})

/** The client did not wait. */
const left = (reply: FastifyReply): boolean => reply.raw.destroyed || reply.raw.socket?.destroyed === true
