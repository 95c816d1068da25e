import type { Gated } from './auth.js'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Completer } from './completion.js'
import type { Bytes } from './content.js'
import type { Context } from './context.js'
import type { InputRequiredResult } from './input.js'
import type { CacheOptions } from './options.js'
import type { Annotations, Icon, JsonObject } from './protocol.js'
import type { JsonSchema, Schema, Static, TypeBoxSchema } from './schema.js'

/** What a resource, or a template of resources, says about itself. Source: 2026-07-28 server/resources (Data Types). */
export interface ResourceInfo {
  /** Name for programs. Shown to people where there is no `title`. */
  readonly name: string
  /** Name for people. Left out for clients older than 2025-06-18. */
  readonly title?: string | undefined
  /** What it holds, for the model. */
  readonly description?: string | undefined
  /** MIME type, if known: of a template, if all its resources have the same. It is also that of what `read` returns. */
  readonly mimeType?: string | undefined
  /** How the client may use it. */
  readonly annotations?: Annotations | undefined
  /** Images for a user interface. Left out for clients older than 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined
  /** Further data about it. Left out for clients older than 2025-06-18. */
  readonly _meta?: JsonObject | undefined
}

/** Options that a resource and a template have in common. */
export interface ResourceOptions extends ResourceInfo, Gated {
  /**
   * How long a client may keep what was read, and whether caches may share it. Default: `{ ttlMs: 0, cacheScope: 'private' }`, which is safe
   * for whatever changes or depends on the caller.
   * Source: 2026-07-28 server/utilities/caching.
   */
  readonly cache?: CacheOptions | undefined
}

/** A part of what a resource holds. Without a `uri` it has that of the resource. */
export type ResourcePart =
  | {
    /** URI of this part. */
    readonly uri?: string | undefined
    /** MIME type. Default: that of the resource. */
    readonly mimeType?: string | undefined
    /** The text itself. */
    readonly text: string
    /** A part holds text or bytes, never both. */
    readonly blob?: undefined
    /** Further data about this part. */
    readonly _meta?: JsonObject | undefined
  }
  | {
    /** URI of this part. */
    readonly uri?: string | undefined
    /** MIME type. Default: that of the resource. */
    readonly mimeType?: string | undefined
    /** The bytes. */
    readonly blob: Bytes
    /** A part holds text or bytes, never both. */
    readonly text?: undefined
    /** Further data about this part. */
    readonly _meta?: JsonObject | undefined
  }

/** The full result of reading a resource. Source: 2026-07-28 schema (ReadResourceResult). */
export interface ReadResourceResult extends CacheOptions {
  /** What the resource holds, of a directory each file. */
  readonly contents: readonly ResourcePart[]
  /** Further data about the result. */
  readonly _meta?: JsonObject | undefined
}

/**
 * What `read` answers with: text; bytes; a stream of Node or of the web, which is read to its end, up to `limits.resource`, and is text where
 * the MIME type is one of text, or where it gives strings; an object, which becomes JSON; parts; or a full result.
 * `undefined` and `null`: there is no such resource.
 */
export type ResourceReturn =
  | string | Uint8Array | Readable | AsyncIterable<Uint8Array | string> | readonly ResourcePart[] | ReadResourceResult | InputRequiredResult | undefined | null
  | ((JsonObject | object) & { readonly then?: undefined, readonly [Symbol.iterator]?: undefined })

/** A resource with a URI of its own. */
export interface ResourceDefinition extends ResourceOptions {
  /** The URI (RFC 3986). */
  readonly uri: string
  /** None. */
  readonly uriTemplate?: undefined
  /** Size in bytes before any encoding, if known. */
  readonly size?: number | undefined
  /**
   * Reads it.
   *
   * `this` is the Fastify instance that added the resource (`ctx.app` in an arrow function). Throw `McpError` for a protocol error.
   * Whatever else is thrown is logged in full, and the client is told only an error id (-32603).
   */
  read (this: FastifyInstance, variables: Record<string, never>, ctx: Context): ResourceReturn | Promise<ResourceReturn>
}

/** A resource of a template as a list shows it: by its URI, or by the variables that the template makes one of. */
export type ListedResource<V> = Partial<Omit<ResourceInfo, 'name'>> & {
  /** Name for programs. */
  readonly name: string
  /** Size in bytes before any encoding, if known. */
  readonly size?: number | undefined
} & (
  | {
    /** The URI. */
    readonly uri: string
    /** It has a URI already. */
    readonly variables?: undefined
  }
  | {
    /** What the template is filled in with, so that the URI is encoded as it must be. */
    readonly variables: V
    /** Made of the variables. */
    readonly uri?: undefined
  }
)

/** Resources whose URIs are made by a template. */
export interface ResourceTemplateDefinition<T extends string = string, V extends Schema = JsonSchema> extends ResourceOptions {
  /**
   * The template (RFC 6570, all four levels but for prefixes such as `{a:3}`). What stands between two variables is taken as late as possible.
   * `{?a,b}`, `{&a,b}` and `{;a,b}` end a template; their variables may be missing and stand in any order.
   */
  readonly uriTemplate: T
  /** None. */
  readonly uri?: undefined
  /** What the variables may be: an object whose members are strings (arrays of strings for `{a*}`). A URI whose variables do not fit is none of this template. */
  readonly variables?: V | undefined
  /** Suggestions for variables, by their name. */
  readonly complete?: { readonly [N in keyof Variables<T, V>]?: Completer | undefined } | undefined
  /**
   * Those of its resources that `resources/list` shows. Default: none. It may depend on the caller, so clients are told to keep such lists
   * private. What it throws fails the list.
   */
  list? (this: FastifyInstance, ctx: Context): Listed<NoInfer<T>, NoInfer<V>> | Promise<Listed<NoInfer<T>, NoInfer<V>>>
  /**
   * Reads one of its resources.
   *
   * The variables are decoded, once. Those of `{a}`, `{.a}` and `{/a}` never hold `/`, `\` or NUL and are never empty, `.` or `..`. Those of
   * `{+a}`, `{#a}` and `{?a}` may: **`../` in them is for this function to refuse** before it opens a file.
   *
   * `this` is the Fastify instance that added the template (`ctx.app` in an arrow function). Throw `McpError` for a protocol error.
   * Whatever else is thrown is logged in full, and the client is told only an error id (-32603).
   */
  read (this: FastifyInstance, variables: Variables<T, V>, ctx: Context): ResourceReturn | Promise<ResourceReturn>
}

type Listed<T extends string, V> = readonly ListedResource<Variables<T, V>>[]

/** The variables of a template: typed by a TypeBox schema, else by the template itself. */
export type Variables<T extends string, V = undefined> = V extends TypeBoxSchema
  ? unknown extends Static<V> ? TemplateVariables<T> : Static<V>
  : TemplateVariables<T>

/** The variables that stand in a template. Those of `{;a}`, `{?a}` and `{&a}` may be missing; those with `*` are arrays. */
export type TemplateVariables<T extends string> = string extends T
  ? { [name: string]: string | string[] | undefined }
  : Merge<{ [S in Spec<Needed<Expression<T>>> as Name<S>]: Value<S> } & { [S in List<Named<Expression<T>>> as Name<S>]: string[] } & { [S in Single<Named<Expression<T>>>]?: string | undefined }>

type Merge<T> = { [N in keyof T]: T[N] }
type Expression<T extends string> = T extends `${string}{${infer E}}${infer Rest}` ? E | Expression<Rest> : never
type Needed<E extends string> = E extends `${'?' | '&' | ';'}${string}` ? never : E extends `${'+' | '#' | '.' | '/'}${infer Specs}` ? Specs : E
type Named<E extends string> = E extends `${'?' | '&' | ';'}${infer Specs}` ? Spec<Specs> : never
type Spec<E extends string> = E extends `${infer One},${infer Rest}` ? One | Spec<Rest> : E
type List<S extends string> = S extends `${string}*` ? S : never
type Single<S extends string> = S extends `${string}*` ? never : S
type Name<S extends string> = S extends `${infer N}*` ? N : S
type Value<S extends string> = S extends `${string}*` ? string[] : string

declare const useDefineResource: unique symbol

/** A resource or a template made by `defineResource`. Add it with the option `resources` or with `app.mcp.resources.add`. */
export interface Resource extends ResourceOptions {
  /** The URI of a resource. */
  readonly uri?: string | undefined
  /** The template of resources. */
  readonly uriTemplate?: string | undefined
  /** Size in bytes before any encoding, if known. */
  readonly size?: number | undefined
  /** What the variables may be. */
  readonly variables?: Schema | undefined
  /** Suggestions for variables. */
  readonly complete?: { readonly [name: string]: Completer | undefined } | undefined
  /** Those of its resources that a list shows. */
  list? (this: FastifyInstance, ctx: Context): unknown
  /** Reads it. Nothing is checked here. */
  read (this: FastifyInstance, variables: unknown, ctx: Context): unknown
  /** Set by `defineResource` only, so that every resource has been typed by it. Not there at run time. */
  readonly [useDefineResource]: true
}

/** Types a resource, so that it can live in a file of its own. Nothing is checked before it is added. */
export function defineResource (definition: ResourceDefinition): Resource
/** Types a template of resources, so that it can live in a file of its own. Nothing is checked before it is added. */
export function defineResource<const T extends string, V extends Schema = JsonSchema> (definition: ResourceTemplateDefinition<T, V>): Resource

// Keeps what is not exported above from being exported all the same, as a declaration file does by default.
export {}
