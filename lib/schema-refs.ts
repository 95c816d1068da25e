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
    if (ref.word === '$ref' && found === ref.within.root && ref.base === '') ref.holder.$ref = String(ref.holder.$ref).replace(/#.*/, '#')
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
