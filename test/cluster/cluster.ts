// Several apps that serve one endpoint together, as if each were a process of its own, and clients that go to any of them.
import type { Test } from 'tap'
import { MemoryBroker } from '../../lib/brokers/memory.js'
import { MemoryStore } from '../../lib/stores/memory.js'
import type { McpOptions } from '../../types/index.js'
import { build, type Server } from '../support/app.js'
import { Answer, send, type Exchange } from '../support/http.js'
import { clientOf, startRedis, withoutRedis, type RedisServer } from '../support/redis.js'
import { Inbox } from '../support/stdio.js'
import { until } from '../support/time.js'

/** The options that make apps one. */
export type Sharing = (t: Test) => Promise<() => McpOptions>

const inMemory: Sharing = async () => {
  const first = new MemoryBroker()
  const store = new MemoryStore(first)
  return () => ({ store, broker: new MemoryBroker(first) })
}

const skip = withoutRedis()
let server: Promise<RedisServer> | undefined
let prefixes = 0

const inRedis: Sharing = async t => {
  const redis = await (server ??= startRedis(root))
  const prefix = `t${++prefixes}:`
  return () => ({ redis: { client: clientOf(t, redis), prefix } })
}

let root: Test

/** Runs a test on every backing there is. */
export function onEach (t: Test, name: string, run: (t: Test, sharing: Sharing) => Promise<void>): void {
  root = t
  t.test(`${name} (memory)`, t => run(t, inMemory))
  t.test(`${name} (redis)`, skip === false ? {} : { skip }, t => run(t, inRedis))
}

export async function apps (t: Test, sharing: Sharing, count: number, options: McpOptions = {}): Promise<Server[]> {
  const share = await sharing(t)
  return await Promise.all(Array.from({ length: count }, () => build(t, { options: { ...share(), ...options } })))
}

export interface Stream extends Answer { ids: string[], lastId: string }

/** A client of the handshake revisions that sends each message wherever it likes. */
export class Roamer {
  readonly version: string
  private readonly t: Test
  private readonly extra: Record<string, string>
  private nextId = 1
  session = ''

  /** @param extra headers of every request */
  constructor (t: Test, version = '2025-11-25', extra: Record<string, string> = {}) {
    this.t = t
    this.extra = extra
    this.version = version
  }

  private headers (more: Record<string, string> = {}): Record<string, string> {
    const own = this.session === '' ? {} : { 'mcp-session-id': this.session, 'mcp-protocol-version': this.version }
    return { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...own, ...this.extra, ...more }
  }

  private send (url: string, method: string, headers: Record<string, string>, body?: unknown): Exchange {
    const exchange = send(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }, new Inbox(), (message, answer) => answer.inbox.push(message))
    this.t.teardown(exchange.abort)
    exchange.answer.catch(() => {})
    return exchange
  }

  async open ({ url }: Server, capabilities: object = { elicitation: {} }): Promise<Answer> {
    const answer = await this.post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: this.version, capabilities, clientInfo: { name: 'roamer', version: '1' } } })
    this.session = String(answer.headers['mcp-session-id'])
    return answer
  }

  post (url: string, body: object, more: Record<string, string> = {}): Promise<Answer> { return this.send(url, 'POST', this.headers(more), body).answer }

  /** A request whose answer is one of JSON. */
  async ask ({ url }: Server, method: string, params: object = {}): Promise<any> {
    const answer = await this.post(url, { jsonrpc: '2.0', id: this.nextId++, method, params })
    await answer.over()
    return answer.messages.at(-1)
  }

  /** A call, as it runs. */
  call ({ url }: Server, name: string, args: object = {}, params: object = {}): Exchange & { id: number } {
    const id = this.nextId++
    return { id, ...this.send(url, 'POST', this.headers(), { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...params } }) }
  }

  notify ({ url }: Server, method: string, params: object): Promise<Answer> { return this.post(url, { jsonrpc: '2.0', method, params }) }
  answer ({ url }: Server, id: unknown, result: object): Promise<Answer> { return this.post(url, { jsonrpc: '2.0', id, result }) }

  listen ({ url }: Server, lastEventId?: string): Exchange {
    return this.send(url, 'GET', this.headers({ accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) }))
  }

  end ({ url }: Server): Promise<Answer> { return this.send(url, 'DELETE', this.headers()).answer }
}

/** The id of the last event that a client has. */
export const lastId = (answer: Answer): string | undefined => answer.events.findLast(one => one.id !== undefined)?.id
export const methods = (answer: Answer): unknown[] => answer.messages.map(one => one.method)
export const heard = (answer: Answer, what: (message: any) => boolean, ms?: number): Promise<boolean> => until(() => answer.messages.some(what), ms)
