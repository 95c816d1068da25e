import type { Annotations, Icon, JsonObject } from './protocol.js'

/** What every piece of content may carry besides itself. */
export interface ContentExtra {
  /** How the client may use it. */
  annotations?: Annotations | undefined
  /** Further data under the key rules of 2026-07-28 basic (`_meta`). */
  _meta?: JsonObject | undefined
}

/** Text. Source: 2026-07-28 server/tools (Text Content). */
export interface TextContent extends ContentExtra {
  /** Always `text`. */
  type: 'text'
  /** The text itself. */
  text: string
}

/** An image. Source: 2026-07-28 server/tools (Image Content). */
export interface ImageContent extends ContentExtra {
  /** Always `image`. */
  type: 'image'
  /** The image, base64 (RFC 4648, section 4). */
  data: string
  /** MIME type, such as `image/png`. */
  mimeType: string
}

/** A sound. Source: 2026-07-28 server/tools (Audio Content). Clients of 2024-11-05 do not know it. */
export interface AudioContent extends ContentExtra {
  /** Always `audio`. */
  type: 'audio'
  /** The sound, base64 (RFC 4648, section 4). */
  data: string
  /** MIME type, such as `audio/wav`. */
  mimeType: string
}

/**
 * A link to a resource that the client may read.
 * Source: 2026-07-28 server/tools (Resource Links). Clients older than 2025-06-18 do not know it.
 */
export interface ResourceLink extends ContentExtra {
  /** Always `resource_link`. */
  type: 'resource_link'
  /** URI of the resource. */
  uri: string
  /** Name for programs. Shown to people where there is no `title`. */
  name: string
  /** Name for people. */
  title?: string | undefined
  /** What the resource holds, for the model. */
  description?: string | undefined
  /** MIME type, if known. */
  mimeType?: string | undefined
  /** Size in bytes before any encoding, if known. */
  size?: number | undefined
  /** Images for a user interface. */
  icons?: readonly Icon[] | undefined
}

/** The text of a resource. Source: 2026-07-28 schema (TextResourceContents). */
export interface TextResourceContents {
  /** URI of the resource. */
  uri: string
  /** MIME type, if known. */
  mimeType?: string | undefined
  /** The text itself. */
  text: string
  /** A resource holds text or bytes, never both. */
  blob?: undefined
  /** Further data about the resource. */
  _meta?: JsonObject | undefined
}

/** The bytes of a resource. Source: 2026-07-28 schema (BlobResourceContents). */
export interface BlobResourceContents {
  /** URI of the resource. */
  uri: string
  /** MIME type, if known. */
  mimeType?: string | undefined
  /** The bytes, base64 (RFC 4648, section 4). */
  blob: string
  /** A resource holds text or bytes, never both. */
  text?: undefined
  /** Further data about the resource. */
  _meta?: JsonObject | undefined
}

/** A resource with its contents. Source: 2026-07-28 server/tools (Embedded Resources). */
export interface EmbeddedResource extends ContentExtra {
  /** Always `resource`. */
  type: 'resource'
  /** The resource. */
  resource: TextResourceContents | BlobResourceContents
}

/** One piece of what a tool answers with. Source: 2026-07-28 schema (ContentBlock). */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/** Bytes: a `Buffer` or any `Uint8Array`, or a string that is base64 already. */
export type Bytes = Uint8Array | string

/** What `embedded` takes: a resource with either `text` or `blob`. */
export type EmbeddedInit =
  | {
    /** URI of the resource. */
    uri: string
    /** MIME type, if known. */
    mimeType?: string | undefined
    /** The text itself. */
    text: string
    /** A resource holds text or bytes, never both. */
    blob?: undefined
    /** Further data about the resource. */
    _meta?: JsonObject | undefined
  }
  | {
    /** URI of the resource. */
    uri: string
    /** MIME type, if known. */
    mimeType?: string | undefined
    /** The bytes. */
    blob: Bytes
    /** A resource holds text or bytes, never both. */
    text?: undefined
    /** Further data about the resource. */
    _meta?: JsonObject | undefined
  }

/**
 * The full result of a tool that has no `outputSchema`.
 * Source: 2026-07-28 server/tools (Tool Result).
 */
export interface CallToolResult {
  /** What the model reads. */
  content: readonly ContentBlock[]
  /** The call failed and `content` says how. Default: false. */
  isError?: boolean | undefined
  /** The same as data. Before 2026-07-28 it must be an object. Left out for clients older than 2025-06-18. */
  structuredContent?: unknown
  /** Further data about the result. */
  _meta?: JsonObject | undefined
}

/** What `result` takes. */
export interface ResultInit {
  /** What the model reads. Default: `structuredContent` as JSON text. */
  content?: readonly ContentBlock[] | undefined
  /** The value, checked against `outputSchema` unless `isError` is true. */
  structuredContent?: unknown
  /** The call failed and `content` says how. Default: false. */
  isError?: boolean | undefined
  /** Further data about the result. */
  _meta?: JsonObject | undefined
}

declare const kResult: unique symbol

/**
 * A full result, made by `result`. The mark tells it from a plain value that happens to have the same
 * members, so nothing is guessed from the shape of what a handler returns.
 */
export interface Result extends ResultInit {
  /** Set by `result` only. */
  readonly [kResult]: true
}

/** Text. */
export function text (text: string, extra?: ContentExtra): TextContent

/** An image from bytes or base64, with its MIME type, such as `image/png`. Throws `MCP_ERR_CONTENT` for what is neither. */
export function image (data: Bytes, mimeType: string, extra?: ContentExtra): ImageContent

/** A sound from bytes or base64, with its MIME type, such as `audio/wav`. Throws `MCP_ERR_CONTENT` for what is neither. */
export function audio (data: Bytes, mimeType: string, extra?: ContentExtra): AudioContent

/** A link to a resource: at least its `uri` and `name`. */
export function resourceLink (link: Omit<ResourceLink, 'type'>): ResourceLink

/** A resource with its contents: its `uri` and either `text` or `blob`. Throws `MCP_ERR_CONTENT` for what is neither, and for a `blob` that is neither bytes nor base64. */
export function embedded (resource: EmbeddedInit, extra?: ContentExtra): EmbeddedResource

/**
 * A full result, for a tool that wants more than its plain value: its own `content`, `isError` or `_meta`.
 * With an `outputSchema`, `structuredContent` is needed unless `isError` is true.
 */
export function result (parts: ResultInit): Result

// Keeps what is not exported above from being exported all the same, as a declaration file does by default.
export {}
