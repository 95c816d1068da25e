import type { Readable, Writable } from 'node:stream'
import type { JsonSchema, Output, Schema } from './schema.js'
import type { StructuredToolDefinition, Tool, ToolDefinition } from './tool.js'

/** `app.mcp.tools`: the tools of this server. Every change is told to the clients that listen. */
export interface Tools {
  /**
   * Adds a tool with an `outputSchema`. Its handler runs with `this` being the instance that `mcp` was read from.
   *
   * Throws `MCP_ERR_TOOL_NAME` for a name that is not allowed, `MCP_ERR_TOOL_DUPLICATE` for one that is taken, and
   * `MCP_ERR_TOOL_SCHEMA` for a schema that is not valid, with the tool and the place in the schema.
   */
  add<O extends Schema, const R extends Output<O>, I extends Schema = JsonSchema> (
    definition: StructuredToolDefinition<I, O, R>
  ): void
  /** Adds a tool without an `outputSchema`, else as the first form. */
  add<I extends Schema = JsonSchema> (definition: ToolDefinition<I>): void
  /** Adds a tool made by `defineTool`, else as the first form. */
  add (tool: Tool): void
  /** Takes a tool away. Calls that run go on. Returns whether there was such a tool. */
  remove (name: string): boolean
  /** Shows a tool again. Returns whether there is such a tool. */
  enable (name: string): boolean
  /** Hides a tool: it is not listed and cannot be called, but keeps its name. Returns whether there is such a tool. */
  disable (name: string): boolean
  /** Whether there is such a tool, hidden or not. */
  has (name: string): boolean
}

/** What `app.mcp.stdio` takes. */
export interface StdioOptions {
  /** Where messages come from, one a line. Default: `process.stdin`. */
  input?: Readable | undefined
  /** Where messages go to, one a line. Default: `process.stdout`, so nothing else may write there. */
  output?: Writable | undefined
  /** The greatest length of a line, in bytes. A longer one is answered with an error. Default: 16 MiB. */
  lineLimit?: number | undefined
}

/** What goes on in this process. */
export interface Stats {
  /** Sessions that are open. */
  readonly sessions: number
  /** Streams that are open. */
  readonly streams: number
  /** Calls that run. */
  readonly calls: number
}

/** `app.mcp`: the server of the scope that registered the plugin. */
export interface Mcp {
  /** The tools of this server. */
  readonly tools: Tools
  /**
   * Serves one client over stdio. Resolves when the input has ended, everything is answered, and the app is closed.
   * Source: 2026-07-28 basic/transports/stdio.
   */
  stdio (options?: StdioOptions): Promise<void>
  /** What goes on in this process, for metrics and tests. */
  stats (): Stats
}
