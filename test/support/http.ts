// Thin MCP clients over node:http: every header and byte can be seen, and every message goes through the wire check.
import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Test } from 'tap'
import {
  Inbox, isResponse, legacyDialect, modernDialect, Peer, shake, SharedPeer, sleep, toReply,
  type Call, type Dialect, type Heard, type RequestOptions
} from './stdio.js'
import type { Message, Revision } from './wire.js'

/** One HTTP answer: whole, or a stream that is still being read. */
export class Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly inbox: Inbox
  readonly close: () => void
  text = ''
  /** Whether the answer was cut instead of ended. */
  cut = false
  readonly events: EventSourceMessage[] = []
  readonly comments: string[] = []
  readonly retries: number[] = []
  ended: Promise<void> = Promise.resolve()

  constructor (status: number, headers: IncomingHttpHeaders, inbox: Inbox, close: () => void) {
    this.status = status
    this.headers = headers
    this.inbox = inbox
    this.close = close
  }

  get type () { return this.headers['content-type']?.split(';')[0]?.trim() ?? '' }
  get streams () { return this.type === 'text/event-stream' }
  get messages () { return this.inbox.messages }
  get json (): any { return JSON.parse(this.text) }

  /** Whether the answer is over within the time. */
  over (ms = 3000): Promise<boolean> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms, false)
      this.ended.then(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}

export interface Outgoing { method: string, headers?: OutgoingHttpHeaders, body?: string | Buffer | undefined }
export interface Exchange { answer: Promise<Answer>, abort: () => void }
type Take = (message: Message, answer: Answer) => void

/** Sends one request with exactly these headers. The answer is there with its headers if it streams, else with its last byte. */
export function send (url: string, { method, headers = {}, body }: Outgoing, inbox: Inbox, take: Take): Exchange {
  const request = http.request(url, { method, headers, agent: false })
  request.setTimeout(10_000, () => request.destroy(new Error(`no answer to ${method} in 10 s`)))
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject)
    request.on('close', () => reject(new Error(`${method} was closed without an answer`)))
    request.on('response', response => {
      const answer = new Answer(response.statusCode ?? 0, response.headers, inbox, () => request.destroy())
      read(response, answer, take)
      if (!answer.streams) return answer.ended.then(() => resolve(answer))
      request.setTimeout(0)
      resolve(answer)
    })
  })
  answer.catch(() => inbox.end())
  // As bytes, or Node would write the headers in the encoding of the body.
  request.end(body === undefined ? undefined : Buffer.from(body))
  return { answer, abort: () => request.destroy() }
}

function read (response: http.IncomingMessage, answer: Answer, take: Take) {
  const takeAll = (value: unknown) => {
    for (const message of Array.isArray(value) ? value : [value]) take(message, answer)
  }
  const parser = createParser({
    onComment: comment => answer.comments.push(comment),
    onRetry: retry => answer.retries.push(retry),
    onEvent (event) {
      answer.events.push(event)
      if (event.data !== '' && (event.event ?? 'message') === 'message') takeAll(JSON.parse(event.data))
    }
  })
  response.setEncoding('utf8')
  response.on('error', () => {})
  response.on('data', chunk => {
    answer.text += chunk
    if (answer.streams) parser.feed(chunk)
  })
  answer.ended = new Promise(resolve => {
    response.on('close', () => {
      answer.cut = !response.complete
      if (answer.type === 'application/json' && answer.text !== '' && !answer.cut) takeAll(answer.json)
      answer.inbox.end()
      resolve()
    })
  })
}

/** Headers on top of others, whatever their case; `undefined` takes one away. */
export function withHeaders (base: OutgoingHttpHeaders, extra: OutgoingHttpHeaders = {}): OutgoingHttpHeaders {
  const names = Object.keys(extra).map(name => name.toLowerCase())
  const kept = Object.entries(base).filter(([name]) => !names.includes(name.toLowerCase()))
  return Object.fromEntries([...kept, ...Object.entries(extra)].filter(([, value]) => value !== undefined))
}

function parsed (text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Statuses of a door that is closed before the message is looked at, so that the error need not name its request.
const doors = new Set([401, 403, 404, 405, 406, 413, 415, 503])

export class HttpPeer extends Peer {
  readonly url: string
  readonly extra: OutgoingHttpHeaders
  session: string | undefined

  constructor (t: Test, url: string, dialect: Dialect, extra: OutgoingHttpHeaders = {}) {
    super(t, dialect)
    this.url = url
    this.extra = extra
  }

  headers (message: Message, extra?: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const own = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...this.dialect.headers(message) }
    const session = this.session === undefined || message.method === 'initialize' ? {} : { 'Mcp-Session-Id': this.session }
    return withHeaders(withHeaders({ ...own, ...session }, this.extra), extra)
  }

  exchange (outgoing: Outgoing, { inbox = new Inbox(), idUnknown = false } = {}): Exchange {
    const exchange = send(this.url, outgoing, inbox, (message, answer) => {
      this.check(message, idUnknown || doors.has(answer.status))
      inbox.push(message)
    })
    this.t.teardown(exchange.abort)
    return exchange
  }

  start (method: string, params?: any, options: RequestOptions = {}): Call {
    const message = this.compose(method, params, options)
    const inbox = new Inbox()
    const outgoing = { method: 'POST', headers: this.headers(message, options.headers), body: JSON.stringify(message) }
    const exchange = this.exchange(outgoing, { inbox })
    const reply = exchange.answer.then(async answer => {
      const mine = answer.streams ? (m: Message) => isResponse(m) && m.id === message.id : isResponse
      const response = await inbox.first(`an answer to ${method} (HTTP ${answer.status})`, mine)
      const idless = (response.id ?? null) === null && doors.has(answer.status)
      if (response.id !== message.id && !idless) this.t.fail(`wire: the answer to ${JSON.stringify(message.id)} is for ${JSON.stringify(response.id)}`)
      if (method === 'initialize') this.session = answer.headers['mcp-session-id'] as string | undefined
      return toReply(response, inbox, answer)
    })
    reply.catch(() => {})
    return { id: message.id, inbox, reply, answer: exchange.answer, abort: exchange.abort }
  }

  notify (method: string, params?: any, options: RequestOptions = {}): Promise<Answer> {
    const dressed = options.meta === undefined ? params : this.dialect.params(params, options.meta)
    return this.post({ jsonrpc: '2.0', method, params: dressed }, options.headers)
  }

  post (body: unknown, extra?: OutgoingHttpHeaders): Promise<Answer> {
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const value = typeof body === 'string' ? parsed(body) : body
    for (const one of Array.isArray(value) ? value : [value]) if (one?.method !== undefined && 'id' in one) this.sent.set(one.id, one.method)
    const message = typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Message : {}
    return this.exchange({ method: 'POST', headers: this.headers(message, extra), body: text }, { idUnknown: true }).answer
  }

  get (extra?: OutgoingHttpHeaders) { return this.bodiless('GET', { Accept: 'text/event-stream', ...extra }) }
  delete (extra?: OutgoingHttpHeaders) { return this.bodiless('DELETE', { Accept: undefined, ...extra }) }

  bodiless (method: string, extra: OutgoingHttpHeaders): Promise<Answer> {
    const headers = this.headers({}, { 'Content-Type': undefined, ...extra })
    return this.exchange({ method, headers }, { idUnknown: true }).answer
  }

  async raw (text: string): Promise<Heard> {
    const answer = await this.post(text)
    await answer.over()
    return { status: answer.status, messages: answer.messages, answer }
  }

  async events (): Promise<Inbox> {
    const answer = await this.get()
    if (!answer.streams) throw new Error(`GET gave HTTP ${answer.status} ${answer.type}`)
    return answer.inbox
  }
}

/** HTTP+SSE of 2024-11-05: one stream down, one POST for each message up. */
export class SsePeer extends SharedPeer {
  readonly stream: Answer
  readonly endpoint: string
  /** The answers to the POSTs. */
  readonly posted: Answer[] = []
  readonly extra: OutgoingHttpHeaders

  constructor (t: Test, stream: Answer, endpoint: string, extra: OutgoingHttpHeaders) {
    super(t, legacyDialect('2024-11-05'))
    this.stream = stream
    this.endpoint = endpoint
    this.extra = extra
  }

  async write (text: string, extra: OutgoingHttpHeaders = {}) {
    const headers = withHeaders({ 'Content-Type': 'application/json', ...this.extra }, extra)
    const inbox = new Inbox()
    const { answer, abort } = send(this.endpoint, { method: 'POST', headers, body: text }, inbox, message => inbox.push(message))
    this.t.teardown(abort)
    this.posted.push(await answer)
    return answer
  }
}

export interface ClientOptions { t: Test, headers?: OutgoingHttpHeaders }
export interface LegacyOptions extends ClientOptions { handshake?: boolean, initialize?: Record<string, unknown> }

/** A client of a handshake revision over Streamable HTTP; the handshake is done unless `handshake` is false. */
export async function legacy (url: string, version: Revision, { t, headers, handshake = true, initialize }: LegacyOptions): Promise<HttpPeer> {
  const peer = new HttpPeer(t, url, legacyDialect(version), headers)
  return handshake ? await shake(peer, initialize) : peer
}

/** A client of 2026-07-28 over Streamable HTTP. */
export function modern (url: string, { t, headers, meta }: ClientOptions & { meta?: Record<string, unknown> }): HttpPeer {
  return new HttpPeer(t, url, modernDialect(meta), headers)
}

/** A client of HTTP+SSE: it opens the stream and waits for the endpoint it is given. */
export async function httpSse (url: string, { t, headers = {}, handshake = true, initialize }: LegacyOptions): Promise<SsePeer> {
  const receivers: SsePeer[] = []
  const outgoing = { method: 'GET', headers: { Accept: 'text/event-stream', ...headers } }
  const { answer, abort } = send(url, outgoing, new Inbox(), message => receivers[0]?.receive(message))
  t.teardown(abort)
  const stream = await answer
  for (let i = 0; i < 100 && stream.streams && stream.events.length === 0; i++) await sleep(10)
  const event = stream.events[0]
  if (event?.event !== 'endpoint') throw new Error(`no endpoint event: HTTP ${stream.status} ${stream.text.slice(0, 200)}`)
  const peer = new SsePeer(t, stream, new URL(event.data, url).href, headers)
  receivers.push(peer)
  return handshake ? await shake(peer, initialize) : peer
}
