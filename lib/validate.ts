import { Ajv } from 'ajv'
import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { ValidationProblem, Validator } from '../types/index.js'
import { isDraft07 } from './json-schema.js'
import type { JsonSchema } from './json-schema.js'
import { kindOf, preview } from './preview.js'

/** What is wrong with a value, as a sentence that names the path, what belongs there and what came; undefined when nothing is. */
export type Check = (value: unknown) => string | undefined

const MAX_PROBLEMS = 8
const MAX_KNOWN = 40
/** With more than these it is not asked which of them tell something. */
const MAX_READ = 1_000
const MAX_BRANCHES = 100
const shared = new Map<string, Ajv | Ajv2020>()

/** Never coerces, never removes: what a tool is called with is what the client sent, plus defaults. */
function instance (schema: JsonSchema, useDefaults: boolean): Ajv | Ajv2020 {
  const options: Options = { strict: false, strictNumbers: true, strictTypes: false, allErrors: true, verbose: true, validateSchema: false, logger: false, useDefaults }
  const ajv = isDraft07(schema) ? new Ajv(options) : new Ajv2020(options)
  formats.default(ajv)
  return ajv
}

function sharedInstance (schema: JsonSchema, useDefaults: boolean): Ajv | Ajv2020 {
  const key = `${isDraft07(schema)} ${useDefaults}`
  let ajv = shared.get(key)
  if (ajv === undefined) shared.set(key, ajv = instance(schema, useDefaults))
  return ajv
}

export interface CheckOptions {
  useDefaults?: boolean
  /** An Ajv instance of its own: for schemas with an `$id`, which would clash, and for those that may go again, which would stay. */
  alone?: boolean
  compiler?: Validator | undefined
}

const compiled = { input: new WeakMap<JsonSchema, Map<unknown, Check>>(), output: new WeakMap<JsonSchema, Map<unknown, Check>>() }

/** A check of one schema, compiled at its first use and kept with the schema. */
export function checkOf (schema: JsonSchema, options: CheckOptions = {}): Check {
  const side = compiled[options.useDefaults === true ? 'input' : 'output']
  const kept = side.get(schema) ?? new Map<unknown, Check>()
  side.set(schema, kept)
  const check = kept.get(options.compiler) ?? lazy(schema, options)
  kept.set(options.compiler, check)
  return check
}

function lazy (schema: JsonSchema, options: CheckOptions): Check {
  let check: Check = value => {
    check = options.compiler === undefined ? withAjv(schema, options) : withCompiler(schema, options.compiler, Boolean(options.useDefaults))
    return check(value)
  }
  return value => check(value)
}

/** Marks what is for the handler alone: with `true` nothing that came for the whole schema is shown, with `here` nothing that came in this place. */
export const SENSITIVE = 'x-sensitive'
export const HERE = 'here'
const marksPlaces = (schema: unknown): boolean => JSON.stringify(schema)?.includes(`"${SENSITIVE}":"${HERE}"`) === true
export const isSensitive = (schema: JsonSchema): boolean => JSON.stringify(schema).includes(`"${SENSITIVE}":true`)

/** What of an error may be told: where it is, what came, and whether that has names which the schema does not. */
interface Telling { at: string, got: string, hidden: boolean }

function withAjv (schema: JsonSchema, { useDefaults = false, alone = false }: CheckOptions): Check {
  const ajv = alone ? instance(schema, useDefaults) : sharedInstance(schema, useDefaults)
  const validate: ValidateFunction = ajv.compile(schema)
  const all = isSensitive(schema)
  let names: Set<string> | undefined
  const telling = ({ instancePath, parentSchema, data }: ErrorObject, value: unknown): Telling => {
    const hidden = all || parentSchema?.[SENSITIVE] === HERE
    const got = all ? '' : `, got ${marksPlaces(parentSchema) ? kindOf(data) : preview(data)}`
    if (!hidden) return { at: instancePath, got, hidden }
    names ??= namesIn(schema)
    return { at: shownPath(instancePath, value, names), got, hidden }
  }
  return value => validate(value) ? undefined : sentence(validate.errors ?? [], error => telling(error, value))
}

function withCompiler (schema: JsonSchema, compiler: Validator, useDefaults: boolean): Check {
  const validate = compiler.compile(schema, { useDefaults })
  const names = isSensitive(schema) ? namesIn(schema) : undefined
  return value => {
    const outcome = validate(value)
    if (outcome === true) return undefined
    const lines = outcome.map(({ path, message }: ValidationProblem) => names === undefined ? `${path || '/'} ${message}` : `${shownPath(path, value, names) || '/'} does not fit`)
    return [...new Set(lines)].join('; ') || 'the value is not valid'
  }
}

/** The names of properties that a schema has anywhere, in its order: those of the whole first. */
export function namesIn (part: unknown, names = new Set<string>()): Set<string> {
  if (typeof part !== 'object' || part === null) return names
  const { properties } = part as JsonSchema
  for (const name of Object.keys(typeof properties === 'object' ? properties ?? {} : {})) names.add(name)
  for (const member of Object.values(part)) namesIn(member, names)
  return names
}

/** A path without the names that the schema does not have: they came with the value. */
function shownPath (path: string, value: unknown, names: ReadonlySet<string>): string {
  let at = value
  const step = (part: string): string => {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const shown = Array.isArray(at) || names.has(name)
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined
    return shown ? part : '*'
  }
  return path.split('/').map((part, i) => i === 0 ? '' : step(part)).join('/')
}

function sentence (errors: ErrorObject[], telling: (error: ErrorObject) => Telling): string {
  const lines = new Set<string>()
  const loud = errors.length > MAX_READ ? errors : withoutNoise(errors)
  let left = loud.length
  for (const error of loud) {
    if (lines.size === MAX_PROBLEMS) break
    left--
    lines.add(line(error, telling(error)))
  }
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('; ')
}

/** Of a union only the branch that was meant, where that can be seen: what the others lack helps nobody. */
function withoutNoise (errors: ErrorObject[]): ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf').slice(-MAX_BRANCHES).reverse() // the outer ones first
  const noise = new Set<ErrorObject>()
  for (const union of unions) {
    if (noise.has(union)) continue
    const branches = branchesOf(union, errors)
    const best = meant(union, branches)
    for (const branch of branches) if (branch !== best) for (const error of branch) noise.add(error)
    if (best !== undefined) noise.add(union)
  }
  return errors.filter(error => !noise.has(error))
}

/** What each branch of a union says, for those that have anything to say. */
function branchesOf ({ schemaPath, instancePath }: ErrorObject, errors: ErrorObject[]): ErrorObject[][] {
  const branches = new Map<string, ErrorObject[]>()
  const below = schemaPath + '/'
  for (const error of errors) {
    if (!error.schemaPath.startsWith(below) || (error.instancePath !== instancePath && !error.instancePath.startsWith(instancePath + '/'))) continue
    const index = error.schemaPath.slice(below.length).split('/', 1)[0] as string
    const branch = branches.get(index)
    if (branch === undefined) branches.set(index, [error])
    else branch.push(error)
  }
  return [...branches.values()]
}

/** The branch for values of this kind; among several the one whose constants fit, then the one that lacks least. */
function meant (union: ErrorObject, branches: ErrorObject[][]): ErrorObject[] | undefined {
  if (union.params.passingSchemas != null) return undefined // it lacks nothing: it fits too much
  const constant = ({ keyword }: ErrorObject) => keyword === 'const' || keyword === 'enum'
  const same = branches.filter(branch => !branch.some(error => error.instancePath === union.instancePath && (error.keyword === 'type' || constant(error))))
  const score = (branch: ErrorObject[]) => branch.filter(constant).length * MAX_READ + branch.length
  return same.toSorted((a, b) => score(a) - score(b))[0]
}

function line (error: ErrorObject, { at, got, hidden }: Telling): string {
  const path = at || '/'
  const { params } = error
  switch (error.keyword) {
    case 'type': return `${path} must be ${[params.type].flat().join(' or ')}${got}`
    case 'required': return `${at}/${params.missingProperty} is required`
    case 'additionalProperties':
    case 'unevaluatedProperties': return `${at}/${hidden ? '*' : params.additionalProperty ?? params.unevaluatedProperty} is not a known property${known(error)}`
    case 'enum': return `${path} must be one of ${list(params.allowedValues)}${got}`
    case 'const': return `${path} must be ${JSON.stringify(params.allowedValue)}${got}`
    case 'anyOf':
    case 'oneOf': {
      const values = constants(error)
      if (values !== undefined) return `${path} must be one of ${list(values)}${got}`
      const kinds = params.passingSchemas == null ? kindsOf(error) : undefined
      return kinds === undefined ? `${path} ${error.message}${got}` : `${path} must be ${kinds.join(' or ')}${got}`
    }
    default: return `${path} ${error.message}${got}`
  }
}

/** The values of a union of literals, as TypeBox writes enumerations. */
function constants (error: ErrorObject): unknown[] | undefined {
  const branches = error.schema as unknown
  if (!Array.isArray(branches) || branches.length === 0 || !branches.every(one => typeof one === 'object' && one !== null && 'const' in one)) return undefined
  return branches.map(one => one.const)
}

/** What the branches of a union take, where each says it in a word. */
function kindsOf ({ schema }: ErrorObject): string[] | undefined {
  const branches = Array.isArray(schema) ? schema as Array<{ const?: unknown, type?: string | string[] } | undefined> : []
  const kinds = branches.flatMap(branch => branch?.const !== undefined ? [JSON.stringify(branch.const)] : branch?.type ?? [undefined])
  return kinds.length === 0 || kinds.includes(undefined) ? undefined : [...new Set(kinds as string[])]
}

function known (error: ErrorObject): string {
  const properties = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
  return properties.length === 0 ? ' (none is)' : `; known: ${properties.slice(0, MAX_KNOWN).join(', ')}${properties.length > MAX_KNOWN ? ', …' : ''}`
}

const list = (values: unknown[]): string => values.slice(0, 30).map(value => JSON.stringify(value)).join(', ') + (values.length > 30 ? ', …' : '')
