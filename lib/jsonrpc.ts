import safe from 'secure-json-parse'
import { rpcError } from './errors.js'
import type { McpError } from './errors.js'

// JSON-RPC 2.0 as MCP uses it: recognise what came in, write what goes out. Knows nothing of MCP.

export type Id = string | number
export type Params = Record<string, unknown>
export interface Request { jsonrpc: '2.0', id: Id, method: string, params?: Params | null }
export interface Notification { jsonrpc: '2.0', method: string, params?: Params | null }
export interface Response { jsonrpc: '2.0', id: Id, result?: unknown, error?: { code: number, message: string, data?: unknown } }
export type Kind = 'request' | 'notification' | 'response' | 'invalid'

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isSafeInteger(id)

/** What comes later walks over the message; a deeper one would be too much for it. */
const MAX_DEPTH = 500
const [QUOTE, BACKSLASH] = [0x22, 0x5c]

/** A message that was refused, with its id where that can be read. */
export type BadMessage = McpError & { readonly id?: Id | undefined }

/** One message, or a batch. @throws BadMessage */
export function parse (text: string): unknown {
  let value
  try {
    value = safe.parse(text)
  } catch {
    throw unsafe(text)
  }
  if (text.length > 2 * MAX_DEPTH && tooDeep(text)) throw refused(`it is nested deeper than ${MAX_DEPTH} levels`, value)
  return value
}

/** What cannot be parsed is no JSON, or would set the prototype of what it is copied to. */
function unsafe (text: string): BadMessage {
  let value
  try {
    value = JSON.parse(text)
  } catch {
    return rpcError('ParseError', 'this is not JSON')
  }
  return refused('it has a member "__proto__" or "constructor.prototype"', value)
}

const refused = (why: string, value: unknown): BadMessage => Object.assign(rpcError('InvalidRequest', why), { id: readableId(value) })

function tooDeep (text: string): boolean {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i)
    else if (code === 0x5b || code === 0x7b) { // [ and {
      if (++depth > MAX_DEPTH) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

function endOfString (text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
}

/** Where in a parsed value a number stands that is too large for one: Infinity, which is null when it is written again. Undefined where there is none. */
export function tooLargeIn (value: unknown, at = ''): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const found = tooLargeIn(member, `${at}/${name}`)
    if (found !== undefined) return found
  }
}

/** What a parsed value is. An id is a string or an integer, never null (2025-11-25 basic/index, Requests). */
export function kindOf (value: unknown): Kind {
  if (!isObject(value) || value.jsonrpc !== '2.0') return 'invalid'
  if (typeof value.method === 'string') return value.id === undefined ? 'notification' : isId(value.id) ? 'request' : 'invalid'
  if (value.method !== undefined || !isId(value.id)) return 'invalid'
  return 'result' in value !== 'error' in value ? 'response' : 'invalid'
}

/** The id to put on an error about a value that was refused, where one can be read. */
export const readableId = (value: unknown): Id | undefined => isObject(value) && isId(value.id) ? value.id : undefined

const idText = (id: Id): string => typeof id === 'number' ? String(id) : JSON.stringify(id)

/** `result` is JSON text already. */
export const resultText = (id: Id, result: string): string => `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`

/** Without an id the member is left out: MCP's schemas know no null (2025-11-25 basic/index, Error Responses). */
export function errorText (id: Id | undefined, error: { code: number, message: string, data?: unknown }): string {
  const head = id === undefined ? '{"jsonrpc":"2.0"' : `{"jsonrpc":"2.0","id":${idText(id)}`
  const { code, message, data } = error
  try {
    return `${head},"error":${JSON.stringify({ code, message, data })}}`
  } catch { // data that JSON cannot carry must not cost the caller the answer
    return `${head},"error":${JSON.stringify({ code, message })}}`
  }
}

export const notificationText = (method: string, params: Params): string => JSON.stringify({ jsonrpc: '2.0', method, params })

/** Numbers are most of what is written by hand, and JSON.stringify is slow at single values. */
const json = (value: unknown): string => typeof value === 'number' && Number.isFinite(value) ? String(value) : JSON.stringify(value) ?? 'null'
const member = (name: string, value: unknown): string => value === undefined ? '' : `,"${name}":${json(value)}`

/** Put together by hand, since a call may send many: JSON.stringify takes four times as long. */
export const progressText = (token: Id, progress: number, total: number | undefined, message: string | undefined): string =>
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${idText(token)},"progress":${json(progress)}${member('total', total)}${member('message', message)}}}`
