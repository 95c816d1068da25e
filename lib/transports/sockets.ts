import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** How often it is looked at what has come meanwhile, in ms. */
const TICK = 20
const SWEEP = 250

const kComing = Symbol('fastify-mcp-plugin.coming')

/** What Node notes on a connection of HTTP/1: its parser, and the response that is under way, null or undefined where there is none. */
interface Connection extends Socket { parser?: object | null, _httpMessage?: object | null, [kComing]?: IncomingMessage | undefined }

/** A request to the plugin begins. Noted on its connection, which is there for the next: a member more on each request costs more. */
export function begun (request: IncomingMessage): void { if (request.httpVersionMajor === 1) (request.socket as Connection)[kComing] = request }
/** Its body has been read; the next may have begun before. */
export function read (request: IncomingMessage): void {
  if (request.httpVersionMajor !== 1) return
  const socket = request.socket as Connection
  if (socket[kComing] === request) socket[kComing] = undefined
}

/**
 * The connections of a server, so that no client holds it back when it closes. Node waits for those on which nothing or half a request has come, and
 * from then on looks at none of the times that it gives them else.
 */
export class Sockets {
  private readonly open = new Set<Connection>()
  /** Those below, where there is TLS: what is open between the two is a handshake. */
  private readonly raw = new Set<Socket>()
  private closing = false

  constructor (server: Server) {
    const note = (into: Set<Socket>) => {
      const forget = function (this: Socket): void { into.delete(this) } // one for all: there may be many thousands
      return (socket: Socket): void => {
        if (this.closing) {
          socket.destroy()
          return
        }
        into.add(socket)
        socket.on('close', forget)
      }
    }
    const secure = 'setSecureContext' in server
    server.on('connection', note(secure ? this.raw : this.open))
    if (secure) server.on('secureConnection', note(this.open))
  }

  /** Resolves when what is asked of the plugin has come in full, so that it can be served yet; what has not after `ms` is let go. */
  async arrived (ms: number): Promise<void> {
    const until = Date.now() + ms
    while ([...this.open].some(arriving)) {
      if (Date.now() >= until) return this.drop(arriving)
      await sleep(TICK)
    }
  }

  /** Lets go those on which no request is under way, also as they become such. The others are waited for. */
  release (): void {
    this.closing = true
    const secured = new Set([...this.open].map(peerOf))
    for (const socket of this.raw) if (!secured.has(peerOf(socket))) socket.destroy()
    const sweep = (): void => { this.drop(socket => socket.bytesRead === 0 || vacant(socket) || arriving(socket)) }
    sweep()
    if (this.open.size === 0) return
    const timer = setInterval(() => {
      sweep()
      if (this.open.size === 0) clearInterval(timer)
    }, SWEEP).unref()
  }

  private drop (which: (socket: Connection) => boolean): void { for (const socket of this.open) if (which(socket)) socket.destroy() }
}

/** No request has come in so far that anybody could answer. Connections that have been handed to others (HTTP/2, WebSocket) have no such parser. */
const vacant = ({ parser, _httpMessage: response }: Connection): boolean => Boolean(parser) && !response

/** A request to the plugin that has not come in full: it is given to nobody before it has. */
const arriving = ({ _httpMessage: response, [kComing]: request }: Connection): boolean => Boolean(response) && request?.complete === false

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
