// What every client of these tests has in common, and the one over a pair of streams. http.ts has the others.
import { PassThrough } from 'node:stream'
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Answer } from './http.js'
import { checkWire, revisions, type Message, type Revision } from './wire.js'

const patience = 3000
export const metaKey = 'io.modelcontextprotocol/'
export const subscriptionId = `${metaKey}subscriptionId`
export const clientInfo = { name: 'audit', version: '1.0.0' }

export const isResponse = (message: Message) => message.method === undefined
export const isNote = (method: string) => (message: Message) => message.method === method
export const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Messages as they come in; whoever waits is told. */
export class Inbox {
  readonly messages: Message[] = []
  readonly #waiting = new Set<() => void>()
  #over = false

  push (message: Message) {
    this.messages.push(message)
    for (const look of this.#waiting) look()
  }

  end () {
    this.#over = true
    for (const look of this.#waiting) look()
  }

  first (what: string, wanted: (message: Message) => boolean, ms = patience): Promise<Message> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        this.#waiting.delete(look)
        reject(new Error(`${why} ${what}; came: ${JSON.stringify(this.messages).slice(0, 400)}`))
      }
      const timer = setTimeout(fail, ms, `${ms} ms without`)
      const look = () => {
        const found = this.messages.find(wanted)
        if (found === undefined && !this.#over) return
        clearTimeout(timer)
        this.#waiting.delete(look)
        if (found === undefined) fail('ended without')
        else resolve(found)
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** What comes in a while. */
  async during (ms: number): Promise<Message[]> {
    const before = this.messages.length
    await sleep(ms)
    return this.messages.slice(before)
  }
}

export interface RequestOptions { id?: unknown, meta?: Record<string, unknown> | undefined, headers?: OutgoingHttpHeaders | undefined }
export interface Reply { id: unknown, message: Message, result: any, error: any, notes: Message[], answer?: Answer }
export interface Call { id: unknown, inbox: Inbox, reply: Promise<Reply>, answer?: Promise<Answer>, abort: () => void }
export interface Heard { status?: number, messages: Message[], answer?: Answer }

/** How a client of a revision dresses what it sends. */
export interface Dialect {
  revision: Revision
  params: (params: any, meta?: Record<string, unknown>) => any
  headers: (message: Message) => OutgoingHttpHeaders
}

export function legacyDialect (revision: Revision): Dialect {
  return {
    revision,
    params: (params, meta) => meta === undefined ? params : { ...params, _meta: meta },
    headers: message => revision < '2025-06-18' || message.method === 'initialize' ? {} : { 'MCP-Protocol-Version': revision }
  }
}

const named = new Set(['tools/call', 'prompts/get', 'resources/read'])

export function modernDialect (meta: Record<string, unknown> = {}): Dialect {
  const own = { [`${metaKey}protocolVersion`]: '2026-07-28', [`${metaKey}clientCapabilities`]: {}, [`${metaKey}clientInfo`]: clientInfo, ...meta }
  return {
    revision: '2026-07-28',
    params: (params, meta) => ({ ...params, _meta: { ...own, ...meta } }),
    headers: ({ method, params }) => ({
      'MCP-Protocol-Version': '2026-07-28',
      ...(method === undefined ? {} : { 'Mcp-Method': method }),
      ...(named.has(method) ? { 'Mcp-Name': params?.name ?? params?.uri } : {})
    })
  }
}

/** What all clients have in common, whatever carries their messages. */
export abstract class Peer {
  readonly t: Test
  readonly dialect: Dialect
  readonly sent = new Map<unknown, string>()
  #last = 0

  constructor (t: Test, dialect: Dialect) {
    this.t = t
    this.dialect = dialect
  }

  abstract start (method: string, params?: any, options?: RequestOptions): Call
  abstract notify (method: string, params?: any, options?: RequestOptions): Promise<Answer | undefined>
  /** Sends any text as it is and says what came back to it. */
  abstract raw (text: string): Promise<Heard>
  /** What the server tells without being asked. */
  abstract events (): Promise<Inbox>

  compose (method: string, params: any, options: RequestOptions): Message & { id: unknown } {
    const id = 'id' in options ? options.id : ++this.#last
    this.sent.set(id, method)
    return { jsonrpc: '2.0', id, method, params: this.dialect.params(params, options.meta) }
  }

  check (message: Message, idUnknown = false) {
    const method = this.sent.get(message?.id)
    const said = method === 'initialize' ? message.result?.protocolVersion : undefined
    const revision = revisions.includes(said) ? said : this.dialect.revision
    const problems = checkWire(revision, message, { method, idUnknown })
    if (problems.length > 0) this.t.fail(`wire: ${problems.join('; ')}`, { received: message })
  }

  request (method: string, params?: any, options?: RequestOptions): Promise<Reply> { return this.start(method, params, options).reply }

  call (name: string, args?: any, options?: RequestOptions): Promise<Reply> {
    return this.request('tools/call', args === undefined ? { name } : { name, arguments: args }, options)
  }

  listen (notifications: unknown, options?: RequestOptions): Call { return this.start('subscriptions/listen', { notifications }, options) }

  initialize (params: Record<string, unknown> = {}): Promise<Reply> {
    return this.request('initialize', { protocolVersion: this.dialect.revision, capabilities: {}, clientInfo, ...params }, { id: 'init' })
  }

  initialized () { return this.notify('notifications/initialized') }
}

export function toReply (message: Message, inbox: Inbox, answer?: Answer): Reply {
  const notes = inbox.messages.filter(m => !isResponse(m))
  return { id: message.id, message, result: message.result, error: message.error, notes, ...(answer === undefined ? {} : { answer }) }
}

/** The handshake of the older revisions. */
export async function shake<P extends Peer> (peer: P, params?: Record<string, unknown>): Promise<P> {
  const { result, error } = await peer.initialize(params)
  if (result === undefined) throw new Error(`initialize was refused: ${JSON.stringify(error)}`)
  await peer.initialized()
  return peer
}

/** A client whose messages all come in on one channel, so that it has to sort them. */
export abstract class SharedPeer extends Peer {
  readonly all = new Inbox()
  readonly #open = new Map<unknown, { inbox: Inbox, token: unknown, listens: boolean }>()

  abstract write (text: string, headers?: OutgoingHttpHeaders): Promise<Answer | undefined>

  receive (message: Message) {
    this.check(message, true)
    this.all.push(message)
    if (isResponse(message)) {
      this.#open.get(message.id)?.inbox.push(message)
      this.#open.delete(message.id)
      return
    }
    const listener = this.#open.get(message.params?._meta?.[subscriptionId])
    if (listener !== undefined) return listener.inbox.push(message)
    const calls = [...this.#open.values()].filter(({ listens }) => !listens)
    const owner = calls.find(({ token }) => token !== undefined && token === message.params?.progressToken)
    for (const { inbox } of owner === undefined ? calls : [owner]) inbox.push(message)
  }

  start (method: string, params?: any, options: RequestOptions = {}): Call {
    const message = this.compose(method, params, options)
    const inbox = new Inbox()
    this.#open.set(message.id, { inbox, token: options.meta?.progressToken, listens: method === 'subscriptions/listen' })
    const written = this.write(JSON.stringify(message), options.headers).then(answer => {
      if (answer !== undefined && answer.status >= 400) throw new Error(`${method} was refused with HTTP ${answer.status} ${answer.text}`)
    })
    const reply = written.then(() => inbox.first(`an answer to ${method}`, m => isResponse(m) && m.id === message.id)).then(m => toReply(m, inbox))
    reply.catch(() => {})
    return { id: message.id, inbox, reply, abort: () => { this.notify('notifications/cancelled', { requestId: message.id }) } }
  }

  notify (method: string, params?: any, options: RequestOptions = {}) {
    const dressed = options.meta === undefined ? params : this.dialect.params(params, options.meta)
    return this.write(JSON.stringify({ jsonrpc: '2.0', method, params: dressed }), options.headers)
  }

  async raw (text: string): Promise<Heard> {
    const before = this.all.messages.length
    const answer = await this.write(text)
    for (let i = 0; i < 20 && this.all.messages.length === before && (answer?.status ?? 0) < 400; i++) await sleep(15)
    const messages = [...(answer?.messages ?? []), ...this.all.messages.slice(before)]
    return { messages, ...(answer === undefined ? {} : { status: answer.status, answer }) }
  }

  async events () { return this.all }
}

export class StdioPeer extends SharedPeer {
  readonly input = new PassThrough()
  readonly output = new PassThrough()
  /** The lines as they came, without their newline. */
  readonly lines: string[] = []
  /** Settles when the server is through with this client. */
  readonly done: Promise<void>
  /** What came after the last newline. */
  rest = Buffer.alloc(0)

  constructor (t: Test, dialect: Dialect, app: FastifyInstance) {
    super(t, dialect)
    this.output.on('data', (chunk: Buffer) => this.#read(chunk))
    this.output.on('end', () => this.all.end())
    this.done = app.mcp.stdio({ input: this.input, output: this.output })
    this.done.catch(error => t.fail('stdio() rejected', { error }))
    t.teardown(() => { this.input.end() })
  }

  #read (chunk: Buffer) {
    this.rest = Buffer.concat([this.rest, chunk])
    for (let end = this.rest.indexOf(10); end !== -1; end = this.rest.indexOf(10)) {
      const line = this.rest.subarray(0, end).toString()
      this.rest = this.rest.subarray(end + 1)
      this.lines.push(line)
      this.#take(line)
    }
  }

  #take (line: string) {
    let value: Message | Message[]
    try {
      value = JSON.parse(line)
    } catch {
      this.t.fail('the output holds something that is no message', { line: line.slice(0, 200) })
      return
    }
    if (Array.isArray(value) && this.dialect.revision !== '2025-03-26') this.t.fail('a batch of the server in a revision without batches')
    for (const message of Array.isArray(value) ? value : [value]) this.receive(message)
  }

  async write (text: string) {
    this.input.write(text + '\n')
    return undefined
  }
}

export interface StdioOptions { t: Test, handshake?: boolean, initialize?: Record<string, unknown>, meta?: Record<string, unknown> }

/** Serves a client over stdio; the handshake of the older revisions is done unless `handshake` is false. */
export async function stdio (app: FastifyInstance, version: Revision, { t, handshake = true, initialize, meta }: StdioOptions): Promise<StdioPeer> {
  if (version === '2026-07-28') return new StdioPeer(t, modernDialect(meta), app)
  const peer = new StdioPeer(t, legacyDialect(version), app)
  return handshake ? await shake(peer, initialize) : peer
}
