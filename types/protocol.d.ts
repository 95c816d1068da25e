/**
 * A revision of the Model Context Protocol that this package speaks.
 * The first four open with `initialize`; `2026-07-28` carries everything in each request.
 * Source: 2026-07-28 basic/versioning.
 */
export type Revision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'

/** A JSON object that the protocol leaves open, such as `_meta` or the settings of a capability. */
export interface JsonObject {
  readonly [key: string]: unknown
}

/**
 * An image that a client may show beside a name.
 * Source: 2026-07-28 basic (Icons). Left out for clients older than 2025-11-25.
 */
export interface Icon {
  /** URI of the image: `https:`, `http:` or `data:` with base64. */
  src: string
  /** MIME type, when that of the source is missing or too general, such as `image/png`. */
  mimeType?: string | undefined
  /** Sizes at which the image can be used, each `WxH` in pixels such as `48x48`, or `any` for one that scales. Default: any size. */
  sizes?: readonly string[] | undefined
  /** The background that the image was drawn for. Default: either. */
  theme?: 'light' | 'dark' | undefined
}

/**
 * The name and version of a client or a server.
 * Source: 2026-07-28 server/discover; before that, basic/lifecycle.
 */
export interface Implementation {
  /** Name for programs. Shown to people where there is no `title`. */
  name: string
  /** Version, in any form. */
  version: string
  /** Name for people. */
  title?: string | undefined
  /** What it does, in a sentence or two. */
  description?: string | undefined
  /** Images for a user interface. */
  icons?: readonly Icon[] | undefined
  /** URL of its website. */
  websiteUrl?: string | undefined
}

/** Who a piece of content is meant for. Source: 2026-07-28 schema (Role). */
export type Role = 'user' | 'assistant'

/** How a client may use a piece of content. Source: 2026-07-28 server/resources (Annotations). */
export interface Annotations {
  /** Who it is meant for. Default: not said. */
  audience?: readonly Role[] | undefined
  /** From 0, entirely optional, to 1, in effect required. Default: not said. */
  priority?: number | undefined
  /** When it was last changed, ISO 8601, such as `2025-01-12T15:00:58Z`. */
  lastModified?: string | undefined
}

/**
 * Hints about what a tool does. A client must not trust them from a server it does not trust.
 * Source: 2026-07-28 schema (ToolAnnotations).
 */
export interface ToolAnnotations {
  /** Name for people. The `title` of the tool itself goes first. */
  title?: string | undefined
  /** The tool changes nothing. Default: false. */
  readOnlyHint?: boolean | undefined
  /** The tool may destroy something, rather than only add. Has a meaning only where `readOnlyHint` is false. Default: true. */
  destructiveHint?: boolean | undefined
  /** Calling again with the same arguments changes nothing more. Has a meaning only where `readOnlyHint` is false. Default: false. */
  idempotentHint?: boolean | undefined
  /** The tool deals with things outside a closed set, as a web search does. Default: true. */
  openWorldHint?: boolean | undefined
}

/**
 * How severe a log message to the client is, from the least to the most.
 * Source: 2026-07-28 server/utilities/logging; RFC 5424, section 6.2.1.
 */
export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'

/**
 * What a client says that it can do. Not a closed set: a client may declare more than is listed here.
 * Source: 2026-07-28 schema (ClientCapabilities).
 */
export interface ClientCapabilities {
  /** It can list its roots. `listChanged`: it says when they change (handshake revisions only). */
  readonly roots?: { readonly listChanged?: boolean | undefined } | undefined
  /** It can ask a language model for us. `context`: it takes `includeContext`; `tools`: it takes `tools` and `toolChoice`. */
  readonly sampling?: { readonly context?: JsonObject | undefined, readonly tools?: JsonObject | undefined } | undefined
  /** It can ask its user. `form`: with a form; `url`: by opening a page. `{}` means `form`. */
  readonly elicitation?: { readonly form?: JsonObject | undefined, readonly url?: JsonObject | undefined } | undefined
  /** It takes requests as tasks (2025-11-25 only). */
  readonly tasks?: JsonObject | undefined
  /** Extensions by identifier, such as `io.modelcontextprotocol/tasks`, with their settings. */
  readonly extensions?: { readonly [id: string]: JsonObject } | undefined
  /** Anything outside the specification. */
  readonly experimental?: { readonly [name: string]: JsonObject } | undefined
  /** What else the client declared. */
  readonly [capability: string]: unknown
}

/**
 * What this server says that it can do. It is worked out from what is registered.
 * Source: 2026-07-28 schema (ServerCapabilities).
 */
export interface ServerCapabilities {
  /** There are tools. `listChanged`: we say when the list changes. */
  readonly tools?: { readonly listChanged?: boolean | undefined } | undefined
  /** There are resources. `subscribe`: a client can ask to hear of changes to one; `listChanged`: we say when the list changes. */
  readonly resources?: { readonly subscribe?: boolean | undefined, readonly listChanged?: boolean | undefined } | undefined
  /** There are prompts. `listChanged`: we say when the list changes. */
  readonly prompts?: { readonly listChanged?: boolean | undefined } | undefined
  /** Arguments can be completed. */
  readonly completions?: JsonObject | undefined
  /** Log messages are sent to the client. */
  readonly logging?: JsonObject | undefined
  /** Requests may be made as tasks (2025-11-25 only). */
  readonly tasks?: JsonObject | undefined
  /** Extensions by identifier, with their settings. */
  readonly extensions?: { readonly [id: string]: JsonObject } | undefined
  /** Anything outside the specification. */
  readonly experimental?: { readonly [name: string]: JsonObject } | undefined
}
