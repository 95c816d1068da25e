import type { ContentBlock, ImageContent, AudioContent, TextContent } from './content.js'
import type { JsonObject } from './protocol.js'
import type { Args, OnlyFields, Schema } from './schema.js'

declare const kAnswer: unique symbol

/** A question for the client, made by `elicit`, `elicitUrl`, `sample` or `roots`, and what its answer is like. */
export interface Question<A> {
  /** The type of the answer (types only, no such property at run time). */
  readonly [kAnswer]: A
}

/** What the user did with a form or a page. Source: 2026-07-28 client/elicitation (Response Actions). */
export type ElicitAnswer<T> =
  | {
    /** The user agreed. */
    readonly action: 'accept'
    /** What the user filled in, checked against the schema. */
    readonly content: T
  }
  | {
    /** The user said no, or closed the form. */
    readonly action: 'decline' | 'cancel'
    /** Nothing. */
    readonly content?: undefined
  }

/** What the user did with a page. The page itself may not be finished. */
export interface ElicitUrlAnswer {
  /** The user agreed to open it, said no, or closed the question. */
  readonly action: 'accept' | 'decline' | 'cancel'
}

/** One message of a conversation with a model. Source: 2026-07-28 client/sampling (Messages). */
export interface SamplingMessage {
  /** Who says it. */
  readonly role: 'user' | 'assistant'
  /** What is said. Several blocks, and those of tools, from 2025-11-25 on; sound from 2025-03-26 on. */
  readonly content: TextContent | ImageContent | AudioContent | JsonObject | readonly (ContentBlock | JsonObject)[]
}

/** What `sample` takes. Source: 2026-07-28 schema (CreateMessageRequestParams). */
export interface SampleParams {
  /** The conversation. */
  readonly messages: readonly SamplingMessage[]
  /** The most tokens of the answer. */
  readonly maxTokens: number
  /** What the model is told first. The client may change or leave it out. */
  readonly systemPrompt?: string | undefined
  /** Which model is wanted. The client decides. */
  readonly modelPreferences?: JsonObject | undefined
  /** How much chance there is in the answer. */
  readonly temperature?: number | undefined
  /** Where the answer stops. */
  readonly stopSequences?: readonly string[] | undefined
  /** Which servers' context is wanted. Default: `none`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers' | undefined
  /** Tools the model may use. The client must declare `sampling.tools` (2025-11-25 on). */
  readonly tools?: readonly JsonObject[] | undefined
  /** How the model uses the tools. */
  readonly toolChoice?: JsonObject | undefined
  /** For the provider of the model. */
  readonly metadata?: JsonObject | undefined
}

/** What the client's model answered. Source: 2026-07-28 schema (CreateMessageResult). */
export interface SampleAnswer {
  /** `assistant`. */
  readonly role: 'user' | 'assistant'
  /** What it said: one block or several. */
  readonly content: TextContent | ImageContent | AudioContent | JsonObject | readonly JsonObject[]
  /** The model that said it. */
  readonly model: string
  /** Why it stopped, such as `endTurn` or `maxTokens`. */
  readonly stopReason?: string | undefined
}

/** A directory or file that the client works on. Source: 2026-07-28 client/roots (Root). */
export interface Root {
  /** A `file://` URI. */
  readonly uri: string
  /** Name for people. */
  readonly name?: string | undefined
}

/** How a question is asked. */
export interface InputOptions {
  /**
   * The answer counts once: the client cannot send it again with the same `requestState`, and in a round that answers nothing of what was
   * asked last it is asked for again (2026-07-28; there is none before). Default: false.
   */
  readonly singleUse?: boolean | undefined
}

/** Answers by the keys of the questions. */
export type Answers<Q> = { [K in keyof Q]: Q[K] extends Question<infer A> ? A : never }

/** Asks the user to fill in a form: a flat TypeBox object of strings, numbers, booleans and enumerations. Throws `MCP_ERR_INPUT_SCHEMA` for another schema, and `MCP_ERR_INPUT` for a message that is no string. */
export function elicit<S extends Schema> (message: string, schema: S & OnlyFields<S>): Question<ElicitAnswer<Args<S>>>
/** Asks the user to open a page, for what must not pass through the client. From 2025-11-25 on. Throws `MCP_ERR_INPUT` for a message that is no string or a URL that is not absolute. */
export function elicitUrl (message: string, url: string): Question<ElicitUrlAnswer>
/** Asks the client's model. A string is one message of the user with at most 1 000 tokens for the answer. Throws `MCP_ERR_INPUT` where `messages` or `maxTokens` is missing. */
export function sample (params: SampleParams | string): Question<SampleAnswer>
/** Asks which directories the client works on. */
export function roots (): Question<Root[]>

/** What `inputRequired` takes. */
export interface InputRequiredInit {
  /** Questions by their keys. */
  readonly questions: { readonly [key: string]: Question<unknown> }
  /** What the handler wants to know in its next run: anything that JSON can carry. It travels encrypted with the client. */
  readonly state?: unknown
}

declare const kInputRequired: unique symbol

/** A result that asks, made by `inputRequired`. */
export interface InputRequiredResult extends InputRequiredInit {
  /** Set by `inputRequired` only. */
  readonly [kInputRequired]: true
}

/**
 * The explicit form of asking: returned by a handler, which then runs again with `ctx.answers` and `ctx.state`. For authors who want to
 * say themselves where the handler goes on. Throws `MCP_ERR_INPUT` where there is neither a question nor a state.
 */
export function inputRequired (init: InputRequiredInit): InputRequiredResult

/** The client cannot be asked: its revision or its capabilities have no such question. From 2026-07-28 on it is answered with -32021. */
export class InputUnsupportedError extends Error {
  /** The capability that is needed, such as `elicitation`. */
  readonly capability: string
}

/** There is no stream on which the client could be asked, nor a session that has one. */
export class NoStreamError extends Error {}

/** The client answered a question with an error, or with what was not asked for. */
export class InputRejectedError extends Error {
  /** The code of the client's error, if it was one. */
  readonly code: number | undefined
}

/**
 * The reason why a handler of 2026-07-28 stops at a question without an answer: the call ends, and starts again with it.
 * A handler that catches errors around a question throws this one again.
 */
export class InputRequired extends Error {}

// Keeps what is not exported above from being exported all the same, as a declaration file does by default.
export {}
