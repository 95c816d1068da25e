import type { IncomingHttpHeaders } from 'node:http'
import { rpcError } from '../errors.js'
import type { Request } from '../jsonrpc.js'
import type { Mirrored, Served } from '../method.js'

// Headers that repeat parts of the body: a proxy routes by the one, the server acts on the other, so they must agree
// (2026-07-28 basic/transports/streamable-http, Request Metadata and Server Validation).

const ENCODED = /^=\?base64\?(.*)\?=$/s
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DECIMAL = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i
const PLAIN = /^[\t\x20-\x7e]*$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws McpError -32020 */
export function checkMirrors (served: Served, message: Request, headers: IncomingHttpHeaders): void {
  const { method, params } = message
  compare('Mcp-Method', headers['mcp-method'], method)
  const found = served.methods.get(method)?.method
  if (found === undefined || params === undefined || params === null) return
  if (found.named !== undefined && typeof params[found.named] === 'string') {
    compare('Mcp-Name', decode('Mcp-Name', headers['mcp-name']), params[found.named])
  }
  for (const mirrored of found.mirrored?.(params) ?? []) checkParam(mirrored, headers[`mcp-param-${mirrored.header.toLowerCase()}`])
}

/** @param quiet neither of them may be told */
function compare (name: string, header: string | string[] | undefined, body: unknown, quiet = false): void {
  if (header === body) return
  if (header === undefined) throw rpcError('HeaderMismatch', `${name} is missing; the body ${quiet ? 'has a value for it' : `says ${JSON.stringify(body)}`}`)
  throw rpcError('HeaderMismatch', quiet ? `${name} is not what the body says` : `${name} is ${JSON.stringify(header)}, but the body says ${JSON.stringify(body)}`)
}

function checkParam ({ header, type, value, quiet }: Mirrored, raw: string | string[] | undefined): void {
  const name = `Mcp-Param-${header}`
  const text = decode(name, raw)
  // Neither absent nor null is mirrored, and what has the wrong type is for the tool's schema to say.
  if (value === undefined || value === null || typeof value === 'object') {
    if (text !== undefined) throw rpcError('HeaderMismatch', `${name} is ${quiet ? 'there' : JSON.stringify(text)}, but the body has no such value`)
    return
  }
  if (type === 'integer' && typeof value === 'number' && text !== undefined && DECIMAL.test(text) && Number(text) === value) return
  compare(name, text, String(value), quiet)
}

/** A value as it stands, or from the base64 form; the decoder of Node forgives too much to be asked. */
function decode (name: string, header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const value = String(header)
  if (!PLAIN.test(value)) throw rpcError('HeaderMismatch', `${name} holds characters that a header cannot; use the =?base64?…?= form`)
  const encoded = ENCODED.exec(value)?.[1]
  if (encoded === undefined) return value
  try {
    const bytes = Buffer.from(encoded, 'base64')
    if (!BASE64.test(encoded) || bytes.toString('base64') !== encoded) throw new TypeError('not base64')
    return utf8.decode(bytes)
  } catch {
    throw rpcError('HeaderMismatch', `${name} is not valid base64 of UTF-8`)
  }
}
