// A reply of Fastify that only records, and the raw response below it.
import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** The raw response of a stream: keeps what is written, and lets a test say when the reader takes it. */
export class FakeResponse extends EventEmitter {
  readonly chunks: string[] = []
  destroyed = false
  writableFinished = false
  writableLength = 0
  writableNeedDrain = false
  flushed = 0
  socket = { destroyed: false }
  req = { httpVersionMajor: 1 }

  get text () { return this.chunks.join('') }
  get raw () { return this as unknown as ServerResponse }

  flushHeaders () { this.flushed++ }
  write (chunk: string | Buffer) {
    this.chunks.push(String(chunk))
    return true
  }

  end (chunk = '') {
    this.chunks.push(chunk)
    this.writableFinished = true
    this.emit('finish')
    this.emit('close')
  }

  destroy () {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

export class FakeReply {
  readonly raw = new FakeResponse()
  readonly headers: Record<string, unknown> = {}
  readonly sent: unknown[] = []
  readonly request: Record<string | symbol, unknown> = { log: { error: (fields: unknown) => { this.logged.push(fields) } } }
  readonly logged: unknown[] = []
  readonly server = {}
  status = 200
  hijacked = false

  get reply () { return this as unknown as FastifyReply }
  get json () { return JSON.parse(String(this.sent[0])) }

  code (status: number) {
    this.status = status
    return this
  }

  hasHeader (name: string) { return name.toLowerCase() in this.headers }
  header (name: string, value: unknown) {
    this.headers[name.toLowerCase()] = value
    return this
  }

  hijack () {
    this.hijacked = true
    return this
  }

  send (text?: unknown) {
    this.sent.push(text)
    return this
  }
}
