import type { FastifyInstance } from 'fastify'
import type { Gated } from './auth.js'
import type { CallToolResult, ContentBlock, Result } from './content.js'
import type { Context } from './context.js'
import type { InputRequiredResult } from './input.js'
import type { Icon, JsonObject, ToolAnnotations } from './protocol.js'
import type { Args, JsonSchema, OnlyObject, Output, Schema } from './schema.js'

/** What a tool says about itself. Source: 2026-07-28 server/tools (Data Types). */
export interface ToolInfo extends Gated {
  /** Unique name: 1 to 128 of `A-Z a-z 0-9 _ - .`. */
  readonly name: string
  /** Name for people. Left out for clients older than 2025-06-18. */
  readonly title?: string | undefined
  /** What it does and when to use it, for the model. */
  readonly description?: string | undefined
  /** Hints about what it does. */
  readonly annotations?: ToolAnnotations | undefined
  /** Images for a user interface. Left out for clients older than 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined
  /** Further data about the tool. */
  readonly _meta?: JsonObject | undefined
  /** How long a call may run, in milliseconds; 0 is for ever. Default: `limits.toolTimeout`. */
  readonly timeout?: number | undefined
  /**
   * How many calls of this tool may run at once in this process: a whole number of at least 1. One more is refused at once, with
   * `isError` and when to try again. A call counts until its handler has ended. Default: any number.
   */
  readonly concurrency?: number | undefined
  /**
   * How often one caller may call this tool; with the option `redis` all processes count together. A call over it is refused with
   * `isError` and when to try again. A caller is who the token says; without `auth` an address, or the connection on stdio. Default: any
   * number of times.
   */
  readonly rateLimit?: RateLimit | undefined
  /**
   * How large a result may be as JSON, in bytes: a whole number of at least 1. In place of a larger one the model reads how large it was.
   * A question to the client is no result. Default: any size.
   */
  readonly maxResultBytes?: number | undefined
}

/** How often one caller may call one tool. */
export interface RateLimit {
  /** Calls that one caller may make in `timeWindow`: a whole number of at least 1. */
  readonly max: number
  /** How long they are counted from the first of them on, in milliseconds: a whole number from 1 to 2 147 483 647 (nearly 25 days). */
  readonly timeWindow: number
}

/** What the user is asked before a tool runs: its name and arguments (`true`), a text, or what a function makes of the arguments. */
export type Confirm<A> = true | string | ((this: FastifyInstance, args: A, ctx: Context) => string)

/** What the handler of a tool without `outputSchema` answers with: text, content, or a full result. */
export type ToolReturn = string | ContentBlock | readonly ContentBlock[] | CallToolResult | Result | InputRequiredResult

/** A tool without `outputSchema`. */
export interface ToolDefinition<I extends Schema = JsonSchema> extends ToolInfo {
  /** The shape of the arguments, always an object. Default: any object. */
  readonly inputSchema?: (I & OnlyObject<I>) | undefined
  /** None. */
  readonly outputSchema?: undefined
  /**
   * Asks the user before the handler runs, once for each call, with a form that has one box to tick. `true` shows the name of the tool and
   * its arguments, shortened; a string or a function says it in your words (the function is called once for each call). Where the user
   * does not agree, or cannot be asked, the handler does not run: the client gets `isError`, from 2026-07-28 on -32021 if it cannot ask.
   * It cannot go with `readOnlyHint`. Default: nobody is asked.
   */
  readonly confirm?: Confirm<Args<I>> | undefined
  /**
   * Runs the tool. It is called only with arguments that `inputSchema` admits, defaults filled in.
   *
   * `this` is the Fastify instance that added the tool (`ctx.app` in an arrow function).
   * Throw `ToolError` for a message that the model shall read and `McpError` for a protocol error.
   * Whatever else is thrown is logged in full, and the client is told only an error id.
   */
  handler (this: FastifyInstance, args: Args<I>, ctx: Context): ToolReturn | Promise<ToolReturn>
}

/** A tool with `outputSchema`. */
export interface StructuredToolDefinition<I extends Schema, O extends Schema, R> extends ToolInfo {
  /** The shape of the arguments, always an object. Default: any object. */
  readonly inputSchema?: (I & OnlyObject<I>) | undefined
  /** The shape of the value. Clients older than 2026-07-28 are shown it only if it is an object. */
  readonly outputSchema: O
  /**
   * Asks the user before the handler runs, once for each call, with a form that has one box to tick. `true` shows the name of the tool and
   * its arguments, shortened; a string or a function says it in your words (the function is called once for each call). Where the user
   * does not agree, or cannot be asked, the handler does not run: the client gets `isError`, from 2026-07-28 on -32021 if it cannot ask.
   * It cannot go with `readOnlyHint`. Default: nobody is asked.
   */
  readonly confirm?: Confirm<Args<I>> | undefined
  /**
   * Runs the tool and returns its value, which becomes `structuredContent` and, as JSON, its text; or `result({ … })`.
   * The value is checked against `outputSchema`: one that does not fit is an error of the server, not of the caller.
   *
   * `this` is the Fastify instance that added the tool (`ctx.app` in an arrow function).
   * Throw `ToolError` for a message that the model shall read and `McpError` for a protocol error.
   * Whatever else is thrown is logged in full, and the client is told only an error id.
   */
  handler (this: FastifyInstance, args: Args<I>, ctx: Context): R | Result | InputRequiredResult | Promise<R | Result | InputRequiredResult>
}

/** A tool whose schemas are not known to the compiler. */
export interface AnyTool extends ToolInfo {
  /** The shape of the arguments. */
  readonly inputSchema?: Schema | undefined
  /** The shape of the value. */
  readonly outputSchema?: Schema | undefined
  /**
   * Asks the user before the handler runs, once for each call, with a form that has one box to tick. `true` shows the name of the tool and
   * its arguments, shortened; a string or a function says it in your words (the function is called once for each call). Where the user
   * does not agree, or cannot be asked, the handler does not run: the client gets `isError`, from 2026-07-28 on -32021 if it cannot ask.
   * It cannot go with `readOnlyHint`. Default: nobody is asked.
   */
  readonly confirm?: Confirm<never> | undefined
  /** Runs the tool. Nothing is checked here: neither the arguments nor the value. */
  handler (this: FastifyInstance, args: unknown, ctx: Context): unknown
}

declare const useDefineTool: unique symbol

/** A tool made by `defineTool`, whatever its schemas. Add it with the option `tools` or with `app.mcp.tools.add`. */
export interface Tool extends AnyTool {
  /** Set by `defineTool` only, so that every tool has been typed by it. Not there at run time. */
  readonly [useDefineTool]: true
}

/**
 * Types a tool, so that it can live in a file of its own. Nothing is checked before it is added.
 *
 * With an `outputSchema` the handler returns the plain value or `result({ … })`.
 */
export function defineTool<O extends Schema, const R extends Output<O>, I extends Schema = JsonSchema> (
  definition: StructuredToolDefinition<I, O, R>
): Tool
/**
 * Types a tool, so that it can live in a file of its own. Nothing is checked before it is added.
 *
 * Without an `outputSchema` the handler returns a string, content, or a full result.
 */
export function defineTool<I extends Schema = JsonSchema> (definition: ToolDefinition<I>): Tool

// Keeps what is not exported above from being exported all the same, as a declaration file does by default.
export {}
