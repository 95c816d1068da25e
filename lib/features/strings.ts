import type { FastifyInstance } from 'fastify'
import type { Validator } from '../../types/index.js'
import { prepareSchema } from '../json-schema.js'
import type { JsonSchema, Prepared } from '../json-schema.js'
import { isObject } from '../jsonrpc.js'
import { checkOf } from '../validate.js'
import type { Check } from '../validate.js'

/** A schema of named strings: the arguments of a prompt, the variables of a template. The wire has nothing else for them, and nothing is coerced. */
export interface Strings {
  readonly properties: Readonly<Record<string, JsonSchema>>
  /** Those without a default that must be there. */
  readonly required: readonly string[]
  readonly check: Check
  readonly schema: JsonSchema
}

export interface StringsOptions {
  validator: Validator | undefined
  /** What comes after the start may go again, and with it what was compiled. */
  started: boolean
}

const preparedBefore = new WeakMap<object, Prepared>()

/**
 * @param isList whether the member of that name is an array of strings
 * @throws Error that names the place in the schema and what belongs there
 */
export function stringsOf (source: unknown, app: FastifyInstance, what: string, options: StringsOptions, isList: (name: string) => boolean = () => false): Strings {
  const one = prepared(source, app, what)
  const { schema } = one
  if (schema.type !== 'object') throw new Error(`/type must be "object", got ${JSON.stringify(schema.type) ?? 'nothing'}`)
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>
  for (const [name, member] of Object.entries(properties)) {
    const fits = isList(name) ? isObject(member) && member.type === 'array' && isText(member.items, schema) : isText(member, schema)
    if (!fits) throw new Error(`/properties/${name} must be ${isList(name) ? 'an array of strings' : 'a string'}: on the wire there is nothing else`)
  }
  const required = (schema.required ?? []) as string[]
  return {
    properties,
    required: required.filter(name => properties[name]?.default === undefined),
    schema,
    check: checkOf(schema, { useDefaults: true, alone: one.named || options.started, compiler: options.validator })
  }
}

/** Prepared once for each schema object, so that adding the same thing again compiles nothing. Schemas that the app shares are that app's alone. */
function prepared (source: unknown, app: FastifyInstance, what: string): Prepared {
  const before = isObject(source) ? preparedBefore.get(source) : undefined
  if (before !== undefined) return before
  const fresh = prepareSchema(source, id => app.getSchema(id))
  for (const strange of fresh.strange) app.log.warn(`${what}: ${strange}; is it misspelt?`)
  if (!fresh.shared) preparedBefore.set(source as object, fresh)
  return fresh
}

/** A string, one of some strings, or a union of such. */
function isText (schema: unknown, root: JsonSchema): boolean {
  if (!isObject(schema)) return false
  const { type, $ref, enum: values, anyOf, oneOf } = schema
  if (type !== undefined) return type === 'string'
  if (typeof $ref === 'string') return isText((root.$defs as JsonSchema | undefined)?.[$ref.replace('#/$defs/', '')], root)
  if (typeof schema.const === 'string') return true
  if (Array.isArray(values)) return values.every(value => typeof value === 'string')
  const branches = anyOf ?? oneOf
  return Array.isArray(branches) && branches.every(branch => isText(branch, root))
}
