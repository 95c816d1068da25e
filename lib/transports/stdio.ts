import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { finished } from 'node:stream/promises'
import type { Readable, Writable } from 'node:stream'
import type { AuthInfo } from '../../types/index.js'
import { rpcError } from '../errors.js'
import { parse } from '../jsonrpc.js'
import type { BadMessage } from '../jsonrpc.js'
import type { Served } from '../method.js'
import type { McpServer } from '../server.js'
import { Session } from '../session.js'
import { CHUNK, drained } from './drain.js'
import { Peer } from './peer.js'

/** How long calls may go on when the input has ended, in ms: whoever waits for their answers still reads. */
const GRACE = 30_000
/** And how long what was written in the end may wait for a reader, in ms. */
const LAST = 1_000

export interface StdioSettings {
  input: Readable
  output: Writable
  lineLimit: number
  /** Who uses it: OAuth is not for stdio (2026-07-28 basic/authorization, Protocol Requirements). */
  auth?: AuthInfo | undefined
}

/**
 * Serves one client on a pair of streams, a message a line (basic/transports, stdio).
 * Resolves when the input has ended and what was asked is answered and read, or when nobody reads any more.
 */
export async function stdio (server: McpServer, { input, output, lineLimit, auth }: StdioSettings): Promise<void> {
  const writer = new LineWriter(output)
  const peer = new Peer(server, {
    write: text => writer.write(text),
    ready: () => writer.ready,
    begin: (served: Served, client, capabilities) => new Session(randomUUID(), 'stdio', served, client, capabilities),
    end: () => input.destroy()
  })
  const lines = new LineReader(lineLimit, {
    line (text) {
      let value
      try {
        value = parse(text)
      } catch (error) {
        return peer.refuse(error, (error as BadMessage).id)
      }
      peer.receive(value, text, { auth })
    },
    tooLong: () => peer.refuse(rpcError('InvalidRequest', `a line may have ${lineLimit} bytes`), undefined)
  })
  const gone = finished(output).catch(() => {}).then(() => { input.destroy() })
  input.on('data', (chunk: Buffer | string) => {
    lines.push(chunk)
    if (!writer.full) return
    input.pause()
    writer.ready?.finally(() => input.resume())
  })
  await finished(input, { writable: false }).catch(() => {})
  lines.end()
  peer.silent()
  const until = Date.now() + GRACE
  const left = output.destroyed || output.writableEnded
  if (!left) await Promise.race([server.calls.drained(GRACE), gone])
  peer.leave('The client is gone')
  await writer.drained(Math.max(LAST, until - Date.now()))
}

/** With so many bytes unread no more is taken in: a client that asks and does not read fills no memory. */
const UNREAD = 4 * 1_048_576

/** Joins what one turn of the loop has to say in one write. */
class LineWriter {
  private readonly output: Writable
  private pending = ''

  constructor (output: Writable) {
    this.output = output
    output.on('error', () => {}) // a reader that is gone: `finished` tells
  }

  write (text: string): void {
    if (this.pending === '') process.nextTick(() => this.flush())
    this.pending += text + '\n'
    if (this.pending.length > CHUNK) this.flush()
  }

  get full (): boolean { return this.output.writableLength > UNREAD }

  /** Resolves when the reader has taken what waits, or is gone; undefined where nothing does. */
  get ready (): Promise<void> | undefined { return drained(this.output) }

  /** Resolves when all is handed to the system, or after `ms`: a reader that takes nothing is waited for no longer. */
  async drained (ms: number): Promise<void> {
    this.flush()
    const { output } = this
    if (output.writableLength === 0 || output.destroyed) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => { timer = setTimeout(resolve, ms) })
    await Promise.race([late, new Promise<void>(resolve => output.write('', () => resolve())), finished(output).catch(() => {})])
    clearTimeout(timer)
  }

  private flush (): void {
    const { pending, output } = this
    this.pending = ''
    if (pending !== '' && !output.destroyed && !output.writableEnded) output.write(pending)
  }
}

/** Cuts chunks into lines, however they fall. */
class LineReader {
  private readonly limit: number
  private readonly to: { line (text: string): void, tooLong (): void }
  private readonly decoder = new StringDecoder('utf8')
  private parts: string[] = []
  private length = 0
  private first = true

  constructor (limit: number, to: LineReader['to']) {
    this.limit = limit
    this.to = to
  }

  push (chunk: Buffer | string): void {
    const pieces = (typeof chunk === 'string' ? chunk : this.decoder.write(chunk)).split('\n')
    const rest = pieces.pop() as string
    for (const piece of pieces) {
      this.keep(piece)
      this.finish()
    }
    this.keep(rest)
  }

  /** A last line without an end is still a line. */
  end (): void { this.finish() }

  private keep (piece: string): void {
    this.length += Buffer.byteLength(piece)
    if (this.length <= this.limit) this.parts.push(piece)
    else this.parts = []
  }

  private finish (): void {
    const line = this.parts.length === 1 ? this.parts[0] as string : this.parts.join('')
    const tooLong = this.length > this.limit
    this.parts = []
    this.length = 0
    if (tooLong) return this.to.tooLong()
    const text = this.first && line.startsWith('\ufeff') ? line.slice(1) : line
    if (text.trim() === '') return
    this.first = false
    this.to.line(text)
  }
}
