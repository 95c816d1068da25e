import type { Questions } from './input.js'
import type { AudioContent, Bytes, ContentBlock, ContentExtra, EmbeddedInit, EmbeddedResource, ImageContent, InputRequiredInit, InputRequiredResult, ResourceLink, PromptMessage, Result, ResultInit, Role, TextContent } from '../types/index.js'

// What an author builds results from.

const kInputRequired = Symbol.for('fastify-mcp-plugin.inputRequired')

const kResult = Symbol.for('fastify-mcp-plugin.result')
export const base64 = (data: Bytes): string => typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')

export const text = (text: string, extra?: ContentExtra): TextContent => ({ type: 'text', text, ...extra })
export const image = (data: Bytes, mimeType: string, extra?: ContentExtra): ImageContent => ({ type: 'image', data: base64(data), mimeType, ...extra })
export const audio = (data: Bytes, mimeType: string, extra?: ContentExtra): AudioContent => ({ type: 'audio', data: base64(data), mimeType, ...extra })
export const resourceLink = (link: Omit<ResourceLink, 'type'>): ResourceLink => ({ type: 'resource_link', ...link })

export function embedded (init: EmbeddedInit, extra?: ContentExtra): EmbeddedResource {
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
export const inputRequired = (init: InputRequiredInit): InputRequiredResult => ({ ...init, [kInputRequired]: true }) as unknown as InputRequiredResult
export const isInputRequired = (value: unknown): value is { questions: Questions, state: unknown } => typeof value === 'object' && value !== null && kInputRequired in value
