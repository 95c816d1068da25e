import type { ContentBlock } from './content.js'

/** What `ToolError` takes besides its message. */
export interface ToolErrorOptions {
  /** What the model reads instead of the message alone. Default: the message as text. */
  content?: readonly ContentBlock[] | undefined
  /** What led to it, for the log. The client never sees it. */
  cause?: unknown
}

/**
 * Thrown by the handler of a tool to tell the model what went wrong, so that it can try again in another way.
 * The client gets a result with `isError: true`.
 * Source: 2026-07-28 server/tools (Error Handling).
 */
export class ToolError extends Error {
  /** @param message What the model reads. */
  constructor (message: string, options?: ToolErrorOptions)
  /** What the model reads instead of the message alone; `undefined` if only the message. */
  readonly content: readonly ContentBlock[] | undefined
}

/**
 * Thrown by a handler to answer with a JSON-RPC error, which the model does not see as a rule.
 * Source: JSON-RPC 2.0, section 5.1.
 */
export class McpError extends Error {
  /**
   * @param code An integer. -32768 to -32000 are reserved, such as -32602 for invalid params.
   * @param message One short sentence.
   * @param data Anything that can be written as JSON.
   */
  constructor (code: number, message: string, data?: unknown)
  /** The code of the JSON-RPC error. */
  readonly code: number
  /** Further data for the client; left out if `undefined`. */
  readonly data: unknown
}
