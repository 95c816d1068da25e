import { isObject } from '../jsonrpc.js'
import type { JsonSchema } from '../json-schema.js'
import { Leads, sameValue } from '../schema-refs.js'
import { isSensitive, namesIn, SENSITIVE } from '../validate.js'
import type { Check } from '../validate.js'

// Arguments that nobody but the handler shall see: `x-sensitive: true` in a schema.

export const REDACTED = '[redacted]'

/** `fits`: whether the value fits the schema, where that is known already. */
export type Redact = (value: unknown, fits?: boolean) => unknown

/** How many steps through a schema are remembered. A client chooses which ones are taken. */
const MAX_STEPS = 10_000

/**
 * Puts a word in the place of what is marked, and of what the schema does not name; what any branch of the schema marks is. Of a value that does not fit
 * nobody knows what stands where: nothing of it is shown but the names that the schema has. Undefined where nothing is marked.
 */
export function redactorOf (schema: JsonSchema, check: Check): Redact | undefined {
  if (!isSensitive(schema)) return undefined
  let redactor: Redactor | undefined
  return (value, fits = check(structuredClone(value)) === undefined) => {
    if (redactor === undefined || redactor.steps > MAX_STEPS) redactor = new Redactor(schema)
    return fits ? within(value, redactor.start) : redactor.outline(value)
  }
}

/** Parts in which nothing is hidden are not copied. */
function within (value: unknown, place: Place): unknown {
  if (place.hidden) return REDACTED
  if (place.open) return value
  if (Array.isArray(value)) return value.map((one, i) => within(one, place.element(i)))
  if (!isObject(value)) return value
  let out = value
  for (const name of Object.keys(value)) {
    const shown = within(value[name], place.member(name))
    if (shown === value[name]) continue
    if (out === value) out = { ...value }
    out[name] = shown
  }
  return out
}

/** A schema, read as a map of the values that fit it: each place in one is worked out when a value first comes to it. */
class Redactor {
  readonly start: Place
  steps = 0
  private readonly leads: Leads
  private readonly properties: ReadonlySet<string>
  private readonly numbers = new Map<JsonSchema, number>()
  private readonly places = new Map<string, Place>()
  private readonly patterns = new Map<string, RegExp>()

  constructor (root: JsonSchema) {
    this.leads = new Leads(root)
    this.properties = namesIn(root)
    this.start = this.placeOf([root], false)
  }

  outline (value: unknown): unknown {
    if (Array.isArray(value)) return value.map(one => this.outline(one))
    if (!isObject(value)) return REDACTED
    return Object.fromEntries(Object.entries(value).map(([name, member]) => this.properties.has(name) ? [name, this.outline(member)] : [REDACTED, REDACTED]))
  }

  /**
   * The place of values that all of these schemas speak of.
   *
   * @param told there is one that says what may stand here, so that what no schema speaks of is a stranger
   */
  placeOf (schemas: unknown[], told: boolean): Place {
    this.steps++
    const all = told && !schemas.some(schema => schema !== undefined && schema !== false) ? [MARKED] : this.flat(schemas)
    const key = all.map(schema => this.numberOf(schema)).sort((a, b) => a - b).join()
    let place = this.places.get(key)
    if (place === undefined) this.places.set(key, place = new Place(this, all))
    return place
  }

  /** The schemas, and all that their branches and references lead to. What leads nowhere that is known is taken for marked. */
  flat (schemas: unknown[]): JsonSchema[] {
    const seen = new Set<JsonSchema>()
    const open = [...schemas]
    while (open.length > 0) {
      const schema = open.pop()
      if (!isObject(schema) || seen.has(schema)) continue
      seen.add(schema)
      if (schema !== MARKED) open.push(...sameValue(schema), ...this.leads.of(schema).map(one => one ?? MARKED))
    }
    return [...seen]
  }

  pattern (source: string): RegExp {
    const pattern = this.patterns.get(source) ?? new RegExp(source, 'u')
    this.patterns.set(source, pattern)
    return pattern
  }

  private numberOf (schema: JsonSchema): number {
    const number = this.numbers.get(schema) ?? this.numbers.size
    this.numbers.set(schema, number)
    return number
  }
}

const MARKED: JsonSchema = { [SENSITIVE]: true }

/** Where in a value something stands, as the schemas of it see that. */
class Place {
  readonly hidden: boolean
  /** Nothing is said of what stands here, so there is nothing to hide. */
  readonly open: boolean
  private readonly redactor: Redactor
  private readonly schemas: readonly JsonSchema[]
  private readonly tellsMembers: boolean
  private readonly tellsElements: boolean
  private readonly names: ReadonlySet<string>
  private readonly patterns: RegExp[]
  /** By their names, where a schema has them; else by the patterns that their names match. */
  private readonly members = new Map<string, Place>()
  private readonly others = new Map<string, Place>()
  private readonly elements: Place[] = []
  /** Beyond it all elements are alike. */
  private readonly last: number

  constructor (redactor: Redactor, schemas: JsonSchema[]) {
    this.redactor = redactor
    this.schemas = schemas
    this.open = schemas.length === 0
    this.hidden = [...schemas, ...redactor.flat(schemas.map(schema => schema.propertyNames))].some(schema => schema[SENSITIVE] === true)
    this.tellsMembers = schemas.some(schema => schema.properties !== undefined || schema.patternProperties !== undefined)
    this.tellsElements = schemas.some(schema => schema.prefixItems !== undefined || schema.items !== undefined)
    this.names = new Set(schemas.flatMap(({ properties }) => isObject(properties) ? Object.keys(properties) : []))
    this.patterns = [...new Set(schemas.flatMap(patternsOf))].map(source => redactor.pattern(source))
    this.last = Math.max(...schemas.flatMap(({ prefixItems, items }) => [prefixItems, items].map(list => Array.isArray(list) ? list.length : 0)), 0)
  }

  element (index: number): Place {
    const i = Math.min(index, this.last)
    return (this.elements[i] ??= this.redactor.placeOf(this.schemas.flatMap(schema => elementsOf(schema, i)), this.tellsElements))
  }

  member (name: string): Place {
    const named = this.names.has(name)
    const places = named ? this.members : this.others
    let key = named ? name : ''
    if (!named) for (const pattern of this.patterns) key += pattern.test(name) ? '1' : '0'
    let place = places.get(key)
    if (place === undefined) places.set(key, place = this.redactor.placeOf(this.schemas.flatMap(schema => this.membersOf(schema, name)), this.tellsMembers))
    return place
  }

  private membersOf (schema: JsonSchema, name: string): unknown[] {
    const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema
    const own = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
    const matching = patternsOf(schema).filter(source => this.redactor.pattern(source).test(name)).map(source => (patternProperties as JsonSchema)[source])
    return [...own, ...matching, ...(own.length + matching.length === 0 ? [additionalProperties, unevaluatedProperties] : [])]
  }
}

const patternsOf = ({ patternProperties }: JsonSchema): string[] => isObject(patternProperties) ? Object.keys(patternProperties) : []

const elementsOf = ({ prefixItems, items, additionalItems, unevaluatedItems, contains }: JsonSchema, i: number): unknown[] =>
  [Array.isArray(prefixItems) ? prefixItems[i] : undefined, Array.isArray(items) ? items[i] : items, additionalItems, unevaluatedItems, contains]
