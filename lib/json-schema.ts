import { isObject } from './jsonrpc.js'

// Reads an author's JSON Schema once, when it is added: a plain copy (no symbols, no undefined), tuples of TypeBox as prefixItems, shared schemas of the
// app bundled into $defs, and a clear sentence about what is wrong. Ajv would say the same, at 4 ms a schema; this is why compiling can wait for the first call.

export type JsonSchema = Record<string, unknown>
export interface Prepared {
  schema: JsonSchema
  /** Keywords that no dialect knows and that do not begin with `x-`: usually misspelt. */
  unknown: string[]
  /** It names itself or a part of itself, so it must not share a validator instance with others. */
  named: boolean
}

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const DIALECTS = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft-07)\/schema#?$/
const MAX_DEPTH = 100

type Kind = 'schema' | 'map' | 'list' | 'items' | 'type' | 'number' | 'positive' | 'count' | 'pattern' | 'names' | 'array' | 'string' | 'boolean' | 'object' | 'any'

/** The keywords of both dialects, and those of TypeBox and OpenAPI that validate nothing, by what their value is. */
const BY_KIND: Record<Kind, string> = {
  schema: 'additionalProperties propertyNames unevaluatedProperties additionalItems contains unevaluatedItems not if then else contentSchema',
  map: 'properties patternProperties $defs definitions dependentSchemas',
  list: 'allOf anyOf oneOf prefixItems',
  items: 'items',
  type: 'type',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum',
  positive: 'multipleOf',
  count: 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties',
  pattern: 'pattern',
  names: 'required',
  array: 'enum examples',
  string: 'title description $comment format contentEncoding contentMediaType $schema $id $anchor $ref $dynamicRef $dynamicAnchor',
  boolean: 'deprecated readOnly writeOnly uniqueItems nullable',
  object: '$vocabulary dependentRequired dependencies discriminator externalDocs xml',
  any: 'const default enumNames example'
}
const KEYWORDS = new Map(Object.entries(BY_KIND).flatMap(([kind, words]) => words.split(' ').map(word => [word, kind as Kind] as const)))

const SIMPLE: Partial<Record<Kind, [(value: unknown) => boolean, string]>> = {
  number: [value => Number.isFinite(value), 'a number'],
  positive: [value => Number.isFinite(value) && Number(value) > 0, 'a number above 0'],
  count: [value => Number.isInteger(value) && Number(value) >= 0, 'an integer of 0 or more'],
  names: [value => Array.isArray(value) && value.every(name => typeof name === 'string'), 'an array of strings'],
  array: [Array.isArray, 'an array'],
  string: [value => typeof value === 'string', 'a string'],
  boolean: [value => typeof value === 'boolean', 'true or false'],
  object: [isObject, 'an object'],
  any: [() => true, ''],
  type: [value => [value].flat().every(one => TYPES.has(one as string)), `one of ${[...TYPES].join(', ')}`]
}

class Reader {
  readonly unknown: string[] = []
  readonly ids = new Set<string>()
  readonly bundled = new Map<string, JsonSchema>()
  readonly refs: { holder: JsonSchema, at: string }[] = []
  readonly draft07: boolean
  readonly shared: (id: string) => unknown

  constructor (draft07: boolean, shared: (id: string) => unknown) {
    this.draft07 = draft07
    this.shared = shared
  }

  read (value: unknown, at: string, depth = 0): unknown {
    if (typeof value === 'boolean') return value
    if (!isObject(value)) throw new Error(`${at || '/'} must be a schema (an object or a boolean), got ${preview(value)}`)
    if (depth > MAX_DEPTH) throw new Error(`${at} is nested deeper than ${MAX_DEPTH} levels; does it contain itself?`)
    if ('$async' in value) throw new Error(`${at || '/'} uses $async, which JSON Schema does not have`)
    const out: JsonSchema = {}
    for (const [name, member] of Object.entries(value)) {
      if (member !== undefined) out[name] = this.member(name, member, `${at}/${name}`, depth)
    }
    if (!this.draft07) tupleTo2020(out)
    if (typeof out.$id === 'string') this.ids.add(out.$id)
    if (typeof out.$ref === 'string') this.refs.push({ holder: out, at })
    return out
  }

  private member (name: string, value: unknown, at: string, depth: number): unknown {
    const kind = KEYWORDS.get(name)
    if (kind === undefined) {
      if (!name.startsWith('x-')) this.unknown.push(at)
      return plain(value)
    }
    const simple = SIMPLE[kind]
    if (simple) {
      if (!simple[0](value)) throw new Error(`${at} must be ${simple[1]}, got ${preview(value)}`)
      return plain(value)
    }
    if (kind === 'pattern') return pattern(value, at)
    if (kind === 'map') return this.map(value, at, depth)
    if (kind === 'list' || (kind === 'items' && Array.isArray(value))) return this.list(value, at, depth)
    return this.read(value, at, depth + 1)
  }

  private map (value: unknown, at: string, depth: number): JsonSchema {
    if (!isObject(value)) throw new Error(`${at} must be an object of schemas, got ${preview(value)}`)
    return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, this.read(schema, `${at}/${key}`, depth + 1)]))
  }

  private list (value: unknown, at: string, depth: number): unknown[] {
    if (!Array.isArray(value)) throw new Error(`${at} must be an array of schemas, got ${preview(value)}`)
    return value.map((schema, i) => this.read(schema, `${at}/${i}`, depth + 1))
  }

  /** Every $ref must lead somewhere inside; schemas the app shares are brought in. Nothing is ever fetched (2026-07-28 basic/index, `$ref` Resolution). */
  resolve (root: JsonSchema): void {
    for (let ref = this.refs.shift(); ref !== undefined; ref = this.refs.shift()) {
      const { holder, at } = ref
      const target = String(holder.$ref)
      const [id = '', fragment = ''] = target.split('#', 2)
      if (id === '') {
        if (this.ids.size === 0 && !leads(root, fragment)) throw new Error(`${at}/$ref "${target}" leads nowhere in this schema`)
      } else if (!this.ids.has(id)) {
        holder.$ref = `#/$defs/${this.bundle(id, `${at}/$ref`)}${fragment}`
      }
    }
    if (this.bundled.size > 0) root.$defs = { ...root.$defs as JsonSchema | undefined, ...Object.fromEntries(this.bundled) }
  }

  private bundle (id: string, at: string): string {
    const name = id.replace(/[^\w.-]/g, '_')
    if (!this.bundled.has(name)) {
      const shared = this.shared(id)
      if (!isObject(shared)) throw new Error(`${at} "${id}" is not in this schema and not among the app's addSchema() schemas; it is never fetched`)
      const { $id, ...rest } = shared
      this.bundled.set(name, {}) // a shared schema may refer to itself
      this.bundled.set(name, this.read(rest, `/$defs/${name}`) as JsonSchema)
    }
    return name
  }
}

/** @throws Error whose message names the path inside the schema and what belongs there. */
export function prepareSchema (source: unknown, shared: (id: string) => unknown = () => undefined): Prepared {
  if (!isObject(source)) throw new Error(`it must be an object, got ${preview(source)}`)
  const dialect = source.$schema
  if (dialect !== undefined && !(typeof dialect === 'string' && DIALECTS.test(dialect))) {
    throw new Error(`/$schema must be the URI of JSON Schema 2020-12 or draft-07, got ${preview(dialect)}`)
  }
  const reader = new Reader(isDraft07(source), shared)
  const schema = reader.read(source, '') as JsonSchema
  reader.resolve(schema)
  return { schema, unknown: reader.unknown, named: reader.ids.size > 0 }
}

export const isDraft07 = (schema: JsonSchema): boolean => typeof schema.$schema === 'string' && schema.$schema.includes('draft-07')

/** TypeBox writes tuples the draft-07 way. */
function tupleTo2020 (schema: JsonSchema): void {
  if (!Array.isArray(schema.items)) return
  schema.prefixItems = schema.items
  if (schema.additionalItems === undefined) delete schema.items
  else schema.items = schema.additionalItems
  delete schema.additionalItems
}

function pattern (value: unknown, at: string): string {
  if (typeof value !== 'string') throw new Error(`${at} must be a string, got ${preview(value)}`)
  try {
    RegExp(value, 'u')
  } catch (error) {
    throw new Error(`${at} is not a regular expression: ${(error as Error).message}`)
  }
  return value
}

function leads (root: JsonSchema, fragment: string): boolean {
  if (fragment === '') return true
  if (!fragment.startsWith('/')) return JSON.stringify(root).includes(`nchor":${JSON.stringify(fragment)}`)
  let at: unknown = root
  for (const step of fragment.slice(1).split('/')) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false
    at = (at as Record<string, unknown>)[key]
  }
  return true
}

const plain = (value: unknown): unknown => typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value

function preview (value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? text.slice(0, 57) + '…' : text
}
