import type { FastifyInstance } from 'fastify'
import type { Context } from './context.js'

/** What a completer knows besides the text typed so far. */
export interface CompletionContext {
  /** The other arguments that the client has filled in already. Before 2025-06-18 clients do not say. */
  readonly arguments: { readonly [name: string]: string }
  /** As in any handler. */
  readonly ctx: Context
}

/** Suggestions, the best first. Source: 2026-07-28 server/utilities/completion (Completion Results). */
export interface Completion {
  /** The suggestions. No more than 100 of them are sent. */
  readonly values: readonly string[]
  /** How many there are in all. Default: the number of `values` where there are more than are sent, else not said. */
  readonly total?: number | undefined
  /** Whether there are more. Default: whether some of `values` are not sent. */
  readonly hasMore?: boolean | undefined
}

/**
 * Suggests values for an argument of a prompt or a variable of a template, from what the user has typed so far, which may be nothing.
 * What it returns is sent as it stands: it has to filter by itself. `this` is the Fastify instance that added the prompt or the resource.
 */
export type Complete = (this: FastifyInstance, value: string, context: CompletionContext) =>
  readonly string[] | Completion | Promise<readonly string[] | Completion>

/** All there is, of which those are suggested that begin with what was typed, in whatever case; or a function. */
export type Completer = readonly string[] | Complete
