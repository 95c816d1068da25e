import { isObject } from '../jsonrpc.js'
import { shownProblem } from './definition.js'

// Content as an author gave it, by the words of the newest revision. A block that clients do not know costs them the whole result.

const NOT_BASE64 = /[^A-Za-z0-9+/]/
const TYPES = 'text, image, audio, resource_link, resource'

/** What is wrong with content, with the place; undefined where nothing is. Plain text passes by a look at it. */
export function blocksProblem (blocks: readonly unknown[]): string | undefined {
  for (let i = 0; i < blocks.length; i++) {
    const problem = blockProblem(blocks[i])
    if (problem !== undefined) return `content[${i}]${problem}`
  }
}

/** What is wrong with one block, beginning with the place in it. */
export function blockProblem (block: unknown): string | undefined {
  if (!isObject(block)) return ` must be an object, got ${kind(block)}`
  const { type, text, annotations, _meta } = block
  if (type === 'text' && typeof text === 'string' && annotations === undefined && _meta === undefined) return undefined
  return ownProblem(block) ?? shownAt(block)
}

function ownProblem (block: Record<string, unknown>): string | undefined {
  const { type, data, mimeType, resource } = block
  switch (type) {
    case 'text': return stringAt(block, 'text')
    case 'image':
    case 'audio': return base64At('.data', data) ?? (mimeType === undefined ? '.mimeType is required' : undefined)
    case 'resource_link': return stringAt(block, 'uri') ?? stringAt(block, 'name')
    case 'resource': return isObject(resource) ? prefixed('.resource', heldProblem(resource)) : `.resource must be an object, got ${kind(resource)}`
    default: return `.type must be one of ${TYPES}, got ${JSON.stringify(type)}`
  }
}

/** What is wrong with what a resource holds: text or base64, and whose. */
export function heldProblem (held: Record<string, unknown>): string | undefined {
  const { text, blob } = held
  if ((text === undefined) === (blob === undefined)) return ' must have one of text and blob'
  return stringAt(held, 'uri') ?? (blob === undefined ? stringAt(held, 'text') : base64At('.blob', blob)) ?? shownAt(held)
}

/** Bytes in a string must be base64 as RFC 4648 section 4 has it: neither a data: URL nor base64url nor in lines. */
function base64At (at: string, value: unknown): string | undefined {
  if (typeof value !== 'string') return `${at} must be base64, got ${kind(value)}`
  const end = value.endsWith('==') ? value.length - 2 : value.endsWith('=') ? value.length - 1 : value.length
  if (value.length % 4 !== 0 || NOT_BASE64.test(value.slice(0, end))) return `${at} must be base64 (RFC 4648 section 4), got ${JSON.stringify(value.slice(0, 40))}${value.length > 40 ? '…' : ''}`
}

function shownAt (value: object): string | undefined {
  const problem = shownProblem(value)
  return problem && problem.replace(/^\S+/, path => path.replaceAll('/', '.'))
}

const stringAt = (of: Record<string, unknown>, name: string): string | undefined => typeof of[name] === 'string' ? undefined : `.${name} must be a string, got ${kind(of[name])}`
const prefixed = (at: string, problem: string | undefined) => problem === undefined ? undefined : at + problem
const kind = (value: unknown): string => value === undefined ? 'nothing' : value === null ? 'null' : Array.isArray(value) ? 'an array' : value instanceof Uint8Array ? 'bytes' : `a value of type ${typeof value}`
