/**
 * A TypeBox schema, known by its shape. The package's own `TSchema` is keyed by symbols that differ between its
 * ESM and its CommonJS types, so a schema made in a CommonJS file would not be one.
 */
export interface TypeBoxSchema {
  /** What the type is worked out with (types only, no such property at run time). */
  params: unknown[]
  /** The type of a value (types only, no such property at run time). */
  static: unknown
}

/**
 * A plain JSON Schema object, 2020-12, or draft-07 where `$schema` says so.
 * Source: 2026-07-28 basic (JSON Schema Usage); json-schema.org, draft 2020-12.
 */
export interface JsonSchema {
  /** The dialect. Default: 2020-12. */
  readonly $schema?: string | undefined
  /** The name of this schema. */
  readonly $id?: string | undefined
  /** A schema elsewhere in this one, or one added to the app with `addSchema`. Nothing is fetched. */
  readonly $ref?: string | undefined
  /** A name for `$ref`. */
  readonly $anchor?: string | undefined
  /** A schema found by the way that led here. */
  readonly $dynamicRef?: string | undefined
  /** A name for `$dynamicRef`. */
  readonly $dynamicAnchor?: string | undefined
  /** Schemas for `$ref`. */
  readonly $defs?: object | undefined
  /** Schemas for `$ref`, as draft-07 calls them. */
  readonly definitions?: object | undefined
  /** A note to readers of the schema. */
  readonly $comment?: string | undefined
  /** The vocabularies of a dialect. */
  readonly $vocabulary?: object | undefined
  /** The name of a type, or several. An `inputSchema` is always `object`. */
  readonly type?: string | readonly string[] | undefined
  /** The values allowed. */
  readonly enum?: readonly unknown[] | undefined
  /** The one value allowed. */
  readonly const?: unknown
  /** Name for people. */
  readonly title?: string | undefined
  /** What the value is, for the model. */
  readonly description?: string | undefined
  /** The value where none is given. Filled in for an `inputSchema`. */
  readonly default?: unknown
  /** Samples. */
  readonly examples?: unknown
  /** On its way out of use. */
  readonly deprecated?: boolean | undefined
  /** Only read. */
  readonly readOnly?: boolean | undefined
  /** Only written. */
  readonly writeOnly?: boolean | undefined
  /** Members by name. */
  readonly properties?: object | undefined
  /** Members by pattern of their name. */
  readonly patternProperties?: object | undefined
  /** All other members. */
  readonly additionalProperties?: unknown
  /** Members that no other keyword has looked at. */
  readonly unevaluatedProperties?: unknown
  /** The names of members. */
  readonly propertyNames?: unknown
  /** Members that must be there. */
  readonly required?: readonly string[] | undefined
  /** Members that must be there if another is. */
  readonly dependentRequired?: object | undefined
  /** Schemas that hold if a member is there. */
  readonly dependentSchemas?: object | undefined
  /** Both of the two before, as draft-07 calls them. */
  readonly dependencies?: object | undefined
  /** The least number of members. */
  readonly minProperties?: number | undefined
  /** The greatest number of members. */
  readonly maxProperties?: number | undefined
  /** Elements. */
  readonly items?: unknown
  /** The first elements, one by one. */
  readonly prefixItems?: readonly unknown[] | undefined
  /** Elements after the first ones, as draft-07 calls them. */
  readonly additionalItems?: unknown
  /** Elements that no other keyword has looked at. */
  readonly unevaluatedItems?: unknown
  /** Some element must be like this. */
  readonly contains?: unknown
  /** The least number of elements like `contains`. */
  readonly minContains?: number | undefined
  /** The greatest number of elements like `contains`. */
  readonly maxContains?: number | undefined
  /** The least number of elements. */
  readonly minItems?: number | undefined
  /** The greatest number of elements. */
  readonly maxItems?: number | undefined
  /** No element twice. */
  readonly uniqueItems?: boolean | undefined
  /** The least length in characters. */
  readonly minLength?: number | undefined
  /** The greatest length in characters. */
  readonly maxLength?: number | undefined
  /** A regular expression (ECMA-262). */
  readonly pattern?: string | undefined
  /** A named format, such as `date-time`. */
  readonly format?: string | undefined
  /** How bytes are written in the string, such as `base64`. */
  readonly contentEncoding?: string | undefined
  /** MIME type of what is in the string. */
  readonly contentMediaType?: string | undefined
  /** The shape of what is in the string. */
  readonly contentSchema?: unknown
  /** The least number. */
  readonly minimum?: number | undefined
  /** The greatest number. */
  readonly maximum?: number | undefined
  /** More than this number. */
  readonly exclusiveMinimum?: number | undefined
  /** Less than this number. */
  readonly exclusiveMaximum?: number | undefined
  /** A multiple of this number. */
  readonly multipleOf?: number | undefined
  /** All of these hold. */
  readonly allOf?: readonly unknown[] | undefined
  /** One or more of these hold. */
  readonly anyOf?: readonly unknown[] | undefined
  /** Exactly one of these holds. */
  readonly oneOf?: readonly unknown[] | undefined
  /** This does not hold. */
  readonly not?: unknown
  /** Chooses between `then` and `else`. */
  readonly if?: unknown
  /** Holds where `if` does. */
  readonly then?: unknown
  /** Holds where `if` does not. */
  readonly else?: unknown
  /** Never there: a schema object of another library is no JSON Schema. Convert it first. */
  readonly '~standard'?: undefined
}

/** The schema of a tool: TypeBox, which types the handler too, or plain JSON Schema. */
export type Schema = TypeBoxSchema | JsonSchema

/** The type of a value of a TypeBox schema: TypeBox's own `Static`. */
export type Static<S extends TypeBoxSchema> = (S & { params: [] })['static']

/** The arguments of a handler: typed by a TypeBox `inputSchema`, else any object. */
export type Args<S> = S extends TypeBoxSchema
  ? unknown extends Static<S> ? Record<string, unknown> : Static<S>
  : Record<string, unknown>

/** Refuses a TypeBox schema whose values are not `Wanted`, in the words of `Why`; lets every other schema through. */
export type Only<S, Wanted, Why extends string> = S extends TypeBoxSchema
  ? unknown extends Static<S> ? unknown : [Static<S>] extends [Wanted] ? unknown : Why
  : unknown

/** A `Schema` of named arguments. */
export type OnlyObject<S> = Only<S, { readonly [name: string]: unknown }, 'arguments are named: the schema must be an object'>
/** A `Schema` of strings by name. */
export type OnlyStrings<S> = Only<S, { readonly [name: string]: string | undefined }, 'arguments of a prompt are strings'>
/** A `Schema` of what a form can hold. */
export type OnlyFields<S> = Only<S, { readonly [name: string]: string | number | boolean | readonly string[] | undefined }, 'a form is flat: strings, numbers, booleans, enumerations'>

/** What a handler may return as its value: typed by a TypeBox `outputSchema`, else anything that can be written as JSON. */
export type Output<S> = S extends TypeBoxSchema
  ? unknown extends Static<S> ? JsonLike : ReadonlyDeep<Static<S>>
  : JsonLike

/** A value that can be written as JSON: what `JSON.stringify` makes of an object is up to the object. A promise is none. */
export type JsonLike = string | number | boolean | null | (object & { readonly then?: undefined })

/** `T` with every array in it also accepted as readonly, which is how TypeScript infers a constant. */
export type ReadonlyDeep<T> = T extends Date | Uint8Array | ((...args: never[]) => unknown)
  ? T
  : unknown extends T ? T : { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
