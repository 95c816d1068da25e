import { isObject } from '../jsonrpc.js'

// How a question is put in the words of a revision.

type Members = Record<string, unknown>

/** What can be asked: absent where a revision has no such question. */
export interface AskWords {
  /** A request of the server's own, awaited; or the result of the call, which is then made again. */
  readonly as: 'request' | 'result'
  /** Whether the capabilities of a client have parts: form, url, tools, context. */
  readonly parts: boolean
  readonly sampling: { readonly content: readonly string[], readonly tools: boolean }
  readonly form?: 'plain' | 'full'
  /** Whether pages can be opened, and whether such a question has an id. */
  readonly url?: 'with id' | 'plain'
}

const SAMPLING_TOOLS = ['tools', 'toolChoice']

/** The params of the question; a string says what the revision has no words for. */
export function asked (words: AskWords, method: string, params: Members, id: string): Members | string {
  if (method === 'roots/list') return params
  if (method === 'sampling/createMessage') return sampling(words, params)
  if (params.mode === 'url') {
    if (words.url === undefined) return 'it has no pages to open (elicitation by URL came with 2025-11-25)'
    return words.url === 'with id' ? { ...params, elicitationId: id } : params
  }
  if (words.form === undefined) return 'it has no elicitation (that came with 2025-06-18)'
  return words.form === 'full' ? params : plainForm(params)
}

function sampling ({ sampling: can }: AskWords, params: Members): Members | string {
  if (!can.tools && SAMPLING_TOOLS.some(name => params[name] !== undefined)) return 'sampling has no tools in it (they came with 2025-11-25)'
  for (const message of params.messages as { content: unknown }[]) {
    if (Array.isArray(message.content) && !can.tools) return 'a message has one block of content in it (more came with 2025-11-25)'
    for (const block of [message.content].flat()) {
      if (isObject(block) && !can.content.includes(String(block.type)) && !can.tools) return `a message has no ${block.type} in it`
    }
  }
  return params
}

/** 2025-06-18 knows no defaults but those of booleans, titles of choices as a second list, and no choice of several. */
function plainForm (params: Members): Members | string {
  const schema = params.requestedSchema as { properties: Record<string, Members> }
  const properties: Members = {}
  for (const [name, field] of Object.entries(schema.properties)) {
    if (field.type === 'array') return `a form has no choice of several ("${name}") in it`
    const { oneOf, default: preset, ...rest } = field
    const choices = Array.isArray(oneOf) ? { enum: oneOf.map(one => one.const), enumNames: oneOf.map(one => one.title) } : {}
    properties[name] = { ...rest, ...choices, ...(field.type === 'boolean' && preset !== undefined && { default: preset }) }
  }
  return { ...params, requestedSchema: { ...schema, properties } }
}
