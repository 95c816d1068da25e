import type { FastifyInstance } from 'fastify'
import type { Gated } from './auth.js'
import type { Completer } from './completion.js'
import type { ContentBlock } from './content.js'
import type { Context } from './context.js'
import type { InputRequiredResult } from './input.js'
import type { Icon, JsonObject, Role } from './protocol.js'
import type { JsonSchema, OnlyStrings, Schema, Static, TypeBoxSchema } from './schema.js'

/** What a prompt says about itself. Source: 2026-07-28 server/prompts (Data Types). */
export interface PromptInfo extends Gated {
  /** Unique name. */
  readonly name: string
  /** Name for people. Left out for clients older than 2025-06-18. */
  readonly title?: string | undefined
  /** What it is for. */
  readonly description?: string | undefined
  /** Images for a user interface. Left out for clients older than 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined
  /** Further data about the prompt. Left out for clients older than 2025-06-18. */
  readonly _meta?: JsonObject | undefined
}

/** One message of a conversation, made by `user` or `assistant`. Source: 2026-07-28 server/prompts (PromptMessage). */
export interface PromptMessage {
  /** Who says it. */
  readonly role: Role
  /** What is said. */
  readonly content: ContentBlock
}

/** The full result of a prompt. Source: 2026-07-28 schema (GetPromptResult). */
export interface GetPromptResult {
  /** The conversation. */
  readonly messages: readonly PromptMessage[]
  /** What it is for. Default: the `description` of the prompt. */
  readonly description?: string | undefined
  /** Further data about the result. */
  readonly _meta?: JsonObject | undefined
}

/** What the handler of a prompt answers with: a string, which is one text of the user; a message; messages; or a full result. */
export type PromptReturn = string | PromptMessage | readonly PromptMessage[] | GetPromptResult | InputRequiredResult

/** The arguments of a prompt: typed by a TypeBox `argsSchema`, else any strings. */
export type PromptArgs<A> = A extends TypeBoxSchema
  ? unknown extends Static<A> ? Record<string, string> : Static<A>
  : Record<string, string>

/** A prompt. */
export interface PromptDefinition<A extends Schema = JsonSchema> extends PromptInfo {
  /**
   * The arguments: an object whose members are strings, as they are on the wire. What clients are shown of it is each argument's name,
   * `title`, `description` and whether it is required. Default: none are shown, and any are passed on.
   */
  readonly argsSchema?: (A & OnlyStrings<A>) | undefined
  /** Suggestions for arguments, by their name. */
  readonly complete?: { readonly [N in keyof PromptArgs<A>]?: Completer | undefined } | undefined
  /**
   * Makes the messages. It is called only with arguments that `argsSchema` admits, defaults filled in; arguments it does not name are passed on.
   *
   * `this` is the Fastify instance that added the prompt (`ctx.app` in an arrow function). Throw `McpError` for a protocol error.
   * Whatever else is thrown is logged in full, and the client is told only an error id (-32603).
   */
  handler (this: FastifyInstance, args: PromptArgs<A>, ctx: Context): PromptReturn | Promise<PromptReturn>
}

declare const useDefinePrompt: unique symbol

/** A prompt made by `definePrompt`, whatever its arguments. Add it with the option `prompts` or with `app.mcp.prompts.add`. */
export interface Prompt extends PromptInfo {
  /** The shape of the arguments. */
  readonly argsSchema?: Schema | undefined
  /** Suggestions for arguments. */
  readonly complete?: { readonly [name: string]: Completer | undefined } | undefined
  /** Makes the messages. Nothing is checked here. */
  handler (this: FastifyInstance, args: unknown, ctx: Context): unknown
  /** Set by `definePrompt` only, so that every prompt has been typed by it. Not there at run time. */
  readonly [useDefinePrompt]: true
}

/** Types a prompt, so that it can live in a file of its own. Nothing is checked before it is added. */
export function definePrompt<A extends Schema = JsonSchema> (definition: PromptDefinition<A>): Prompt

/** A message of the user: a text, or one piece of content. */
export function user (content: string | ContentBlock): PromptMessage

/** A message of the assistant: a text, or one piece of content. */
export function assistant (content: string | ContentBlock): PromptMessage

// Keeps what is not exported above from being exported all the same, as a declaration file does by default.
export {}
