import type { FastifyInstance } from 'fastify'
import type { ResultInit, Tool, Validator } from '../../types/index.js'
import { isResult, text } from '../content.js'
import { MCP_ERR_TOOL_DEFINITION, MCP_ERR_TOOL_NAME, MCP_ERR_TOOL_SCHEMA } from '../errors.js'
import { isObject } from '../jsonrpc.js'
import { prepareSchema } from '../json-schema.js'
import type { JsonSchema, Prepared } from '../json-schema.js'
import { checkOf } from '../validate.js'
import type { Check } from '../validate.js'
import { blocksProblem } from './blocks.js'
import { inspect } from './definition.js'
import { gateOf } from './gate.js'
import type { Gate } from './gate.js'
import { limitsOf } from './limits.js'
import type { Limits } from './limits.js'
import type { Count } from './rate.js'
import { betraying, mirrorsOf } from './mirror.js'
import { redactorOf } from './redact.js'
import type { Redact } from './redact.js'
import type { Mirror } from './mirror.js'

const NAME = /^[\w.-]{1,128}$/

/** A tool as it was added: what is shown, what is checked, what is called. All of it is worked out once. */
export interface Entry {
  readonly name: string
  readonly app: FastifyInstance
  readonly handler: Tool['handler']
  readonly timeout: number
  /** What `tools/list` shows, in the words of the newest revision. */
  readonly listed: Record<string, unknown>
  readonly checkInput: Check
  readonly checkOutput: Check | undefined
  readonly mirrors: readonly Mirror[]
  readonly gate: Gate
  /** What a call may cost, and whether the user is asked first; undefined where there is nothing to heed. */
  readonly limits: Limits | undefined
  readonly redact: Redact | undefined
}

export interface EntryOptions {
  timeout: number
  validator: Validator | undefined
  /** Schemas of tools that come after the start may go again, and with them what was compiled. */
  started: boolean
  /** Counts calls for all processes that serve the endpoint; gives nothing where this one is alone. */
  shared: () => Count | undefined
}

/** @throws MCP_ERR_TOOL_NAME, MCP_ERR_TOOL_SCHEMA, MCP_ERR_TOOL_DEFINITION */
export function entryOf (tool: Tool, app: FastifyInstance, options: EntryOptions): Entry {
  if (!isObject(tool)) throw new MCP_ERR_TOOL_DEFINITION(String(tool), 'it must be an object, as defineTool makes it')
  const { name } = tool
  if (typeof name !== 'string' || !NAME.test(name)) throw new MCP_ERR_TOOL_NAME(JSON.stringify(name) ?? 'nothing')
  const { handler, timeout = options.timeout } = tool
  if (typeof handler !== 'function') throw new MCP_ERR_TOOL_DEFINITION(name, `handler must be a function, got ${typeof handler}`)
  if (typeof timeout !== 'number' || !(timeout >= 0)) throw new MCP_ERR_TOOL_DEFINITION(name, `timeout must be 0 or more milliseconds, got ${typeof timeout === 'number' ? timeout : JSON.stringify(timeout)}`)
  definitionError(name, () => inspect('Tool', name, tool, app))
  const input = rooted(name, prepared(app, name, 'inputSchema', 'inputSchema' in tool && tool.inputSchema !== undefined ? tool.inputSchema : { type: 'object', properties: {} }))
  const output = tool.outputSchema === undefined ? undefined : prepared(app, name, 'outputSchema', tool.outputSchema)
  const check = (one: Prepared, useDefaults: boolean) => checkOf(one.schema, { useDefaults, alone: one.named || options.started, compiler: options.validator })
  const checkInput = check(input, true)
  const mirrors = schemaError(name, 'inputSchema', () => mirrorsOf(input.schema))
  for (const header of betraying(mirrors, input.schema)) app.log.warn(`Tool "${name}": the header ${header} repeats what x-sensitive marks; whatever stands before this server sees headers, and logs them`)
  return {
    name,
    app,
    handler,
    timeout: timeout === Infinity ? 0 : timeout,
    listed: definitionError(name, () => listedOf(tool, input.schema, output?.schema)),
    checkInput,
    checkOutput: output && check(output, false),
    redact: redactorOf(input.schema, checkInput),
    gate: definitionError(name, () => gateOf(tool)),
    limits: definitionError(name, () => limitsOf(tool, options.shared)),
    mirrors
  }
}

/** Prepared once for each schema object in each place, so that adding a tool again compiles nothing. Schemas that the app shares are that app's alone. */
const preparedBefore = { inputSchema: new WeakMap<object, Prepared>(), outputSchema: new WeakMap<object, Prepared>() }

function prepared (app: FastifyInstance, tool: string, which: keyof typeof preparedBefore, source: unknown): Prepared {
  const before = isObject(source) ? preparedBefore[which].get(source) : undefined
  if (before !== undefined) return before
  const fresh = schemaError(tool, which, () => prepareSchema(source, id => app.getSchema(id)))
  for (const strange of fresh.strange) app.log.warn(`Tool "${tool}": ${which}${strange}; is it misspelt?`)
  if (!fresh.shared) preparedBefore[which].set(source as object, fresh)
  return fresh
}

/** Arguments are an object, whatever else the schema says of them: every revision wants `type: "object"` at the root. */
function rooted (tool: string, input: Prepared): Prepared {
  const { schema } = input
  if (schema.type === 'object') return input
  if (schema.type !== undefined || !['anyOf', 'oneOf', 'allOf', '$ref', 'properties', 'if'].some(keyword => keyword in schema)) {
    throw new MCP_ERR_TOOL_SCHEMA(tool, 'inputSchema', `/type must be "object" (arguments are named), got ${JSON.stringify(schema.type) ?? 'nothing'}`)
  }
  schema.type = 'object'
  return input
}

function schemaError<T> (tool: string, which: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new MCP_ERR_TOOL_SCHEMA(tool, which, (error as Error).message)
  }
}

function definitionError<T> (tool: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new MCP_ERR_TOOL_DEFINITION(tool, (error as Error).message)
  }
}

function listedOf (tool: Tool, inputSchema: JsonSchema, outputSchema: JsonSchema | undefined): Record<string, unknown> {
  const { name, title, description, annotations, icons, _meta } = tool
  const listed = { name, title, description, inputSchema, outputSchema, annotations, icons, _meta }
  return JSON.parse(JSON.stringify(listed))
}

/** The result of a call, from whatever form the handler gave it. @throws Error that says what the handler should have returned */
export function resultOf (entry: Entry, value: unknown): Record<string, unknown> {
  if (entry.checkOutput !== undefined) return structured(entry, entry.checkOutput, value)
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] }
  if (value === undefined || value === null) return { content: [] }
  if (Array.isArray(value) && value.every(block => isObject(block) && typeof block.type === 'string')) return readable(entry, { content: value })
  if (isObject(value)) {
    if (Array.isArray(value.content)) return readable(entry, value)
    if (isResult(value)) return readable(entry, full(value))
    if (typeof value.type === 'string') return readable(entry, { content: [value] })
  }
  throw new TypeError(`Tool "${entry.name}" has no outputSchema, so its handler must return a string, content or a full result; it returned ${typeof value}`)
}

function structured (entry: Entry, check: Check, value: unknown): Record<string, unknown> {
  if (!isResult(value)) return full({ structuredContent: conforming(entry, check, value) })
  if (value.isError === true) return readable(entry, full(value))
  return readable(entry, full({ ...value, structuredContent: conforming(entry, check, value.structuredContent) }))
}

/** @throws TypeError that names the place */
function readable (entry: Entry, result: Record<string, unknown>): Record<string, unknown> {
  const problem = resultProblem(result)
  if (problem !== undefined) throw new TypeError(`Tool "${entry.name}" returned what no client could read: ${problem}`)
  return result
}

export function resultProblem ({ content, isError, _meta }: Record<string, unknown>): string | undefined {
  if (!Array.isArray(content)) return 'content must be an array'
  if (isError !== undefined && typeof isError !== 'boolean') return `isError must be true or false, got ${JSON.stringify(isError)}`
  if (_meta !== undefined && !isObject(_meta)) return `_meta must be an object, got ${JSON.stringify(_meta)}`
  return blocksProblem(content)
}

/** A value that does not fit is tried once more as JSON will show it: dates become strings, undefined goes. */
function conforming (entry: Entry, check: Check, value: unknown): unknown {
  const problem = check(value)
  if (problem === undefined) return value
  const text = JSON.stringify(value)
  const shown = text === undefined ? undefined : JSON.parse(text)
  if (check(shown) === undefined) return shown
  throw new TypeError(`Tool "${entry.name}" returned what its outputSchema does not allow: ${problem}`)
}

function full (parts: ResultInit): Record<string, unknown> {
  const { content, structuredContent, isError, _meta } = parts
  return { content: content ?? (structuredContent === undefined ? [] : [text(JSON.stringify(structuredContent))]), structuredContent, isError, _meta }
}
