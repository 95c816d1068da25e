import type { FastifyInstance } from 'fastify'
import { parse } from '../jsonrpc.js'

/** The text of the body, on a request of this transport. */
export const kRaw = Symbol('fastify-mcp-plugin.raw')

/** JSON alone, whatever parsers the app has: another type let in would let a web page post here without a preflight. An empty body is for the handler to judge: DELETE has none. */
export function onlyJson (scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
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
