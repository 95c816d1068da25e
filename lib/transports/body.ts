import type { FastifyInstance } from 'fastify'
import { rpcError } from '../errors.js'
import { parse } from '../jsonrpc.js'
import { read } from './sockets.js'

/** The text of the body, on a request of this transport. */
export const kRaw = Symbol('fastify-mcp-plugin.raw')

/** JSON between systems is UTF-8 (RFC 8259 section 8.1): bytes of another charset would be read as other characters. */
const OTHER_CHARSET = /;\s*charset\s*=\s*"?(?!(utf-?8|us-ascii)"?\s*(;|$))/i

/** JSON alone, whatever parsers the app has: another type let in would let a web page post here without a preflight. An empty body is for the handler to judge: DELETE has none. */
export function onlyJson (scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    read(request.raw)
    if (OTHER_CHARSET.test(request.headers['content-type'] ?? '')) return done(rpcError('UnsupportedMediaType', 'send UTF-8'))
    if (body === '') return done(null, undefined)
    const text = (body as string).startsWith('\ufeff') ? (body as string).slice(1) : body as string
    try {
      ;(request as { [kRaw]?: string })[kRaw] = text
      done(null, parse(text))
    } catch (error) {
      done(error as Error)
    }
  })
}
