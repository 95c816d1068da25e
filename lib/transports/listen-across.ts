import type { FastifyReply } from 'fastify'
import { Listener, placeOf } from '../cluster/listener.js'
import type { Place } from '../cluster/listener.js'
import type { ClusterSession } from '../cluster/session.js'
import { authOf } from '../connection.js'
import type { Sink } from '../replay.js'
import type { McpServer } from '../server.js'
import type { Session } from '../session.js'
import { notKept, primer } from './outlet.js'
import { isGone } from './reply.js'
import { frame } from './stream.js'
import type { SseStream } from './stream.js'

// A stream for changes, or the rest of one that the client lost, in whatever process it was.

export async function listenAcross (server: McpServer, session: Session, lastEventId: string | undefined, reply: FastifyReply, open: () => SseStream): Promise<void> {
  const { resumes } = session.served.revision
  const across = session as ClusterSession
  const eventId = resumes === 'no' ? undefined : lastEventId
  const place = eventId === undefined ? undefined : placeOf(eventId)
  if (place !== undefined && !across.mayHaveBeenAt(place.journal)) throw notKept()
  if (eventId === undefined || place !== undefined) return await changes(server, across, place, reply, open)
  const lost = await across.shared.streams.find(session.id, eventId)
  if (lost === undefined) throw notKept()
  if (isGone(reply)) return lost.detach()
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
  if (isGone(reply)) return leave()
  const stream = open()
  stream.onClose(leave)
  if (resumes === 'primed' && lost === undefined) stream.write(primer(listener.start))
  listener.attach(sinkOf(stream, resumes !== 'no'), missed)
}

const sinkOf = (stream: SseStream, ids: boolean): Sink => ({
  event: (id, text) => stream.write(frame(text, ids ? id : undefined)),
  disconnect: () => stream.end()
})
