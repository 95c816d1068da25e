import type { FastifyInstance } from 'fastify'
import type { Completer, Prompt, PromptMessage } from '../../types/index.js'
import { user } from '../content.js'
import { MCP_ERR_PROMPT_DEFINITION, MCP_ERR_PROMPT_NAME, MCP_ERR_PROMPT_SCHEMA } from '../errors.js'
import { isObject } from '../jsonrpc.js'
import { isSensitive } from '../validate.js'
import type { Check } from '../validate.js'
import { blockProblem } from './blocks.js'
import { completersOf } from './completers.js'
import { inspect, shownProblem } from './definition.js'
import { gateOf } from './gate.js'
import type { Gate } from './gate.js'
import { redactorOf } from './redact.js'
import type { Redact } from './redact.js'
import { stringsOf } from './strings.js'
import type { Strings, StringsOptions } from './strings.js'

/** A prompt as it was added. All of it is worked out once. */
export interface Entry {
  readonly name: string
  readonly app: FastifyInstance
  readonly handler: Prompt['handler']
  readonly check: Check
  readonly redact: Redact | undefined
  readonly complete: ReadonlyMap<string, Completer>
  readonly gate: Gate
  readonly description: string | undefined
  /** What `prompts/list` shows, in the words of the newest revision. */
  readonly listed: Record<string, unknown>
}

/** @throws MCP_ERR_PROMPT_NAME, MCP_ERR_PROMPT_SCHEMA, MCP_ERR_PROMPT_DEFINITION */
export function entryOf (prompt: Prompt, app: FastifyInstance, options: StringsOptions): Entry {
  if (!isObject(prompt)) throw new MCP_ERR_PROMPT_DEFINITION(String(prompt), 'it must be an object, as definePrompt makes it')
  const { name, handler, argsSchema, description } = prompt
  if (typeof name !== 'string' || name === '') throw new MCP_ERR_PROMPT_NAME(JSON.stringify(name) ?? 'nothing')
  if (typeof handler !== 'function') throw new MCP_ERR_PROMPT_DEFINITION(name, `handler must be a function, got ${typeof handler}`)
  let args: Strings | undefined
  try {
    args = argsSchema === undefined ? undefined : stringsOf(argsSchema, app, `Prompt "${name}": argsSchema`, options)
  } catch (error) {
    throw new MCP_ERR_PROMPT_SCHEMA(name, (error as Error).message)
  }
  let complete, gate, listed
  try {
    inspect('Prompt', name, prompt, app)
    complete = completersOf(prompt.complete, args && Object.keys(args.properties))
    gate = gateOf(prompt)
    listed = listedOf(prompt, args)
  } catch (error) {
    throw new MCP_ERR_PROMPT_DEFINITION(name, (error as Error).message)
  }
  const check = checkOf(args)
  return { name, app, handler, check, redact: args && redactorOf(args.schema, check), complete, gate, description, listed }
}

/** Strings alone: on the wire there is nothing else, and what the schema does not name is passed on. */
function checkOf (args: Strings | undefined): Check {
  const quiet = args !== undefined && isSensitive(args.schema)
  return value => {
    for (const [name, one] of Object.entries(value as object)) {
      if (typeof one !== 'string') return `/${quiet && !Object.hasOwn(args.properties, name) ? '*' : name} must be string`
    }
    return args?.check(value)
  }
}

function listedOf ({ name, title, description, icons, _meta }: Prompt, args: Strings | undefined): Record<string, unknown> {
  return JSON.parse(JSON.stringify({ name, title, description, arguments: args && argumentsOf(args), icons, _meta }))
}

const argumentsOf = ({ properties, required }: Strings) => Object.entries(properties).map(([name, { title, description }]) => ({
  name,
  title,
  description,
  required: required.includes(name)
}))

/** The result of `prompts/get`, from whatever form the handler gave it. @throws TypeError that says what the handler should have returned */
export function resultOf (entry: Entry, value: unknown): Record<string, unknown> {
  const { description } = entry
  if (typeof value === 'string') return { description, messages: [user(value)] }
  if (Array.isArray(value)) return { description, messages: value.map(one => messageOf(entry, one)) }
  if (isObject(value) && Array.isArray(value.messages)) {
    const { messages, _meta, description: own = description } = value
    const problem = shownProblem({ description: own, _meta })
    if (problem !== undefined) throw new TypeError(`The handler of prompt "${entry.name}" returned what no client could read: ${problem}`)
    return { description: own, messages: messages.map(one => messageOf(entry, one)), _meta }
  }
  return { description, messages: [messageOf(entry, value)] }
}

function messageOf (entry: Entry, value: unknown): PromptMessage {
  const { role, content } = isObject(value) ? value : {}
  if ((role === 'user' || role === 'assistant') && isObject(content) && typeof content.type === 'string') {
    const problem = blockProblem(content)
    if (problem !== undefined) throw new TypeError(`The handler of prompt "${entry.name}" returned what no client could read: content${problem}`)
    return value as PromptMessage
  }
  throw new TypeError(`The handler of prompt "${entry.name}" must return a string, a message { role, content }, messages or { messages }`)
}
