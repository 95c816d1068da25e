import type { Schema } from '../types/index.js'
import { MCP_ERR_INPUT_SCHEMA } from './errors.js'
import { isObject } from './jsonrpc.js'
import { prepareSchema } from './json-schema.js'
import type { JsonSchema } from './json-schema.js'
import { checkOf } from './validate.js'
import type { Check } from './validate.js'

// The schema of a form: a flat object of primitives (2026-07-28 client/elicitation, Requested Schema). TypeBox writes enumerations as unions
// of literals; forms have words of their own for them.

const STRING = ['type', 'title', 'description', 'default', 'minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf']
const NUMBER = ['type', 'title', 'description', 'default', 'minimum', 'maximum']
const BOOLEAN = ['type', 'title', 'description', 'default']
const ARRAY = ['type', 'title', 'description', 'default', 'minItems', 'maxItems', 'items']
const WORDS: Record<string, string[]> = { string: STRING, number: NUMBER, integer: NUMBER, boolean: BOOLEAN, array: ARRAY }
const FORMATS = ['email', 'uri', 'date', 'date-time']

export interface Form { requestedSchema: JsonSchema, validated: JsonSchema, fits: Check }

const known = new WeakMap<object, Form>()
/** Schemas that stand in a handler are new objects in each call, with the same text. Weak: a form that nobody asks any more goes, with what was compiled for it. */
const byText = new Map<string, WeakRef<Form>>()
const gone = new FinalizationRegistry<string>(text => { if (byText.get(text)?.deref() === undefined) byText.delete(text) })

/** @throws MCP_ERR_INPUT_SCHEMA that names the field and what a form can have */
export function formOf (source: Schema): Form {
  const before = known.get(source)
  if (before !== undefined) return before
  const text = JSON.stringify(source)
  const form = byText.get(text)?.deref() ?? made(source, text)
  known.set(source, form)
  return form
}

function made (source: Schema, text: string): Form {
  let validated
  try {
    validated = prepareSchema(source).schema
  } catch (error) {
    throw new MCP_ERR_INPUT_SCHEMA((error as Error).message)
  }
  if (validated.type !== 'object' || !isObject(validated.properties)) throw new MCP_ERR_INPUT_SCHEMA('the root must be an object with properties')
  const properties = Object.fromEntries(Object.entries(validated.properties).map(([name, field]) => [name, fieldOf(name, field)]))
  const requestedSchema = { type: 'object', properties, ...(Array.isArray(validated.required) && validated.required.length > 0 && { required: validated.required }) }
  const form = { requestedSchema, validated, fits: checkOf(validated, { useDefaults: true, alone: true }) }
  byText.set(text, new WeakRef(form))
  gone.register(form, text)
  return form
}

function fieldOf (name: string, schema: unknown): JsonSchema {
  if (!isObject(schema)) throw new MCP_ERR_INPUT_SCHEMA(`field "${name}" must have a schema`)
  const field = choice(schema)
  const words = typeof field.type === 'string' ? WORDS[field.type] : undefined
  if (words === undefined) throw new MCP_ERR_INPUT_SCHEMA(`field "${name}" must be a string, a number, a boolean, an enumeration or an array of one; a form has no ${JSON.stringify(field.type) ?? 'such field'}`)
  for (const word of Object.keys(field)) {
    if (!words.includes(word) && !word.startsWith('x-')) throw new MCP_ERR_INPUT_SCHEMA(`field "${name}" cannot have "${word}"; a ${field.type} of a form has ${words.join(', ')}`)
  }
  if (field.format !== undefined && !FORMATS.includes(field.format as string)) throw new MCP_ERR_INPUT_SCHEMA(`field "${name}" has the format ${JSON.stringify(field.format)}; a form knows ${FORMATS.join(', ')}`)
  for (const word of ['enum', 'enumNames']) if (field[word] !== undefined && !strings(field[word])) throw new MCP_ERR_INPUT_SCHEMA(`field "${name}" must have strings in "${word}"`)
  if (field.oneOf !== undefined) field.oneOf = titled(name, field.oneOf)
  if (field.type === 'array') field.items = itemsOf(name, field.items)
  return field
}

function itemsOf (name: string, items: unknown): JsonSchema {
  const one = isObject(items) ? items : {}
  const { enum: values, oneOf, anyOf } = choice(one)
  if (strings(values)) return { type: 'string', enum: values }
  if (oneOf !== undefined || anyOf !== undefined) return { anyOf: titled(name, oneOf ?? anyOf) }
  throw new MCP_ERR_INPUT_SCHEMA(`field "${name}" is an array, so its items must be an enumeration`)
}

const strings = (values: unknown): boolean => Array.isArray(values) && values.length > 0 && values.every(value => typeof value === 'string')

/** Values with titles; one without is its own. */
function titled (name: string, choices: unknown): JsonSchema[] {
  if (!Array.isArray(choices) || !choices.every(one => isObject(one) && typeof one.const === 'string')) throw new MCP_ERR_INPUT_SCHEMA(`field "${name}" must be a choice of strings, each with "const" and "title"`)
  return choices.map(one => ({ const: one.const, title: one.title ?? one.const }))
}

/** A union of literals as an enumeration, with titles where the literals have them. */
function choice (schema: JsonSchema): JsonSchema {
  if (typeof schema.const === 'string') {
    const { const: only, ...rest } = schema
    return { ...rest, type: 'string', enum: [only] }
  }
  const branches = schema.anyOf
  if (!Array.isArray(branches) || !branches.every(one => isObject(one) && typeof one.const === 'string')) return { ...schema }
  const { anyOf, ...rest } = schema
  const named = branches.some(one => one.title !== undefined)
  const values = named ? { oneOf: branches.map(one => ({ const: one.const, title: one.title ?? one.const })) } : { enum: branches.map(one => one.const) }
  return { type: 'string', ...rest, ...values }
}
