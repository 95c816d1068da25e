import type { AuthOptions } from './auth.js'
import type { Broker } from './broker.js'
import type { Implementation, JsonObject, Revision } from './protocol.js'
import type { Prompt } from './prompt.js'
import type { RedisClient, RedisOptions } from './redis.js'
import type { Resource } from './resource.js'
import type { Store } from './store.js'
import type { Tool } from './tool.js'

/** Sessions of the handshake revisions. They are kept in the memory of this process, or with `redis` for all processes. */
export interface SessionOptions {
  /** How long a session lives without a request or a stream, in milliseconds, at least 1. Default: 1 800 000 (30 minutes). */
  idle?: number | undefined
  /**
   * The greatest number of sessions, at least 1: for none there is `sessions: false`. Over it, the oldest one whose client has sent nothing since `initialize` gives way, if it has had 5 seconds;
   * where there is none, opening one is 503 with `Retry-After`. Default: 10 000.
   */
  max?: number | undefined
  /**
   * The greatest number of sessions of one caller, where `auth` says who that is. Over it, the oldest of them whose client has sent nothing since
   * `initialize` gives way, if it has had 5 seconds; where there is none, opening one is 503 with `Retry-After`. Default: 1 000.
   */
  maxPerCaller?: number | undefined
}

/** What is kept of the streams of a session, for clients that come back for the rest. Source: 2025-11-25 basic/transports (Resumability and Redelivery). */
export interface ReplayOptions {
  /** Messages that are kept; the oldest go first. Default: 10 000. */
  events?: number | undefined
  /** Characters that are kept. Default: 2 097 152. */
  size?: number | undefined
  /** How long a stream without a connection is kept, in milliseconds. Default: 300 000 (5 minutes). */
  ttl?: number | undefined
}

/** Streams of server-sent events. */
export interface SseOptions {
  /** The time between two comments that keep a stream open, in milliseconds, 1 to 2 147 483 647. Default: 15 000. */
  keepAlive?: number | undefined
  /** How long a call may run before it gets a stream, where its client takes one, in milliseconds. In a session the stream can be resumed. Default: 1 000. */
  after?: number | undefined
  /** How much may wait for a client that does not read, in bytes. Over it, the stream is destroyed; in a session its client can come back for the rest, so no more than `replay` keeps. Default: 1 MiB. */
  maxBuffered?: number | undefined
  /** What is kept for clients that lost a stream: of each session, or with `redis` of each stream. */
  replay?: ReplayOptions | undefined
}

/** How long a client may keep a list. Source: 2026-07-28 server/utilities/caching. */
export interface CacheOptions {
  /** The time, in milliseconds. Default: 60 000. */
  ttlMs?: number | undefined
  /** `public` if every user gets the same, `private` if not. Default: `public`. */
  cacheScope?: 'public' | 'private' | undefined
}

/** The greatest of everything. */
export interface LimitOptions {
  /** The size of a request body, in bytes. Default: the `bodyLimit` of the app. */
  body?: number | undefined
  /** The number of messages in a batch (2025-03-26 only). Default: 100. */
  batch?: number | undefined
  /** The number of streams held open for changes. Over it, one more is 503 with `Retry-After`. Default: 10 000. */
  streams?: number | undefined
  /** The number of calls in flight of one session. Over it, one more is 503. Default: 1 000. */
  calls?: number | undefined
  /** The number of questions that a client of the handshake revisions has not answered yet. Over it, asking rejects. Default: 100. */
  questions?: number | undefined
  /**
   * How long a call may run, in milliseconds; 0 is for ever. A tool may have its own `timeout`. It holds for reading a resource, getting a
   * prompt and completing an argument, too. Default: 300 000 (5 minutes).
   */
  toolTimeout?: number | undefined
  /** How much a resource that is read from a stream may hold, in bytes. Default: 16 MiB. */
  resource?: number | undefined
}

/** How the state of a call that asks its client is kept from being read and changed. Source: 2026-07-28 basic/patterns/mrtr (Server Requirements). */
export interface RequestStateOptions {
  /** Keys of 32 bytes, as bytes or as base64: the first seals, all of them open. Default: one of this process; with `redis`, one that all processes find there. */
  keys?: readonly (string | Uint8Array)[] | undefined
  /** How long it is good, in milliseconds. Default: 600 000 (10 minutes). */
  ttl?: number | undefined
}

/** One thing that is wrong with a value. */
export interface ValidationProblem {
  /** Where: a JSON Pointer (RFC 6901), empty for the whole value. */
  path: string
  /** What is wrong, in words that a model can use, such as `must be an integer, but is "ten"`. */
  message: string
}

/** A compiled schema: `true`, or what is wrong with the value. With `useDefaults` it fills in the value in place. */
export type Validate = (value: unknown) => true | ValidationProblem[]

/** Checks values in place of Ajv. */
export interface Validator {
  /**
   * Compiles a schema, once for each. It is a plain JSON Schema object, whatever the tool was defined with.
   * `useDefaults` is true for an `inputSchema` and false for an `outputSchema`.
   */
  compile (schema: JsonObject, options: { readonly useDefaults: boolean }): Validate
}

/**
 * The options of the plugin. All of them have a default.
 * A wrong one rejects `ready` with `MCP_ERR_OPTION`, which names it; a wrong tool, resource or prompt with what `add` throws. The plugin
 * registered twice in one scope rejects it with `MCP_ERR_TWICE`.
 */
export interface McpOptions {
  /** Name and version of this server. Default: those of the plugin. */
  serverInfo?: Implementation | undefined
  /** How to use this server, for the model. */
  instructions?: string | undefined
  /** The path to serve, below the prefix of the scope. Default: `/mcp`. */
  path?: string | undefined
  /** The revisions to speak. Default: all. */
  revisions?: readonly Revision[] | undefined
  /** Tools made by `defineTool`. More can be added with `app.mcp.tools.add`. */
  tools?: readonly Tool[] | undefined
  /** Resources and templates made by `defineResource`. More can be added with `app.mcp.resources.add`. */
  resources?: readonly Resource[] | undefined
  /** Prompts made by `definePrompt`. More can be added with `app.mcp.prompts.add`. */
  prompts?: readonly Prompt[] | undefined
  /** Sessions of the handshake revisions, or `false` for none: then every request stands alone. */
  sessions?: false | SessionOptions | undefined
  /**
   * Whether to serve the HTTP+SSE transport of 2024-11-05. Default: true, but false where `sessions` is false; `true` serves it all the same,
   * with sessions of its own. Without 2024-11-05 among `revisions` it is off.
   */
  httpSse?: boolean | undefined
  /** Streams of server-sent events. */
  sse?: SseOptions | undefined
  /** Who may use the endpoint. Default: everybody. */
  auth?: AuthOptions | undefined
  /**
   * Host names to accept, or `*` for all: besides the loopback names where the server listens on loopback, elsewhere these alone. Default:
   * the loopback names where the server listens on loopback, any name elsewhere.
   * Source: 2026-07-28 basic/transports/streamable-http (Security Warning).
   */
  hosts?: readonly string[] | '*' | undefined
  /**
   * Origins to accept besides the default, such as `https://app.example`, or `*` for all.
   * Source: 2026-07-28 basic/transports/streamable-http (Security Warning); RFC 6454.
   */
  origins?: readonly string[] | '*' | undefined
  /** How many entries a page of a list has. Default: 1 000. Source: 2026-07-28 server/utilities/pagination. */
  pageSize?: number | undefined
  /** How long a client may keep a list. */
  cache?: CacheOptions | undefined
  /** The greatest of everything. */
  limits?: LimitOptions | undefined
  /** The state that a question sends along with the client and back (2026-07-28). */
  requestState?: RequestStateOptions | undefined
  /** How long closing waits for calls in flight, and then again for open streams to end, in milliseconds, at most 2 147 483 647. What is left is stopped. Default: 1 000. */
  closeTimeout?: number | undefined
  /**
   * A client of ioredis, or one with settings: then any number of processes serve the endpoint together, and any of them takes any request.
   * Default: this process is alone, and all is in its memory.
   */
  redis?: RedisClient | RedisOptions | undefined
  /** In place of `redis`: where processes keep what they share. It goes with `broker`. */
  store?: Store | undefined
  /** In place of `redis`: how processes tell each other. It goes with `store`. */
  broker?: Broker | undefined
  /** Checks values in place of Ajv. */
  validator?: Validator | undefined
}
