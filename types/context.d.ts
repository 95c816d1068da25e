import type { AuthInfo } from './auth.js'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Answers, ElicitAnswer, ElicitUrlAnswer, InputOptions, Question, Root, SampleAnswer, SampleParams } from './input.js'
import type { Args, OnlyFields, Schema } from './schema.js'
import type { ClientCapabilities, Implementation, JsonObject, LoggingLevel } from './protocol.js'

/** A session of the handshake revisions. Source: 2025-11-25 basic/transports (Session Management). */
export interface Session {
  /** Its id, as in the header `Mcp-Session-Id`. Treat it as a secret. */
  readonly id: string
}

/** What a handler is given besides its arguments. It is the same whatever the client's revision and transport. */
export interface Context {
  /**
   * Aborts when the answer is no longer wanted: the client cancelled, or left where that cancels; the tool ran out of time; the
   * server closes. Pass it on to `fetch`, timers and queries.
   */
  readonly signal: AbortSignal
  /** The logger of the request; that of the app on stdio. */
  readonly log: FastifyBaseLogger
  /** The HTTP request that brought the message; `undefined` on stdio. */
  readonly request: FastifyRequest | undefined
  /** The Fastify instance that added the tool, the same as `this` in the handler. */
  readonly app: FastifyInstance
  /** Who makes the request; `undefined` without the option `auth`. */
  readonly auth: AuthInfo | undefined
  /** Name and version of the client; `undefined` if it did not say. */
  readonly client: Implementation | undefined
  /** What the client can do; `{}` if it did not say. */
  readonly capabilities: ClientCapabilities
  /** The session of the call; `undefined` where there is none. */
  readonly session: Session | undefined
  /** The `_meta` of the request; `{}` where there is none. */
  readonly meta: JsonObject
  /**
   * Tells the client how far the call is. `progress` must grow from call to call, and so must `total` be in the same unit.
   * Does nothing if the client did not ask for it. Never rejects.
   * Source: 2026-07-28 basic/utilities/progress.
   */
  progress (progress: number, total?: number, message?: string): Promise<void>
  /**
   * Lets the connection of this call go, so that nothing has to be held open while it runs on: the client comes back for the rest.
   * Does nothing where it could not (no session, or a client that takes JSON alone). Never rejects.
   * Source: 2025-11-25 basic/transports (Sending Messages to the Server).
   */
  closeStream (): Promise<void>
  /**
   * Sends a log message to the client, `data` being anything that can be written as JSON, under the name `logger`.
   * Does nothing if the client did not ask for messages of that level. Never rejects.
   * Source: 2026-07-28 server/utilities/logging.
   */
  message (level: LoggingLevel, data: unknown, logger?: string): Promise<void>
  /**
   * Asks the client, all questions in one round: `const { login } = await ctx.input({ login: elicit('Your login?', schema) })`.
   *
   * In the handshake revisions the client is asked while the handler waits. From 2026-07-28 on the call ends with the questions, and
   * **the handler starts again from its first line** when the client makes the call again with the answers: what must happen only once
   * belongs into `once`.
   *
   * Rejects with `InputUnsupportedError`, `NoStreamError`, `InputRejectedError`, or the reason of `signal`; from 2026-07-28 on with
   * `InputRequired`, which a handler that catches errors throws again. It and the four below it reject with `MCP_ERR_INPUT` or
   * `MCP_ERR_INPUT_SCHEMA` for what is no question, and for an unknown option.
   * Source: 2026-07-28 basic/patterns/mrtr; client/elicitation, client/sampling, client/roots.
   */
  input<Q extends { readonly [key: string]: Question<unknown> }> (questions: Q, options?: InputOptions): Promise<Answers<Q>>
  /** Asks the user to fill in a form. */
  elicit<S extends Schema> (message: string, schema: S & OnlyFields<S>, options?: InputOptions): Promise<ElicitAnswer<Args<S>>>
  /** Asks the user to open a page. */
  elicitUrl (message: string, url: string, options?: InputOptions): Promise<ElicitUrlAnswer>
  /** Asks the client's model. */
  sample (params: SampleParams | string, options?: InputOptions): Promise<SampleAnswer>
  /** Asks which directories the client works on. */
  roots (options?: InputOptions): Promise<Root[]>
  /**
   * What the questions of the last `inputRequired` were answered with, by their keys; what was not answered, or not as asked, is not
   * there. `{}` in the first run.
   */
  readonly answers: { readonly [key: string]: unknown }
  /** The `state` of the last `inputRequired`; `undefined` in the first run. */
  readonly state: unknown
  /**
   * Runs `make` in the first round alone and keeps its value, which JSON can carry, for the rounds that follow: a payment, a random
   * number, a timestamp.
   */
  once<T> (key: string, make: () => T | Promise<T>): Promise<T>
}
