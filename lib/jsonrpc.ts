// JSON-RPC 2.0 as MCP uses it: recognise what came in, write what goes out. Knows nothing of MCP.

export type Id = string | number
export type Params = Record<string, unknown>
export interface Request { jsonrpc: '2.0', id: Id, method: string, params?: Params | null }
export interface Notification { jsonrpc: '2.0', method: string, params?: Params | null }
export interface Response { jsonrpc: '2.0', id: Id, result?: unknown, error?: { code: number, message: string, data?: unknown } }
export type Kind = 'request' | 'notification' | 'response' | 'invalid'

export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const isId = (id: unknown): id is Id => typeof id === 'string' || Number.isSafeInteger(id)

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
