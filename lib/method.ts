import type { TSchema } from '@sinclair/typebox'
import type { Exchange } from './exchange.js'
import type { Params } from './jsonrpc.js'
import type { Revision } from './revisions/revision.js'
import type { Session } from './session.js'
import type { Check } from './validate.js'

// The seam between dispatch and the features.

/** What a method may give back instead of a result: it answers by itself, later, on the exchange's channel. */
export const KEPT = Symbol('the channel is kept open')

/** A value of a header that repeats a part of the body (2026-07-28 basic/transports/streamable-http, Custom Headers). */
export interface Mirrored {
  /** As the author writes it. */
  header: string
  type: 'string' | 'integer' | 'boolean'
  value: unknown
  /** Nothing of it may be told. */
  quiet: boolean
}

export interface Method {
  readonly name: string
  readonly params: TSchema
  /** The same object is the result as long as nothing changes: its text is kept. */
  readonly shared?: boolean
  /** It is answered soon or refused: its reply never becomes a stream to be kept alive, so an error keeps its status. */
  readonly brief?: boolean
  /** It may end with a question to the client (2026-07-28 basic/patterns/mrtr, Supported Requests). */
  readonly asks?: boolean
  /** Member of the params that the header `Mcp-Name` repeats. */
  readonly named?: 'name' | 'uri' | 'taskId'
  mirrored?(params: Params): Mirrored[]
  /** Runs synchronously up to the author's code; what it throws or rejects with goes to `failed`. */
  call (params: Params, exchange: Exchange): unknown
  /** Makes the result of what `call` gave. Without it that is the result. */
  result? (value: unknown, exchange: Exchange): Record<string, unknown>
  /** Makes a result of an error; undefined where it is a JSON-RPC error. */
  failed? (error: unknown, exchange: Exchange): Record<string, unknown> | undefined
}

/** Takes a notification of the client. `inFlight` are the requests that it may speak of. */
export interface Listener {
  readonly name: string
  receive (params: Params, inFlight: Iterable<Exchange>): void
}

/** A group of methods. */
export interface Feature {
  readonly methods: Method[]
  /** False as long as there is nothing to offer: until then its methods are not known, as if the feature were not there. */
  readonly offered?: boolean
  readonly notifications?: Listener[]
  /** What `initialize` and `server/discover` announce. `hears` says whether changes can reach this client. */
  capability? (hears: boolean): Record<string, unknown>
}

/** A revision as one endpoint serves it: its methods by name, the check of their params, and the way results become text. */
export interface Served {
  readonly revision: Revision
  readonly listeners: ReadonlyMap<string, Listener>
  readonly methods: ReadonlyMap<string, { method: Method, check: Check }>
  encode (method: Method, result: Record<string, unknown>): string
}

/** Where the answer to one message goes. */
export interface Channel {
  /** Whether anything can be sent before the answer. */
  readonly streams: boolean
  /** Whether what is sent now reaches the client, so that it can be asked. */
  readonly connected: boolean
  /** Whether the client has left. False where whoever leaves cancels all that is in flight. */
  readonly gone: boolean
  /** Whether the client can be told of changes later. */
  readonly hears: boolean
  /** Resolves when the client has taken what was sent; undefined where nothing waits. */
  readonly ready?: Promise<void> | undefined
  /** A message that belongs to the request; dropped where it cannot be sent or the client is gone. */
  send (text: string): void
  /** The answer. Nothing follows it. Headers go where it is the whole of an HTTP reply. */
  end (text: string, status: number, headers?: Record<string, string>): void
  /** The answer takes long: keep the connection alive meanwhile, where that is possible. */
  hold (): void
  /** Lets the connection go where the client can come back for the rest. */
  release? (): void
  /** No answer will come: the client does not want it any more. `error` is said where something must be. */
  close (error?: string): void
  /** Calls `listener` once when the client is gone before the answer; at once if it is already. */
  onGone (listener: () => void): void
  /** Begins the session that `initialize` asked for; a promise where other processes have to know of it. Throws where there is no room for one. */
  open (served: Served, client: Session['client'], capabilities: Session['capabilities']): Promise<void> | void
}
