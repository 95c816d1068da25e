import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'

// A response to a pipelined request waits behind those before it (RFC 9112 section 9.3.2). Until its turn it has no socket, and Node tells it nothing
// when the connection goes: it would wait for ever, and with it all that waits for its `close`.

const queues = new WeakMap<Socket, Set<ServerResponse>>()

/** Lets a response that waits for its turn hear that its connection is gone. */
export function hearClose ({ raw, request }: FastifyReply): void {
  if (raw.socket !== null) return
  const { socket } = request.raw
  if (socket.destroyed) return cut(raw)
  const queue = queues.get(socket) ?? begin(socket)
  queue.add(raw)
  raw.once('close', () => { queue.delete(raw) })
}

/** One listener for all that wait on one connection. */
function begin (socket: Socket): Set<ServerResponse> {
  const queue = new Set<ServerResponse>()
  queues.set(socket, queue)
  socket.once('close', () => { for (const raw of [...queue]) if (raw.socket === null) cut(raw) })
  return queue
}

/** Destroys a response, and says so where Node does not. */
export function cut (raw: ServerResponse): void {
  if (raw.destroyed) return
  raw.destroy()
  if (raw.socket === null) raw.emit('close')
}
