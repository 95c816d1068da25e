import { isObject } from './jsonrpc.js'
import type { JsonSchema } from './json-schema.js'

// Where the references of a JSON Schema lead. One that leads nowhere, or back to itself before any of the value is read, would be found by the first call only.

/** A schema with a name of its own, or the whole: what `#` means inside it. */
export interface Resource { root: JsonSchema, anchors: Map<string, JsonSchema> }
export interface Ref { holder: JsonSchema, word: '$ref' | '$dynamicRef', at: string, within: Resource, base: string }

/** Keywords whose schemas judge the same value as the schema that they stand in. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']
const SAME_VALUE_MAPS = ['dependentSchemas', 'dependencies']

/** @throws Error that names the reference, and what is wrong with it */
export function checkRefs (refs: Ref[]): void {
  const leads = new Map<JsonSchema, Array<[Ref, JsonSchema]>>()
  for (const ref of refs) {
    const found = targetOf(ref)
    if (found === undefined) throw new Error(`${ref.at} "${ref.holder[ref.word]}" leads to no schema in here`)
    // Ajv finds no anchor of the whole itself, but knows what `#` is.
    if (ref.word === '$ref' && found === ref.within.root) ref.holder.$ref = String(ref.holder.$ref).replace(/#.*/, '#')
    if (isObject(found)) leads.set(ref.holder, [...leads.get(ref.holder) ?? [], [ref, found]])
  }
  const over = new Set<JsonSchema>()
  for (const holder of leads.keys()) walk(holder, leads, over, new Set())
}

function walk (schema: JsonSchema, leads: Map<JsonSchema, Array<[Ref, JsonSchema]>>, over: Set<JsonSchema>, open: Set<JsonSchema>): void {
  if (over.has(schema)) return
  open.add(schema)
  for (const part of sameValue(schema)) walk(part, leads, over, open)
  for (const [{ at, word, holder }, target] of leads.get(schema) ?? []) {
    if (open.has(target)) throw new Error(`${at} "${holder[word]}" leads back to itself before any of the value is read, so it could never be decided`)
    walk(target, leads, over, open)
  }
  open.delete(schema)
  over.add(schema)
}

/** A reference of a schema that stands at this place of the whole now. One of no characters is one to the whole as well (RFC 3986 section 4.4), but Ajv knows `#` alone. */
export function movedTo (place: string, target: string): string {
  const fragment = target.slice(1)
  return target === '' || (place !== '' && (fragment === '' || fragment.startsWith('/'))) ? `#${place}${fragment}` : target
}

/** The parts of a schema that judge the same value as it does. */
export function sameValue (schema: JsonSchema): JsonSchema[] {
  const maps = SAME_VALUE_MAPS.map(word => schema[word]).filter(isObject)
  return [...SAME_VALUE.flatMap(word => schema[word]), ...maps.flatMap(Object.values)].filter(isObject)
}

function targetOf ({ holder, word, within }: Ref): unknown {
  const target = String(holder[word])
  const fragment = target.slice(target.indexOf('#') + 1)
  if (!target.includes('#') || fragment === '') return within.root
  if (!fragment.startsWith('/')) return within.anchors.get(fragment)
  const found = pointed(within.root, fragment)
  return isObject(found) || typeof found === 'boolean' ? found : undefined
}

/** What a JSON Pointer (RFC 6901) leads to. */
export function pointed (root: JsonSchema, pointer: string): unknown {
  let at: unknown = root
  for (const step of pointer.slice(1).split('/')) {
    let key
    try { key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~') } catch { return undefined }
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}

interface Part { root: JsonSchema, base: string, anchors: Map<string, JsonSchema[]> }

/** Where the references of a schema lead, for whom it is worse to miss a place than to see one too many: what could mean two places means both. */
export class Leads {
  private readonly parts = new Map<JsonSchema, Part>()
  private readonly named = new Map<string, JsonSchema[]>()
  private readonly dynamic = new Map<string, JsonSchema[]>()

  constructor (root: JsonSchema) { this.note(root, { root, base: BASE, anchors: new Map() }) }

  private note (part: unknown, around: Part): void {
    if (typeof part !== 'object' || part === null) return
    const schema = part as JsonSchema
    const { $id, $anchor, $dynamicAnchor } = schema
    const within = typeof $id === 'string' ? { root: schema, base: resolved($id, around.base), anchors: new Map() } : around
    this.parts.set(schema, within)
    if (typeof $id === 'string') for (const name of new Set([$id, within.base])) put(this.named, name, schema)
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') put(within.anchors, anchor, schema)
    if (typeof $dynamicAnchor === 'string') put(this.dynamic, $dynamicAnchor, schema)
    for (const member of Object.values(schema)) this.note(member, within)
  }

  /** What the references of a schema lead to; undefined among it where one leads nowhere that is known. */
  of (schema: JsonSchema): unknown[] {
    const { $ref, $dynamicRef } = schema
    const found = [$ref, $dynamicRef].flatMap(ref => typeof ref === 'string' ? this.targets(ref, schema) : [])
    return typeof $dynamicRef === 'string' ? [...found, ...this.dynamic.get($dynamicRef.replace('#', '')) ?? []] : found
  }

  private targets (ref: string, from: JsonSchema): unknown[] {
    const [id = '', fragment = ''] = ref.split('#', 2)
    const { root, base } = this.parts.get(from) as Part
    const roots = id === '' ? [root] : [id, resolved(id, base)].flatMap(name => this.named.get(name) ?? [])
    const found = [...new Set(roots)].flatMap(one => {
      if (fragment === '') return [one]
      return fragment.startsWith('/') ? [pointed(one, fragment)] : this.parts.get(one)?.anchors.get(fragment) ?? []
    })
    return found.length > 0 ? found : [undefined]
  }
}

/** What relative names are resolved against where nothing else is said (RFC 3986 section 5.1.4). */
const BASE = 'schema:/'

function resolved (id: string, base: string): string {
  try { return new URL(id, base).href } catch { return id }
}

const put = (map: Map<string, JsonSchema[]>, name: string, schema: JsonSchema) => map.set(name, [...map.get(name) ?? [], schema])
