import createError from '@fastify/error'
import type { ContentBlock, ToolErrorOptions } from '../types/index.js'

/**
 * Every JSON-RPC error this server raises itself: code, HTTP status, sentence.
 * Without a status the error is one that any method can raise: its HTTP status is that of the revision (400 where the door itself refuses).
 * Codes: JSON-RPC 2.0 section 5.1; 2026-07-28 basic/index, Error Codes (-32000 to -32019 are not to be used any more).
 */
const table = {
  ParseError: [-32700, 400, 'Parse error'],
  InvalidRequest: [-32600, 400, 'Invalid request'],
  MethodNotFound: [-32601, undefined, 'Method not found'],
  InvalidParams: [-32602, undefined, 'Invalid params'],
  InternalError: [-32603, undefined, 'Internal error'],
  Cancelled: [-32603, undefined, 'Cancelled'],
  HeaderMismatch: [-32020, 400, 'Header mismatch'],
  MissingCapability: [-32021, undefined, 'Missing required client capability'],
  UnsupportedVersion: [-32022, 400, 'Unsupported protocol version'],
  Unauthorized: [-32600, 401, 'Unauthorized'],
  Forbidden: [-32600, 403, 'Forbidden'],
  InsufficientScope: [-32600, 403, 'Insufficient scope'],
  SessionNotFound: [-32600, 404, 'Session not found'],
  MethodNotAllowed: [-32600, 405, 'Method not allowed'],
  NotAcceptable: [-32600, 406, 'Not acceptable'],
  BodyTooLarge: [-32600, 413, 'Request body is too large'],
  UnsupportedMediaType: [-32600, 415, 'Unsupported media type'],
  Unavailable: [-32603, 503, 'Unavailable']
} as const satisfies Record<string, readonly [number, number | undefined, string]>

export type ErrorName = keyof typeof table

/** A JSON-RPC error for the client. What a handler throws has no status of its own. */
export class McpError extends Error {
  override readonly name: string = 'McpError'
  readonly code: number
  readonly data: unknown
  readonly status: number | undefined
  /** Headers of the reply, where it is one of HTTP. */
  readonly headers?: Record<string, string>

  constructor (code: number, message: string, data?: unknown, status?: number) {
    super(message)
    this.code = code
    this.data = data
    this.status = status
  }
}

/** An error of the table; `detail` follows its sentence. */
export function rpcError (name: ErrorName, detail?: string, data?: unknown): McpError {
  const [code, status, sentence] = table[name]
  return new McpError(code, detail === undefined ? sentence : `${sentence}: ${detail}`, data, status)
}

export const withHeaders = (error: McpError, headers: Record<string, string>): McpError => Object.assign(error, { headers })

/** Turns what processes share and cannot be reached now into an error for the client. */
export async function reached<T> (what: Promise<T>): Promise<T> {
  try {
    return await what
  } catch (error) {
    throw error instanceof McpError ? error : rpcError('Unavailable', 'what the processes of this server share cannot be reached; try again')
  }
}

/** An error of a tool that the model is meant to read: the result of the call, with `isError`. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly content: readonly ContentBlock[] | undefined

  constructor (message: string, options: ToolErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.content = options.content
  }
}

/** What the model is told in place of a call that is not made. */
export class Refusal extends Error {
  /** Whole seconds after which the same call may be made; undefined where waiting does not help. */
  readonly retryAfter: number | undefined

  constructor (message: string, retryAfter?: number) {
    super(message)
    this.retryAfter = retryAfter
  }

  /** Headers of the reply, where it is one of HTTP. */
  get headers (): Record<string, string> | undefined { return this.retryAfter === undefined ? undefined : { 'retry-after': String(this.retryAfter) } }
}

/** Arguments that do not fit: for the model to read where the revision has a place for that (changelog of 2025-11-25). */
export class BadArguments extends Error {}

/** The reason of a signal whose call took longer than its time. */
export class CallTimeout extends Error {
  override readonly name = 'TimeoutError'
  readonly ms: number

  constructor (ms: number) {
    super(`The call took longer than ${ms} ms`)
    this.ms = ms
  }
}

/** The reason of a signal whose caller does not want, or cannot get, the answer any more. */
export class CallCancelled extends Error {
  override readonly name = 'AbortError'
}

/** The client cannot be asked such a thing. Where questions are results of the call, the client gets it as a protocol error; else whoever reads the result. */
export class InputUnsupportedError extends McpError {
  override readonly name = 'InputUnsupportedError'
  readonly capability: string
  readonly told: boolean
  private readonly needs: Record<string, unknown>

  constructor (message: string, needs: Record<string, unknown>, told: boolean) {
    const { code, status } = rpcError(told ? 'InternalError' : 'MissingCapability')
    super(code, message, told ? undefined : { requiredCapabilities: needs }, status)
    this.needs = needs
    this.capability = Object.keys(needs)[0] as string
    this.told = told
  }

  /** The same in other words. */
  saying (message: string): InputUnsupportedError { return new InputUnsupportedError(message, this.needs, this.told) }
}

/** A question that came to nothing; its message may be shown. */
export class InputFailure extends Error {}

export class NoStreamError extends InputFailure {
  override readonly name = 'NoStreamError'
}

export class InputRejectedError extends InputFailure {
  override readonly name = 'InputRejectedError'
  readonly code: number | undefined

  constructor (message: string, code?: number) {
    super(message)
    this.code = code
  }
}

/** Stops a handler at a question without an answer; the call starts again with it. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired'
}

// What an author did wrong; found at registration, never by a client.
export const MCP_ERR_OPTION = createError<[string]>('MCP_ERR_OPTION', 'fastify-mcp-plugin: %s', 500)
export const MCP_ERR_TWICE = createError<[string, string]>('MCP_ERR_TWICE', 'fastify-mcp-plugin is registered twice in the same scope (first %s, then %s). Register each endpoint in a scope of its own: app.register(async scope => { await scope.register(mcpPlugin, options) })', 500)
export const MCP_ERR_TOOL_NAME = createError<[string]>('MCP_ERR_TOOL_NAME', 'Tool name %s is not valid: use 1 to 128 of A-Z a-z 0-9 _ - . (2026-07-28 server/tools, Tool Names)', 500)
export const MCP_ERR_TOOL_DUPLICATE = createError<[string, string, string]>('MCP_ERR_TOOL_DUPLICATE', 'Tool "%s" is there already (%s); the second one is %s. Remove the first or give one another name', 500)
export const MCP_ERR_TOOL_DEFINITION = createError<[string, string]>('MCP_ERR_TOOL_DEFINITION', 'Tool "%s": %s', 500)
export const MCP_ERR_TOOL_SCHEMA = createError<[string, string, string]>('MCP_ERR_TOOL_SCHEMA', 'Tool "%s": %s is not a usable JSON Schema: %s', 500)
export const MCP_ERR_RESOURCE_URI = createError<[string, string]>('MCP_ERR_RESOURCE_URI', 'Resource %s: %s', 500)
export const MCP_ERR_RESOURCE_DUPLICATE = createError<[string, string, string]>('MCP_ERR_RESOURCE_DUPLICATE', 'Resource %s is there already ("%s"); the second one is "%s". Remove the first or give one another URI', 500)
export const MCP_ERR_RESOURCE_DEFINITION = createError<[string, string]>('MCP_ERR_RESOURCE_DEFINITION', 'Resource %s: %s', 500)
export const MCP_ERR_RESOURCE_SCHEMA = createError<[string, string]>('MCP_ERR_RESOURCE_SCHEMA', 'Resource %s: variables cannot be used as a schema: %s', 500)
export const MCP_ERR_PROMPT_NAME = createError<[string]>('MCP_ERR_PROMPT_NAME', 'Prompt name %s is not valid: use a string that is not empty', 500)
export const MCP_ERR_PROMPT_DUPLICATE = createError<[string, string, string]>('MCP_ERR_PROMPT_DUPLICATE', 'Prompt "%s" is there already (%s); the second one is %s. Remove the first or give one another name', 500)
export const MCP_ERR_PROMPT_DEFINITION = createError<[string, string]>('MCP_ERR_PROMPT_DEFINITION', 'Prompt "%s": %s', 500)
export const MCP_ERR_PROMPT_SCHEMA = createError<[string, string]>('MCP_ERR_PROMPT_SCHEMA', 'Prompt "%s": argsSchema cannot be used as a schema: %s', 500)
export const MCP_ERR_INPUT_SCHEMA = createError<[string]>('MCP_ERR_INPUT_SCHEMA', 'elicit() was given a schema that no form can show: %s', 500)
export const MCP_ERR_INPUT = createError<[string]>('MCP_ERR_INPUT', 'The client cannot be asked that: %s', 500)
export const MCP_ERR_CONTENT = createError<[string]>('MCP_ERR_CONTENT', 'No content can be made of that: %s', 500)
export const MCP_ERR_HOOK = createError<[string]>('MCP_ERR_HOOK', 'addHook(): %s', 500)
export const MCP_ERR_STDIO_OPTION = createError<[string]>('MCP_ERR_STDIO_OPTION', 'stdio(): %s', 500)
export const MCP_ERR_STDIO_OPEN = createError<[string]>('MCP_ERR_STDIO_OPEN', 'stdio() %s', 500)

/** The error, and what it was caused by. */
export function causesOf (error: unknown): unknown[] {
  const all = [error]
  for (let one = error; one instanceof Error && one.cause !== undefined && !all.includes(one.cause); one = one.cause) all.push(one.cause)
  return all
}
