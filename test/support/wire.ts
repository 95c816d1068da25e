// Holds every message that a server sends against the JSON schema of the revision it was sent under.
import { createRequire } from 'node:module'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
export type Revision = (typeof revisions)[number]
export type Id = string | number

// A message is whatever came over the wire, so its members are not typed any closer.
export interface Message {
  jsonrpc?: unknown
  id?: any
  method?: any
  params?: any
  result?: any
  error?: any
}

export interface About {
  /** The method of the request that a response answers. */
  method?: string | undefined
  /** The request's id could not be read, so JSON-RPC lets the error come without it. */
  idUnknown?: boolean | undefined
}

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))

export const specFolder = resolve(root, process.env.MCP_SPEC ?? join('..', 'shared', 'spec'))
export const specAvailable = revisions.every(revision => existsSync(join(specFolder, revision, 'schema.json')))

interface Schema {
  has: (definition: string) => boolean
  problems: (definition: string, value: unknown) => string[]
  /** Definition of a request or notification, by its method. */
  methods: Map<string, string>
  /** Definitions of errors that have a shape of their own, by code; some describe the whole response, some its `error`. */
  errors: Map<number, { definition: string, whole: boolean }>
}

const schemas = new Map<Revision, Schema>()

function schemaOf (revision: Revision): Schema {
  const known = schemas.get(revision)
  if (known !== undefined) return known
  const fresh = load(revision)
  schemas.set(revision, fresh)
  return fresh
}

function load (revision: Revision): Schema {
  const document = JSON.parse(readFileSync(join(specFolder, revision, 'schema.json'), 'utf8'))
  const recent = '$defs' in document
  const pool: Record<string, any> = recent ? document.$defs : document.definitions
  const Ajv = require(recent ? 'ajv/dist/2020' : 'ajv').default
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false })
  require('ajv-formats').default(ajv)
  ajv.addSchema(document, revision)

  const methods = new Map<string, string>()
  const errors = new Map<number, { definition: string, whole: boolean }>()
  for (const [definition, schema] of Object.entries(pool)) {
    const method = schema.properties?.method?.const
    if (method !== undefined && definition !== 'ClientNotification') methods.set(method, definition)
    const code = schema.properties?.code?.const
    if (code !== undefined) errors.set(code, { definition, whole: false })
    for (const part of schema.properties?.error?.allOf ?? []) {
      if (part.properties?.code?.const !== undefined) errors.set(part.properties.code.const, { definition, whole: true })
    }
  }
  return {
    methods,
    errors,
    has: definition => definition in pool,
    problems (definition, value) {
      const validate = ajv.getSchema(`${revision}#/${recent ? '$defs' : 'definitions'}/${definition}`)
      if (validate(value) === true) return []
      const lines: string[] = validate.errors.map((e: any) => `${definition}${e.instancePath} ${e.message}`)
      return [...new Set(lines)].slice(0, 5)
    }
  }
}

let told = false

/** Without the specification at hand a check is skipped with one loud line; in CI that is a failure. */
function unavailable (): string[] {
  if (process.env.CI) return [`the schemas of the specification are not at ${specFolder}; set MCP_SPEC`]
  if (!told) console.error(`\n!!! NO WIRE CHECK: the schemas of the specification are not at ${specFolder}; set MCP_SPEC !!!\n`)
  told = true
  return []
}

/** What a definition of the schema has against a value. */
export function checkDefinition (revision: Revision, definition: string, value: unknown): string[] {
  if (!specAvailable) return unavailable()
  const schema = schemaOf(revision)
  return schema.has(definition) ? schema.problems(definition, value) : [`${revision} defines no ${definition}`]
}

/** What is wrong with one message of a server; nothing, when the list is empty. */
export function checkWire (revision: Revision, message: unknown, about: About = {}): string[] {
  if (!specAvailable) return unavailable()
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return [`no JSON-RPC message: ${brief(message)}`]
  const schema = schemaOf(revision)
  const one = message as Message
  if ('error' in one) return 'result' in one ? ['a response with both result and error'] : checkError(revision, schema, one, about)
  if ('result' in one) return checkResult(revision, schema, one, about.method)
  if (typeof one.method === 'string') return checkOwn(revision, schema, one)
  return [`neither request, notification nor response: ${brief(message)}`]
}

function checkError (revision: Revision, schema: Schema, message: Message, about: About): string[] {
  const idless = message.id === undefined || message.id === null
  const whole = idless && about.idUnknown === true ? { ...message, id: 0 } : message
  const problems = schema.problems(schema.has('JSONRPCErrorResponse') ? 'JSONRPCErrorResponse' : 'JSONRPCError', whole)
  if (idless && about.idUnknown !== true) problems.push(`error ${message.error?.code} without the id of its request`)
  const code = message.error?.code
  const own = schema.errors.get(code)
  if (own !== undefined) problems.push(...schema.problems(own.definition, own.whole ? whole : message.error))
  // basic/index § Error Codes: what is not defined in the reserved range, and two codes of the past, are never sent.
  else if (revision === '2026-07-28' && ((code <= -32000 && code >= -32099))) problems.push(`code ${code} is not for this revision`)
  return problems
}

const mayAsk = new Set(['tools/call', 'prompts/get', 'resources/read'])

function checkResult (revision: Revision, schema: Schema, message: Message, method: string | undefined): string[] {
  const problems = schema.problems(schema.has('JSONRPCResultResponse') ? 'JSONRPCResultResponse' : 'JSONRPCResponse', message)
  const type = revision === '2026-07-28' ? message.result?.resultType : undefined
  if (type === 'task') return problems
  if (type === 'input_required') {
    if (method !== undefined && !mayAsk.has(method)) problems.push(`${method} may not ask for input`)
    return [...problems, ...schema.problems('InputRequiredResult', message.result)]
  }
  if (type !== undefined && type !== 'complete') problems.push(`resultType ${brief(type)}`)
  if (method === undefined) return [...problems, `a response to nothing that was asked: ${brief(message)}`]
  const request = schema.methods.get(method)
  if (request === undefined) return [...problems, `a result for ${method}, which ${revision} does not have`]
  const named = request.replace(/Request$/, 'Result')
  const task = revision === '2025-11-25' && message.result?.task !== undefined ? 'CreateTaskResult' : named
  return [...problems, ...schema.problems(schema.has(task) ? task : 'EmptyResult', message.result)]
}

function checkOwn (revision: Revision, schema: Schema, message: Message): string[] {
  const request = 'id' in message
  const problems = schema.problems(request ? 'JSONRPCRequest' : 'JSONRPCNotification', message)
  if (request && revision === '2026-07-28') problems.push(`a request of the server's own, ${message.method}`)
  const definition = schema.methods.get(message.method)
  if (definition === undefined) problems.push(`${message.method} is no method of ${revision}`)
  else if (definition.endsWith('Request') !== request) problems.push(`${message.method} ${request ? 'with' : 'without'} an id`)
  else problems.push(...schema.problems(definition, message))
  return problems
}

const brief = (value: unknown) => String(JSON.stringify(value)).slice(0, 120)
