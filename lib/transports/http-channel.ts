import type { FastifyReply } from 'fastify'
import type { Channel, Served } from '../method.js'
import type { Session } from '../session.js'
import type { Accepts } from './accept.js'
import { isGone, sendJson } from './reply.js'
import { plain } from './outlet.js'
import type { Outlet } from './outlet.js'
import type { SseStream } from './stream.js'

/** What of the endpoint a reply needs. */
export interface Door {
  readonly hears: boolean
  readonly closing: boolean
  /** Makes the reply a stream of server-sent events. */
  stream (reply: FastifyReply): SseStream
  open (reply: FastifyReply, served: Served, client: Session['client'], capabilities: Session['capabilities']): Promise<void> | void
}

/** One POST: answered with JSON while the answer stays alone, with a stream once something must precede it. */
export class HttpChannel implements Channel {
  private readonly door: Door
  private readonly reply: FastifyReply
  private readonly accepts: Accepts
  private readonly wrap: (stream: SseStream) => Outlet
  private outlet: Outlet | undefined
  private done = false

  /** @param wrap what a stream of this reply is: `plain`, or one that its client can come back to */
  constructor (door: Door, reply: FastifyReply, accepts: Accepts, wrap: (stream: SseStream) => Outlet = plain) {
    this.door = door
    this.reply = reply
    this.accepts = accepts
    this.wrap = wrap
  }

  get streams (): boolean { return this.accepts.sse }
  get connected (): boolean { return this.outlet === undefined ? this.accepts.sse && !this.gone : this.outlet.connected }
  get hears (): boolean { return this.door.hears }
  get ready (): Promise<void> | undefined { return this.outlet?.ready }
  get gone (): boolean { return isGone(this.reply) }

  send (text: string): void {
    if (this.outlet !== undefined) this.outlet.write(text)
    else if (this.accepts.sse && !this.gone) this.opened().write(text)
  }

  end (text: string, status: number, headers?: Record<string, string>): void {
    this.done = true
    if (this.outlet !== undefined) return this.outlet.end(text)
    if (this.gone) return
    // A client that takes nothing but streams gets its result as one; an error with a status of its own stays JSON.
    if (!this.accepts.json && status === 200) return this.opened().end(text)
    if (headers !== undefined) this.reply.headers(headers)
    if (this.door.closing && this.reply.raw.req.httpVersionMajor === 1) this.reply.header('connection', 'close')
    sendJson(this.reply, text, status)
  }

  /** A request is answered by a stream, be it an empty one, or by a JSON object (2025-11-25 basic/transports, Sending Messages 5). */
  close (error?: string): void {
    this.done = true
    if (this.outlet !== undefined) return this.outlet.end()
    if (this.gone) return
    if (this.accepts.sse || error === undefined) return this.opened().end()
    sendJson(this.reply, error, 200)
  }

  hold (): void {
    if (this.accepts.sse && !this.done && !this.gone) this.opened()
  }

  /** Lets the connection go; the client comes back for the rest. */
  release (): void {
    this.hold()
    this.outlet?.release()
  }

  onGone (listener: () => void): void {
    // The response's close: the request's fires as soon as the body has been read.
    if (this.gone) listener()
    else this.reply.raw.on('close', listener)
  }

  open (served: Served, client: Session['client'], capabilities: Session['capabilities']): Promise<void> | void {
    return this.door.open(this.reply, served, client, capabilities)
  }

  private opened (): Outlet { return (this.outlet ??= this.wrap(this.door.stream(this.reply))) }
}
