import type { FastifyRequest } from 'fastify'
import type { AuthInfo } from './auth.js'
import type { Implementation, JsonObject, Revision } from './protocol.js'

/** A call of a tool, a prompt or a resource, as hooks are told of it. A copy for each hook: nothing that is done to it changes the call. */
export interface CallEvent {
  /** What was asked for. */
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read'
  /** The name of the tool or prompt, or the URI. `undefined` where the client gave none. */
  readonly name: string | undefined
  /** The arguments as they came, without defaults, with `'[redacted]'` for what the schema marks with `x-sensitive: true` and, in such a schema, for all that it does not name; where they do not fit it, for every value. `undefined` for a resource, where there is no such tool or prompt, and for a call that came before the first hook was added. */
  readonly arguments: JsonObject | undefined
  /** Who calls, as far as it is data: `claims` without functions and classes. `undefined` without the option `auth`. */
  readonly auth: AuthInfo | undefined
  /** The client, as it says itself. */
  readonly client: Implementation | undefined
  /** The id of the session, if there is one. */
  readonly session: string | undefined
  /** The HTTP request itself, with all that is in its body. `undefined` on stdio. */
  readonly request: FastifyRequest | undefined
  /** The revision that the client speaks. */
  readonly revision: Revision
  /** The id of the JSON-RPC request. */
  readonly id: string | number
}

/** A call that has a result. */
export interface ResultEvent extends CallEvent {
  /** What came of it: a result, one with `isError`, or a question to the client, after which the call comes again (2026-07-28). */
  readonly outcome: 'ok' | 'tool-error' | 'asked'
  /** How long the handler took, in milliseconds. */
  readonly duration: number
}

/** A call that has none. */
export interface ErrorEvent extends CallEvent {
  /**
   * Why: the caller lacks a scope, is over a limit of the tool or was not given the yes of its user; there is no such thing, or the arguments do not fit; it took longer than its `timeout`; the client took it
   * back or left, or the server closes; or anything else.
   */
  readonly outcome: 'denied' | 'invalid' | 'timeout' | 'cancelled' | 'error'
  /** How long the handler took, in milliseconds; 0 where it never ran. */
  readonly duration: number
  /** What the client was told. */
  readonly message: string
  /** Names the line of the log that has the whole error, where there is one: an `McpError` is no more than its message. */
  readonly errorId: string | undefined
}

/** What can be heard of calls, by the name of the hook. */
export interface CallHooks {
  /** The call was let in, its arguments fit, and its handler runs next. Once for each call, whose end is one of the other two. */
  onCall: (event: CallEvent) => unknown
  /** The call was answered with a result. */
  onResult: (event: ResultEvent) => unknown
  /** The call was refused, or came to nothing. */
  onError: (event: ErrorEvent) => unknown
}
