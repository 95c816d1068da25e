import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { McpError, rpcError } from '../errors.js'
import type { ErrorName } from '../errors.js'
import { errorText, readableId } from '../jsonrpc.js'
import type { BadMessage, Id } from '../jsonrpc.js'

export const JSON_TYPE = 'application/json; charset=utf-8'
const RETRY_AFTER = '30'

/** The client did not wait for it. */
export const isGone = ({ raw }: FastifyReply): boolean => raw.destroyed || raw.socket?.destroyed === true

/** A JSON-RPC error as the whole of an HTTP reply. */
export function sendError (reply: FastifyReply, error: McpError, id: Id | undefined): void {
  if (error.headers !== undefined) reply.headers(error.headers)
  sendJson(reply, errorText(id, error), error.status ?? 400)
}

export function sendJson (reply: FastifyReply, text: string, status: number): void {
  if (status !== 200) reply.code(status)
  if (status === 503 && !reply.hasHeader('retry-after')) reply.header('retry-after', RETRY_AFTER)
  reply.header('content-type', JSON_TYPE).send(text)
}

/** What Fastify refuses before the handler, in the shape that clients of JSON-RPC can read. */
const KNOWN: Record<string, ErrorName> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'BodyTooLarge',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UnsupportedMediaType',
  FST_ERR_CTP_INVALID_JSON_BODY: 'ParseError',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'ParseError',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'InvalidRequest'
}

/** The error handler of the plugin's own routes: hooks of the app may throw here too, an auth hook say. */
export function onError (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  sendError(reply, asRpc(error, request, reply.statusCode), (error as unknown as Partial<BadMessage>).id ?? readableId(request.body))
}

/** The status is that of the error, or else the one that a hook has set, as on any route of Fastify. */
function asRpc (error: FastifyError, request: FastifyRequest, set: number): McpError {
  if (error instanceof McpError) return error
  const known = KNOWN[error.code]
  if (known !== undefined) return rpcError(known, known === 'UnsupportedMediaType' ? 'send application/json' : undefined)
  const status = error.statusCode ?? (error as { status?: number }).status ?? (set >= 400 ? set : 500)
  if (status < 500) return new McpError(-32600, error.message, undefined, status)
  if (status === 503) return unavailable(error, request)
  request.log.error({ err: error }, 'unexpected error before the message was served')
  return new McpError(-32603, 'Internal error', undefined, status)
}

/** A hook sends the client away for now, as @fastify/under-pressure does: no fault, and at such times no work for the log. */
function unavailable ({ message }: FastifyError, { log }: FastifyRequest): McpError {
  log.warn({ reason: message }, 'a hook of the app refused the request with 503')
  return rpcError('Unavailable', 'try again later')
}
