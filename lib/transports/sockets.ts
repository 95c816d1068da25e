import type { Server, Socket } from 'node:net'

/**
 * The connections of a server on which nothing has come yet. Clients open some ahead of need; Node takes them for busy, and would wait a minute for
 * them when the server closes.
 */
export class Sockets {
  private readonly open = new Set<Socket>()
  private closing = false

  constructor (server: Server) {
    const { open } = this
    const forget = function (this: Socket): void { open.delete(this) } // one for all: there may be many thousands
    const note = (socket: Socket): void => {
      if (this.closing) {
        socket.destroy()
        return
      }
      open.add(socket)
      socket.on('close', forget)
    }
    server.on('connection', note)
    server.on('secureConnection', note) // of a server of TLS: on the connection below it there was a handshake
  }

  /** Lets go those that have asked for nothing; the others are waited for. */
  release (): void {
    this.closing = true
    for (const socket of this.open) if (socket.bytesRead === 0) socket.destroy()
    this.open.clear()
  }
}
