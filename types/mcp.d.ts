import type { Readable, Writable } from 'node:stream'
import type { CallHooks } from './audit.js'
import type { Prompt, PromptDefinition } from './prompt.js'
import type { Resource, ResourceDefinition, ResourceTemplateDefinition } from './resource.js'
import type { JsonSchema, Output, Schema } from './schema.js'
import type { StructuredToolDefinition, Tool, ToolDefinition } from './tool.js'

/** `app.mcp.tools`: the tools of this server. Every change is told to the clients that listen. */
export interface Tools {
  /**
   * Adds a tool with an `outputSchema`. Its handler runs with `this` being the instance that `mcp` was read from.
   *
   * Throws `MCP_ERR_TOOL_NAME` for a name that is not allowed, `MCP_ERR_TOOL_DUPLICATE` for one that is taken, `MCP_ERR_TOOL_SCHEMA` for
   * a schema that cannot be used, with the place in it, and `MCP_ERR_TOOL_DEFINITION` for anything else, with the reason.
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

/** `app.mcp.resources`: the resources of this server. Every change of the list is told to the clients that listen. */
export interface Resources {
  /**
   * Adds a resource. Its functions run with `this` being the instance that `mcp` was read from.
   *
   * Throws `MCP_ERR_RESOURCE_URI` for a URI or template that is not one, `MCP_ERR_RESOURCE_DUPLICATE` for one that is taken,
   * `MCP_ERR_RESOURCE_SCHEMA` for `variables` that cannot be used, and `MCP_ERR_RESOURCE_DEFINITION` for anything else, with the reason.
   */
  add (definition: ResourceDefinition): void
  /** Adds a template of resources, else as the first form. */
  add<const T extends string, V extends Schema = JsonSchema> (definition: ResourceTemplateDefinition<T, V>): void
  /** Adds a resource made by `defineResource`, else as the first form. */
  add (resource: Resource): void
  /** Takes a resource or a template away, by its URI or template. Returns whether there was such a one. */
  remove (uri: string): boolean
  /** Shows a resource or a template again. Returns whether there is such a one. */
  enable (uri: string): boolean
  /** Hides a resource or a template: it is not listed and cannot be read, not even by way of a template that its URI fits. Returns whether there is such a one. */
  disable (uri: string): boolean
  /** Whether there is such a resource or template, hidden or not. */
  has (uri: string): boolean
  /** Tells the clients that subscribed to this URI that what it holds has changed. */
  updated (uri: string): void
}

/** `app.mcp.prompts`: the prompts of this server. Every change of the list is told to the clients that listen. */
export interface Prompts {
  /**
   * Adds a prompt. Its functions run with `this` being the instance that `mcp` was read from.
   *
   * Throws `MCP_ERR_PROMPT_NAME` for no name or an empty one, `MCP_ERR_PROMPT_DUPLICATE` for one that is taken, `MCP_ERR_PROMPT_SCHEMA` for an
   * `argsSchema` that cannot be used, and `MCP_ERR_PROMPT_DEFINITION` for anything else, with the reason.
   */
  add<A extends Schema = JsonSchema> (definition: PromptDefinition<A>): void
  /** Adds a prompt made by `definePrompt`, else as the first form. */
  add (prompt: Prompt): void
  /** Takes a prompt away. Returns whether there was such a prompt. */
  remove (name: string): boolean
  /** Shows a prompt again. Returns whether there is such a prompt. */
  enable (name: string): boolean
  /** Hides a prompt: it is not listed and cannot be had, but keeps its name. Returns whether there is such a prompt. */
  disable (name: string): boolean
  /** Whether there is such a prompt, hidden or not. */
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

/** Whether what the server needs is there. */
export interface Health {
  /** False while calls of sessions are answered with 503. */
  readonly ok: boolean
  /** What several processes share: Redis, say. Absent where there is one process. */
  readonly shared?: {
    readonly ok: boolean
    /** When that became so. */
    readonly since: Date
    /** Why it is not. */
    readonly error?: string
  }
}

/** `app.mcp`: the server of the scope that registered the plugin. */
export interface Mcp {
  /** The tools of this server. */
  readonly tools: Tools
  /** The resources of this server. */
  readonly resources: Resources
  /** The prompts of this server. */
  readonly prompts: Prompts
  /**
   * Hears of calls of tools, prompts and resources of this server, for an audit log or metrics. Hooks change nothing: each gets a copy, none is
   * waited for, and what one throws is logged. Throws `MCP_ERR_HOOK` for a name that is none, and for what is no function.
   */
  addHook<N extends keyof CallHooks> (name: N, hook: CallHooks[N]): void
  /**
   * Serves one client over stdio. Resolves when the input has ended, everything is answered, and the app is closed.
   *
   * Rejects with `MCP_ERR_STDIO_OPTION` for an option that is wrong or unknown, `MCP_ERR_STDIO_OPEN` where it runs already or has ended,
   * `MCP_ERR_OPTION` where the function `auth.stdio` gives no caller, and with what keeps the app from being ready.
   * Source: 2026-07-28 basic/transports/stdio.
   */
  stdio (options?: StdioOptions): Promise<void>
  /** What goes on in this process, for metrics and tests. */
  stats (): Stats
  /** What is wrong, for a readiness check. It asks nobody: it says how the last commands went. */
  health (): Health
}
