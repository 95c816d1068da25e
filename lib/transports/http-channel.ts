import type { FastifyReply } from 'fastify'
import type { Channel, Served } from '../method.js'
import type { Session } from '../sessions.js'
import type { Accepts } from './accept.js'
import { sendJson } from './reply.js'
import { frame } from './stream.js'
import type { SseStream } from './stream.js'

/** What of the endpoint a reply needs. */
export interface Door {
  readonly hears: boolean
  /** Makes the reply a stream of server-sent events. */
  stream (reply: FastifyReply): SseStream
  open (reply: FastifyReply, served: Served, client: Session['client'], capabilities: Session['capabilities']): void
}

/** One POST: answered with JSON while the answer stays alone, with a stream once something must precede it. */
export class HttpChannel implements Channel {
  private readonly door: Door
  private readonly reply: FastifyReply
  private readonly accepts: Accepts
  private stream: SseStream | undefined
  private done = false

  constructor (door: Door, reply: FastifyReply, accepts: Accepts) {
    this.door = door
    this.reply = reply
    this.accepts = accepts
  }

  get streams (): boolean { return this.accepts.sse }
  get hears (): boolean { return this.door.hears }
  get streaming (): boolean { return this.stream !== undefined }
  private get gone (): boolean { return this.reply.raw.destroyed || this.reply.raw.socket?.destroyed === true }

  send (text: string): void {
    if (this.accepts.sse && !this.gone) this.opened().write(frame(text))
  }

  end (text: string, status: number): void {
    this.done = true
    if (this.stream !== undefined) return this.stream.end(frame(text))
    if (this.gone) return
    // A client that takes nothing but streams gets its result as one; an error with a status of its own stays JSON.
    if (!this.accepts.json && status === 200) return this.opened().end(frame(text))
    sendJson(this.reply, text, status)
  }

  close (): void {
    this.done = true
    if (this.gone) return
    if (this.accepts.sse) return this.opened().end()
    this.reply.code(202).send()
  }

  hold (): void {
    if (this.accepts.sse && !this.done && !this.gone) this.opened()
  }

  /** For a client that takes nothing but streams, which need not wait for its first message. */
  holdStream (): void {
    if (!this.accepts.json) this.hold()
  }

  onGone (listener: () => void): void {
    // The response's close: the request's fires as soon as the body has been read.
    if (this.gone) queueMicrotask(listener)
    else this.reply.raw.once('close', listener)
  }

  open (served: Served, client: Session['client'], capabilities: Session['capabilities']): void {
    this.door.open(this.reply, served, client, capabilities)
  }

  private opened (): SseStream { return (this.stream ??= this.door.stream(this.reply)) }
}
