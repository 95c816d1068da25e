// What a unit is given in place of its neighbours: each records what it was told.
import { Type } from '@sinclair/typebox'
import { Access } from '../../lib/auth/access.js'
import { Calls } from '../../lib/calls.js'
import { expire } from '../../lib/dispatch.js'
import { Exchange, type Endpoint } from '../../lib/exchange.js'
import type { Channel, Listener, Method, Served } from '../../lib/method.js'
import { revisions } from '../../lib/revisions/index.js'
import type { Revision } from '../../lib/revisions/revision.js'
import type { Session } from '../../lib/session.js'
import type { Subscription } from '../../lib/subscriptions.js'
import { checkOf } from '../../lib/validate.js'
import type { Revision as Version } from '../../types/index.js'

export const revisionOf = (version: Version): Revision => revisions.find(one => one.version === version) as Revision

export class FakeChannel implements Channel {
  streams = true
  connected = true
  hears = true
  gone = false
  /** Texts sent before the answer. */
  readonly sent: string[] = []
  readonly ended: { text: string, status: number, headers?: Record<string, string> | undefined }[] = []
  readonly opened: unknown[][] = []
  /** What would be said where it closed and something must be. */
  readonly errors: (string | undefined)[] = []
  held = 0
  closed = 0
  listeners = 0
  private readonly leaving: (() => void)[] = []

  send (text: string) { this.sent.push(text) }
  end (text: string, status: number, headers?: Record<string, string>) { this.ended.push({ text, status, ...(headers !== undefined && { headers }) }) }
  hold () { this.held++ }
  close (error?: string) {
    this.closed++
    this.errors.push(error)
  }

  open (...what: unknown[]) { this.opened.push(what) }
  onGone (listener: () => void) {
    this.listeners++
    if (this.gone) listener()
    else this.leaving.push(listener)
  }

  /** The client leaves. */
  leave () {
    this.gone = true
    for (const listener of this.leaving.splice(0)) listener()
  }

  get messages (): any[] { return this.sent.map(text => JSON.parse(text)) }
  get answer (): any { return JSON.parse(this.ended[0]?.text ?? 'null') }
  get status (): number | undefined { return this.ended[0]?.status }
  get headers (): Record<string, string> | undefined { return this.ended[0]?.headers }
}

export const methodOf = (name: string, call: Method['call'], more: Partial<Method> = {}): Method => ({ name, params: Type.Object({}), call, ...more })

/** A revision with just these methods, as an endpoint serves it. */
export function servedOf (version: Version, methods: Method[] = [], listeners: Listener[] = []): Served {
  const revision = revisionOf(version)
  return {
    revision,
    methods: new Map(methods.map(method => [method.name, { method, check: checkOf(method.params as unknown as Record<string, unknown>) }])),
    listeners: new Map(listeners.map(one => [one.name, one])),
    encode: (method, result) => revision.encode(method.name, result, '{"name":"unit","version":"1"}')
  }
}

export interface Line { level: string, fields: any, message: string }

export interface EndpointDouble { endpoint: Endpoint, calls: Calls, log: Line[] }

/** An endpoint with a log that can be read; `after` is when the connection of a call is kept alive. */
export function endpointOf (after = 1000): EndpointDouble {
  const log: Line[] = []
  const write = (level: string) => (fields: unknown, message: string) => { log.push({ level, fields, message }) }
  const calls = new Calls(after, expire)
  const app = { log: { info: write('info'), warn: write('warn'), error: write('error') } }
  return { endpoint: { app, calls, access: new Access({}, undefined) } as unknown as Endpoint, calls, log }
}

export interface ExchangeOptions {
  id?: string | number
  params?: Record<string, unknown> | null
  version?: Version
  served?: Served
  channel?: FakeChannel
  session?: Session
}

/** A request on a channel of its own. */
export function exchangeOf (endpoint: Endpoint, method: string, options: ExchangeOptions = {}) {
  const { id = 1, params, version = '2025-11-25', channel = new FakeChannel(), session } = options
  const served = options.served ?? servedOf(version)
  const message = { jsonrpc: '2.0' as const, id, method, ...(params === undefined ? {} : { params }) }
  return { channel, exchange: new Exchange(endpoint, served, message, channel, session, undefined) }
}

/** A stream for changes that tells where it ended. */
export const streamOf = (ended: string[] = [], name = 'stream', more: Partial<Subscription> = {}): Subscription => ({ wants: () => true, deliver () {}, end () { ended.push(name) }, ...more })
