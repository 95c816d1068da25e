import { MCP_ERR_CONTENT, MCP_ERR_INPUT } from './errors.js'
import type { Questions } from './input.js'
import { checkQuestions } from './question.js'
import type { AudioContent, Bytes, ContentBlock, ContentExtra, EmbeddedInit, EmbeddedResource, ImageContent, InputRequiredInit, InputRequiredResult, ResourceLink, PromptMessage, Result, ResultInit, Role, TextContent } from '../types/index.js'

// What an author builds results from.

const kInputRequired = Symbol.for('fastify-mcp-plugin.inputRequired')

const kResult = Symbol.for('fastify-mcp-plugin.result')

/** @throws MCP_ERR_CONTENT where it is neither */
export function base64 (data: Bytes): string {
  if (typeof data === 'string') return data
  if (!(data instanceof Uint8Array)) throw new MCP_ERR_CONTENT(`bytes are a Buffer, another Uint8Array or base64, got ${data === null ? 'null' : `a value of type ${typeof data}`}`)
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
}

export const text = (text: string, extra?: ContentExtra): TextContent => ({ type: 'text', text, ...extra })
export const image = (data: Bytes, mimeType: string, extra?: ContentExtra): ImageContent => ({ type: 'image', data: base64(data), mimeType, ...extra })
export const audio = (data: Bytes, mimeType: string, extra?: ContentExtra): AudioContent => ({ type: 'audio', data: base64(data), mimeType, ...extra })
export const resourceLink = (link: Omit<ResourceLink, 'type'>): ResourceLink => ({ type: 'resource_link', ...link })

export function embedded (init: EmbeddedInit, extra?: ContentExtra): EmbeddedResource {
  if (typeof init !== 'object' || init === null) throw new MCP_ERR_CONTENT(`embedded() takes { uri, text } or { uri, blob }, got ${String(init)}`)
  const resource = 'blob' in init && init.blob !== undefined ? { ...init, blob: base64(init.blob) } : init
  return { type: 'resource', resource: resource as EmbeddedResource['resource'], ...extra }
}

const message = (role: Role, content: string | ContentBlock): PromptMessage => ({ role, content: typeof content === 'string' ? text(content) : content })
export const user = (content: string | ContentBlock): PromptMessage => message('user', content)
export const assistant = (content: string | ContentBlock): PromptMessage => message('assistant', content)

/** The brand tells a result from a plain value that happens to have the same members. */
export const result = (init: ResultInit): Result => ({ ...init, [kResult]: true }) as unknown as Result
export const isResult = (value: unknown): value is Result => typeof value === 'object' && value !== null && kResult in value

/** A result that asks: the handler runs again with `ctx.answers` and `ctx.state`. */
export function inputRequired (init: InputRequiredInit): InputRequiredResult {
  const { questions, state } = init ?? {}
  if (typeof questions !== 'object' || questions === null || (Object.keys(questions).length === 0 && state === undefined)) throw new MCP_ERR_INPUT('inputRequired() needs { questions } with at least one, or a state to go on with')
  checkQuestions(questions)
  return { ...init, [kInputRequired]: true } as unknown as InputRequiredResult
}

export const isInputRequired = (value: unknown): value is { questions: Questions, state: unknown } => typeof value === 'object' && value !== null && kInputRequired in value
