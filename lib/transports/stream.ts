import { kStreaming } from '../connection.js'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { CHUNK, drained } from './drain.js'
import { cut } from './queued.js'

// Server-sent events after @fastify/sse has sent the headers: this file alone writes to the raw response.

const COMMENT = ':\n\n'

/** One message, with an id where its client can come back for what follows. */
export const frame = (text: string, id?: string): string => `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${text}\n\n`

/** Makes a reply a stream. @fastify/sse sends the headers, with those that hooks have set; a cache or a compressor on the way must not touch what follows. */
export function openStream (enter: RouteHandlerMethod, reply: FastifyReply): ServerResponse {
  const { raw, request } = reply
  Object.assign(request, { [kStreaming]: true })
  reply.header('cache-control', 'no-cache, no-transform').hijack()
  Promise.resolve(enter.call(reply.server, request, reply)).catch((error: unknown) => {
    request.log.error({ err: error }, 'a stream could not be opened')
    cut(raw)
  })
  return raw
}

/** The handler that @fastify/sse wraps. Whether the connection is kept alive is for Node to say: the client may want it closed (RFC 9112 section 9.6), and HTTP/2 has no Connection header (RFC 9113 section 8.2.2). */
export function sendHeaders (_: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply
  const { setHeader } = raw
  raw.setHeader = (name, value) => name === 'Connection' ? raw : setHeader.call(raw, name, value)
  reply.sse.keepAlive()
  reply.sse.sendHeaders()
  raw.setHeader = setHeader
}

export interface StreamOptions { keepAlive: number, maxBuffered: number }

/** The open streams of one endpoint, with one timer for all their comments. */
export class Streams {
  private readonly open = new Set<SseStream>()
  private readonly options: StreamOptions
  private timer: NodeJS.Timeout | undefined

  constructor (options: StreamOptions) { this.options = options }

  get size (): number { return this.open.size }

  add (raw: ServerResponse): SseStream {
    const stream = new SseStream(raw, this.options.maxBuffered)
    if (raw.destroyed) return stream // its client did not wait, and nothing will tell of it again
    this.open.add(stream)
    raw.on('close', () => this.delete(stream)) // once() would keep more for each
    this.timer ??= setInterval(() => { for (const one of this.open) one.write(COMMENT) }, this.options.keepAlive).unref()
    return stream
  }

  /** Resolves when all that were ended have given their last byte to the socket; after `ms` what is left is destroyed. */
  async finished (ms: number): Promise<void> {
    const timer = setTimeout(() => { for (const stream of this.open) stream.destroy() }, ms)
    for (const stream of this.open) stream.end()
    await Promise.all([...this.open].map(stream => stream.closed))
    clearTimeout(timer)
  }

  private delete (stream: SseStream): void {
    this.open.delete(stream)
    if (this.open.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}

/** One response of server-sent events. What is written in one turn of the loop goes out in one piece, the first with the headers. */
export class SseStream {
  private readonly raw: ServerResponse
  private readonly maxBuffered: number
  private pending = ''
  private begun = false
  private ended = false
  private soon: NodeJS.Immediate | undefined
  private behind = false
  private watching = false

  constructor (raw: ServerResponse, maxBuffered: number) {
    this.raw = raw
    this.maxBuffered = maxBuffered
    this.schedule()
  }

  get connected (): boolean { return !this.ended && !this.raw.destroyed }

  /** Resolves when the response is finished, or its connection gone. */
  get closed (): Promise<void> {
    const { raw } = this
    if (raw.writableFinished || raw.destroyed) return Promise.resolve()
    return new Promise(resolve => { raw.once('finish', resolve).once('close', resolve) })
  }

  onClose (listener: () => void): void {
    if (this.raw.destroyed) listener()
    else this.raw.on('close', listener)
  }

  /** Resolves when the reader has taken what waits, or is gone; undefined where nothing does. */
  get ready (): Promise<void> | undefined { return this.ended ? undefined : drained(this.raw) }

  /** A reader that falls too far behind is cut off: it slows nobody and fills no memory. */
  write (piece: string): void {
    const { raw } = this
    if (this.ended || raw.destroyed) return
    if (raw.writableLength <= this.maxBuffered) this.behind = false
    else if (this.behind) return this.destroy()
    else this.watch()
    this.pending += piece
    if (this.pending.length > CHUNK) this.flush()
    else this.schedule()
  }

  /** Whether the reader is to blame, or one turn that wrote it all, shows once there was a chance to read: after the next look at the sockets. */
  private watch (): void {
    if (this.watching) return
    this.watching = true
    setImmediate(() => setImmediate(() => {
      this.watching = false
      this.behind = this.raw.writableLength > this.maxBuffered
    }))
  }

  end (last = ''): void {
    if (this.ended) return
    this.ended = true
    const rest = this.pending + last
    this.pending = ''
    if (!this.raw.destroyed) this.raw.end(rest)
  }

  destroy (): void {
    this.ended = true
    this.pending = ''
    cut(this.raw)
  }

  private schedule (): void { this.soon ??= setImmediate(() => this.flush()) }

  private flush (): void {
    const { raw, pending } = this
    this.soon = undefined
    if (this.ended || raw.destroyed) return
    this.pending = ''
    if (pending !== '') raw.write(pending)
    else if (!this.begun) raw.flushHeaders()
    this.begun = true
  }
}
