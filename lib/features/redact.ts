import { isObject } from '../jsonrpc.js'
import type { JsonSchema } from '../json-schema.js'
import { pointed, sameValue } from '../schema-refs.js'
import { isSensitive, namesIn, SENSITIVE } from '../validate.js'
import type { Check } from '../validate.js'

// Arguments that nobody but the handler shall see: `x-sensitive: true` in a schema.

export const REDACTED = '[redacted]'

export type Redact = (value: unknown) => unknown

/**
 * Puts a word in the place of what is marked, and of what the schema does not name; what any branch of the schema marks is. Of a value that does not fit
 * nobody knows what stands where: nothing of it is shown but the names that the schema has. Undefined where nothing is marked.
 */
export function redactorOf (schema: JsonSchema, check: Check): Redact | undefined {
  if (!isSensitive(schema)) return undefined
  const redactor = new Redactor(schema)
  return value => check(structuredClone(value)) === undefined ? redactor.within(value, [schema]) : redactor.outline(value)
}

class Redactor {
  private readonly root: JsonSchema
  private readonly names = new Map<unknown, JsonSchema>()
  private readonly properties: ReadonlySet<string>

  constructor (root: JsonSchema) {
    this.root = root
    this.name(root)
    this.properties = namesIn(root)
  }

  outline (value: unknown): unknown {
    if (Array.isArray(value)) return value.map(one => this.outline(one))
    if (!isObject(value)) return REDACTED
    return Object.fromEntries(Object.entries(value).map(([name, member]) => this.properties.has(name) ? [name, this.outline(member)] : [REDACTED, REDACTED]))
  }

  private name (part: unknown): void {
    if (typeof part !== 'object' || part === null) return
    const { $id, $anchor, $dynamicAnchor } = part as JsonSchema
    for (const name of [$id, $anchor && `#${String($anchor)}`, $dynamicAnchor && `#${String($dynamicAnchor)}`]) if (typeof name === 'string') this.names.set(name, part as JsonSchema)
    for (const member of Object.values(part)) this.name(member)
  }

  within (value: unknown, schemas: unknown[]): unknown {
    const all = this.flat(schemas)
    if (all.some(schema => schema[SENSITIVE] === true || this.flat([schema.propertyNames]).some(names => names[SENSITIVE] === true))) return REDACTED
    const part = (one: unknown, schemas: unknown[], told: boolean) => told && !schemas.some(schema => schema !== undefined && schema !== false) ? REDACTED : this.within(one, schemas)
    if (Array.isArray(value)) {
      const told = all.some(schema => schema.prefixItems !== undefined || schema.items !== undefined)
      return value.map((one, i) => part(one, all.flatMap(schema => elementsOf(schema, i)), told))
    }
    if (!isObject(value)) return value
    const told = all.some(schema => schema.properties !== undefined || schema.patternProperties !== undefined)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, part(member, all.flatMap(schema => membersOf(schema, name)), told)]))
  }

  /** The schemas, and all that their branches and references lead to. */
  private flat (schemas: unknown[]): JsonSchema[] {
    const seen = new Set<JsonSchema>()
    const open = [...schemas]
    while (open.length > 0) {
      const schema = open.pop()
      if (!isObject(schema) || seen.has(schema)) continue
      seen.add(schema)
      open.push(...sameValue(schema))
      for (const ref of [schema.$ref, schema.$dynamicRef]) if (typeof ref === 'string') open.push(this.target(ref))
    }
    return [...seen]
  }

  /** What cannot be found here is taken for marked. */
  private target (ref: string): unknown {
    const [id, pointer = ''] = ref.split('#')
    const from = id === '' ? this.root : this.names.get(id)
    return this.names.get(ref) ?? (from !== undefined && /^(\/|$)/.test(pointer) ? pointer === '' ? from : pointed(from, pointer) : undefined) ?? { [SENSITIVE]: true }
  }
}

const elementsOf = ({ prefixItems, items, additionalItems, unevaluatedItems, contains }: JsonSchema, i: number): unknown[] =>
  [Array.isArray(prefixItems) ? prefixItems[i] : undefined, Array.isArray(items) ? items[i] : items, additionalItems, unevaluatedItems, contains]

function membersOf ({ properties, patternProperties, additionalProperties, unevaluatedProperties }: JsonSchema, name: string): unknown[] {
  const own = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
  const matching = isObject(patternProperties) ? Object.keys(patternProperties).filter(pattern => new RegExp(pattern, 'u').test(name)).map(pattern => patternProperties[pattern]) : []
  return [...own, ...matching, ...(own.length + matching.length === 0 ? [additionalProperties, unevaluatedProperties] : [])]
}
