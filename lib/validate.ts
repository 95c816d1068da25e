import { Ajv } from 'ajv'
import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { ValidationProblem, Validator } from '../types/index.js'
import { isDraft07 } from './json-schema.js'
import type { JsonSchema } from './json-schema.js'

/** What is wrong with a value, as a sentence that names the path, what belongs there and what came; undefined when nothing is. */
export type Check = (value: unknown) => string | undefined

const MAX_PROBLEMS = 8
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

function withAjv (schema: JsonSchema, { useDefaults = false, alone = false }: CheckOptions): Check {
  const ajv = alone ? instance(schema, useDefaults) : sharedInstance(schema, useDefaults)
  const validate: ValidateFunction = ajv.compile(schema)
  return value => validate(value) ? undefined : sentence(validate.errors ?? [])
}

function withCompiler (schema: JsonSchema, compiler: Validator, useDefaults: boolean): Check {
  const validate = compiler.compile(schema, { useDefaults })
  return value => {
    const outcome = validate(value)
    return outcome === true ? undefined : outcome.map((problem: ValidationProblem) => `${problem.path || '/'} ${problem.message}`).join('; ') || 'the value is not valid'
  }
}

function sentence (errors: ErrorObject[]): string {
  const branches = errors.filter(error => error.keyword === 'anyOf' || error.keyword === 'oneOf').slice(0, MAX_BRANCHES)
  const lines = new Set<string>()
  let left = errors.length
  for (const error of errors) {
    if (lines.size === MAX_PROBLEMS) break
    left--
    const branch = branches.find(one => one !== error && error.schemaPath.startsWith(one.schemaPath + '/'))
    if (branch === undefined || constants(branch) === undefined) lines.add(line(error))
  }
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])].join('; ')
}

function line (error: ErrorObject): string {
  const path = error.instancePath || '/'
  const { params, data } = error
  const got = `, got ${preview(data)}`
  switch (error.keyword) {
    case 'type': return `${path} must be ${[params.type].flat().join(' or ')}${got}`
    case 'required': return `${error.instancePath}/${params.missingProperty} is required`
    case 'additionalProperties':
    case 'unevaluatedProperties': return `${error.instancePath}/${params.additionalProperty ?? params.unevaluatedProperty} is not a known property${known(error)}`
    case 'enum': return `${path} must be one of ${list(params.allowedValues)}${got}`
    case 'const': return `${path} must be ${JSON.stringify(params.allowedValue)}${got}`
    case 'anyOf':
    case 'oneOf': {
      const values = constants(error)
      return values === undefined ? `${path} ${error.message}${got}` : `${path} must be one of ${list(values)}${got}`
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

function known (error: ErrorObject): string {
  const properties = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {})
  return properties.length === 0 ? ' (none is)' : `; known: ${properties.slice(0, 20).join(', ')}`
}

const list = (values: unknown[]): string => values.slice(0, 30).map(value => JSON.stringify(value)).join(', ') + (values.length > 30 ? ', …' : '')

function preview (value: unknown): string {
  if (value === undefined) return 'nothing'
  const kind = Array.isArray(value) ? 'array' : value === null ? '' : typeof value
  let text: string
  try { text = JSON.stringify(brief(value, 2)) ?? String(value) } catch { return kind }
  if (text.length > 60) text = text.slice(0, 57) + '…'
  return kind === '' || kind === 'object' || kind === 'array' ? text : `${kind} ${text}`
}

/** As much of a value as is shown; the rest may be large. */
function brief (value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, 60)
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
  if (depth === 0) return Array.isArray(value) ? [] : {}
  if (Array.isArray(value)) return value.slice(0, 20).map(one => brief(one, depth - 1))
  const shown: Record<string, unknown> = {}
  let count = 0
  for (const key in value) {
    if (++count > 20) break
    shown[key.slice(0, 60)] = brief((value as Record<string, unknown>)[key], depth - 1)
  }
  return shown
}
