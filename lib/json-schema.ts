import { fullFormats } from 'ajv-formats/dist/formats.js'
import { isObject } from './jsonrpc.js'
import { checkRefs, movedTo } from './schema-refs.js'
import type { Ref, Resource } from './schema-refs.js'

// Reads an author's JSON Schema once, when it is added: a plain copy (no symbols, no undefined), tuples of TypeBox as prefixItems, shared schemas of the
// app bundled into $defs, and a clear sentence about what is wrong. Ajv would say the same, at 4 ms a schema; this is why compiling can wait for the first call.

export type JsonSchema = Record<string, unknown>
export interface Prepared {
  schema: JsonSchema
  /** What is usually misspelt: keywords that no dialect knows and that do not begin with `x-`, and formats that nobody checks. */
  strange: string[]
  /** It names itself or a part of itself, so it must not share a validator instance with others. */
  named: boolean
  /** Some of it came from the schemas that the app shares. */
  shared: boolean
}

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const DIALECTS = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft-07)\/schema#?$/
const MAX_DEPTH = 100
const NEARLY = /^x-(?=.{7})(?!sensitive$)s?e?n?s?[aei]?t?i?v?e?$/ // x-sensitive without a letter, or with another vowel
/** Those of JSON Schema and OpenAPI that ajv-formats checks. */
const FORMATS = Object.keys(fullFormats)

type Kind = 'schema' | 'map' | 'list' | 'items' | 'type' | 'number' | 'positive' | 'count' | 'pattern' | 'names' | 'dependencies' | 'array' | 'string' | 'anchor' | 'boolean' | 'object' | 'any'

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
  string: 'title description $comment format contentEncoding contentMediaType $schema $id $ref $dynamicRef',
  anchor: '$anchor $dynamicAnchor',
  boolean: 'deprecated readOnly writeOnly uniqueItems nullable x-sensitive',
  dependencies: 'dependencies',
  object: '$vocabulary dependentRequired discriminator externalDocs xml',
  any: 'const default enumNames example'
}
const KEYWORDS = new Map(Object.entries(BY_KIND).flatMap(([kind, words]) => words.split(' ').map(word => [word, kind as Kind] as const)))

const SIMPLE: Partial<Record<Kind, [(value: unknown) => boolean, string]>> = {
  number: [value => Number.isFinite(value), 'a number'],
  positive: [value => Number.isFinite(value) && Number(value) > 0, 'a number above 0'],
  count: [value => Number.isInteger(value) && Number(value) >= 0, 'an integer of 0 or more'],
  names: [value => Array.isArray(value) && value.every(name => typeof name === 'string') && new Set(value).size === value.length, 'an array of strings, none of them twice'],
  array: [value => Array.isArray(value) && value.length > 0, 'an array of at least one value'],
  string: [value => typeof value === 'string', 'a string'],
  anchor: [value => typeof value === 'string' && /^[A-Za-z_][-\w.]*$/.test(value), 'a name of letters, digits, -, _ and .'],
  boolean: [value => typeof value === 'boolean', 'true or false'],
  object: [isObject, 'an object'],
  any: [() => true, ''],
  type: [value => [value].flat().length > 0 && [value].flat().every(one => TYPES.has(one as string)), `one of ${[...TYPES].join(', ')}`]
}

class Reader {
  readonly strange: string[] = []
  readonly ids = new Map<string, Resource>()
  readonly bundled = new Map<string, string>()
  private readonly defs: JsonSchema = {}
  private readonly refs: Ref[] = []
  private readonly draft07: boolean
  private readonly shared: (id: string) => unknown
  private resource: Resource | undefined
  private last: JsonSchema | undefined
  /** Where in the whole the schema that is being brought in will stand. */
  private base = ''

  constructor (draft07: boolean, shared: (id: string) => unknown) {
    this.draft07 = draft07
    this.shared = shared
  }

  read (value: unknown, at: string, depth = 0): unknown {
    if (typeof value === 'boolean') return value
    if (!isObject(value)) throw new Error(`${at || '/'} must be a schema (an object or a boolean), got ${preview(value)}`)
    if ('~standard' in value) throw new Error(`${at || '/'} is a schema of another library; convert it to JSON Schema first, as z.toJSONSchema() does for Zod`)
    if (depth > MAX_DEPTH) throw new Error(`${at} is nested deeper than ${MAX_DEPTH} levels; does it contain itself?`)
    if ('$async' in value) throw new Error(`${at || '/'} uses $async, which JSON Schema does not have`)
    if (value.nullable !== undefined && value.type === undefined) throw new Error(`${at}/nullable needs a type beside it`)
    const out: JsonSchema = {}
    const outer = this.resource
    if (outer === undefined || value.$id !== undefined) this.resource = { root: out, anchors: new Map() }
    for (const [name, member] of Object.entries(value)) if (member !== undefined) out[name] = this.member(name, member, `${at}/${name}`, depth)
    if (!this.draft07) tupleTo2020(out)
    this.last = out
    this.note(out, at)
    this.resource = outer ?? this.resource
    return out
  }

  /** Remembers what names the schema, and what it refers to. */
  private note ({ $id, $anchor, $dynamicAnchor, $ref, $dynamicRef }: JsonSchema, at: string): void {
    const within = this.resource as Resource
    if (typeof $id === 'string') {
      if ($id === '' || $id.includes('#') || !URL.canParse($id, 'schema:/')) throw new Error(`${at}/$id must be a URI without a fragment, got ${preview($id)}`)
      if (this.ids.has($id)) throw new Error(`${at}/$id ${preview($id)} is there twice`)
      this.ids.set($id, within)
    }
    const holder = this.last as JsonSchema
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor !== 'string') continue
      if ((within.anchors.get(anchor) ?? holder) !== holder) throw new Error(`${at || '/'} has the anchor ${preview(anchor)}, which is there already`)
      within.anchors.set(anchor, holder)
    }
    if (typeof $dynamicRef === 'string' && !$dynamicRef.startsWith('#')) throw new Error(`${at}/$dynamicRef must begin with #, got ${preview($dynamicRef)}`)
    const noted = (word: Ref['word']) => this.refs.push({ holder, word, at: `${at}/${word}`, within, base: this.base })
    if ($ref !== undefined) noted('$ref')
    if ($dynamicRef !== undefined) noted('$dynamicRef')
  }

  private member (name: string, value: unknown, at: string, depth: number): unknown {
    const kind = KEYWORDS.get(name)
    if (kind === undefined) {
      if (!name.startsWith('x-') || NEARLY.test(name)) this.strange.push(`${at} is not a JSON Schema keyword (your own begin with x-)`)
      return nameless(plain(value, at), at)
    }
    const simple = SIMPLE[kind]
    if (simple) {
      if (!simple[0](value)) throw new Error(`${at} must be ${simple[1]}, got ${preview(value)}`)
      if (name === 'format' && !FORMATS.includes(String(value))) this.strange.push(`${at} ${preview(value)} is none of the formats that are checked: ${FORMATS.join(', ')}`)
      return plain(value, at)
    }
    if (kind === 'pattern') return pattern(value, at)
    if (kind === 'map' || kind === 'dependencies') return this.map(name, value, at, depth)
    if (kind === 'list' || (kind === 'items' && Array.isArray(value))) return this.list(value, at, depth)
    return this.read(value, at, depth + 1)
  }

  private map (name: string, value: unknown, at: string, depth: number): JsonSchema {
    if (!isObject(value)) throw new Error(`${at} must be an object of schemas, got ${preview(value)}`)
    if (name === 'patternProperties') for (const key of Object.keys(value)) pattern(key, `${at}/${key}`)
    return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, name === 'dependencies' && Array.isArray(schema) ? this.member('required', schema, `${at}/${key}`, depth) : this.read(schema, `${at}/${key}`, depth + 1)]))
  }

  private list (value: unknown, at: string, depth: number): unknown[] {
    if (!Array.isArray(value) || value.length === 0) throw new Error(`${at} must be an array of schemas, at least one, got ${preview(value)}`)
    return value.map((schema, i) => this.read(schema, `${at}/${i}`, depth + 1))
  }

  /** Every $ref must lead to a schema inside; those the app shares are brought in. Nothing is ever fetched (2026-07-28 basic/index, `$ref` Resolution). */
  resolve (root: JsonSchema): void {
    const own = isObject(root.$defs) ? root.$defs : {}
    const local: Ref[] = []
    for (let ref = this.refs.shift(); ref !== undefined; ref = this.refs.shift()) {
      const { holder, word, base } = ref
      const target = String(holder[word])
      const [id = '', fragment = ''] = target.split('#', 2)
      const named = this.ids.get(id)
      if (id === '') {
        holder[word] = movedTo(ref.within === this.resource ? base : '', target) // inside of a name `#` is what has that name
        local.push(ref)
      } else if (named !== undefined) {
        local.push({ ...ref, within: named })
      } else {
        if (ref.within !== this.resource) throw new Error(`${ref.at} "${id}" stands in a schema with an $id, where the app's addSchema() schemas are not; it is never fetched`)
        const at = this.bundle(id, ref.at, own)
        holder[word] = fragment === '' || fragment.startsWith('/') ? `#${at}${fragment}` : `#${fragment}`
        local.push({ ...ref, within: this.resource as Resource })
      }
    }
    if (Object.keys(this.defs).length > 0) root.$defs = { ...own, ...this.defs }
    checkRefs(local)
  }

  /** The place of a schema that the app shares. */
  private bundle (id: string, at: string, taken: JsonSchema): string {
    const before = this.bundled.get(id)
    if (before !== undefined) return before
    const shared = this.shared(id)
    if (!isObject(shared)) throw new Error(`${at} "${id}" is not in this schema and not among the app's addSchema() schemas; it is never fetched`)
    let name = id.replace(/[^\w.-]/g, '_')
    while (Object.hasOwn(taken, name) || Object.hasOwn(this.defs, name)) name += '_'
    const place = `/$defs/${name}`
    this.bundled.set(id, place) // a shared schema may refer to itself
    this.defs[name] = {}
    const { $id, ...rest } = shared
    this.base = place
    this.defs[name] = this.read(rest, place)
    this.base = ''
    return place
  }
}

/** @throws Error whose message begins with the path inside the schema and says what belongs there */
export function prepareSchema (source: unknown, shared: (id: string) => unknown = () => undefined): Prepared {
  if (!isObject(source)) throw new Error(`it must be an object, got ${preview(source)}`)
  const dialect = source.$schema
  if (dialect !== undefined && !(typeof dialect === 'string' && DIALECTS.test(dialect))) {
    throw new Error(`/$schema must be the URI of JSON Schema 2020-12 or draft-07, got ${preview(dialect)}`)
  }
  const reader = new Reader(isDraft07(source), shared)
  const schema = reader.read(source, '') as JsonSchema
  reader.resolve(schema)
  return { schema, strange: reader.strange, named: reader.ids.size > 0, shared: reader.bundled.size > 0 }
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

function plain (value: unknown, at: string): unknown {
  if (typeof value === 'bigint') throw new Error(`${at} holds a bigint, which JSON cannot carry`)
  if (typeof value !== 'object' || value === null) return value
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    throw new Error(`${at} holds what JSON cannot carry`)
  }
}

/** Ajv looks for names of schemas in what it does not know, too. */
function nameless (value: unknown, at: string): unknown {
  const name = typeof value === 'object' ? /"\$(id|anchor|dynamicAnchor)":/.exec(JSON.stringify(value)) : null
  if (name !== null) throw new Error(`${at} holds $${name[1]}; schemas are named where JSON Schema has schemas`)
  return value
}

export function preview (value: unknown): string {
  if (typeof value === 'number') return String(value) // JSON has no Infinity
  let text: string = typeof value
  try { text = JSON.stringify(value) ?? String(value) } catch {}
  return text.length > 60 ? text.slice(0, 57) + '…' : text
}
