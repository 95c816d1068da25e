import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Cluster } from '../cluster/cluster.js'
import { rpcError } from '../errors.js'
import type { McpServer } from '../server.js'
import { HttpTransport, SESSION } from './http.js'
import { sendError } from './reply.js'
import { sendHeaders } from './stream.js'
import type { Streams } from './stream.js'

/** Mounts the transport on a scope of its own. */
export function mount (scope: FastifyInstance, server: McpServer, streams: Streams): void {
  const { path, limits } = server.settings
  const base = path.replace(/\/+$/, '')
  const loose = scope.initialConfig.ignoreTrailingSlash === true || scope.initialConfig.routerOptions?.ignoreTrailingSlash === true
  const spellings = base === '' ? ['/'] : loose ? [base] : [base, `${base}/`]
  const transport = new HttpTransport(server, streams, (request, reply) => enter.call(scope, request, reply))
  // @fastify/sse wraps a handler on its own route; that wrapped one is entered only by replies that stream (its cost is not paid by the others).
  let enter: RouteHandlerMethod = () => { throw new Error('@fastify/sse has wrapped no handler') }
  scope.addHook('onRoute', route => {
    if (route.sse === undefined) return
    enter = route.handler
    route.handler = transport.post
  })
  const config = (kind: 'http' | 'http-sse'): object => ({ mcp: { transport: kind, endpoint: scope.prefix + (base === '' ? '/' : base), server } })
  for (const url of spellings) {
    scope.route({ method: 'POST', url, bodyLimit: limits.body, config: config('http'), sse: { kind: 'manual', heartbeat: false, serializer: String }, handler: sendHeaders })
    const others: string[] = ['PUT', 'PATCH', 'HEAD']
    if (transport.handshakes && (transport.hears || transport.message !== undefined)) scope.get(url, { config: config('http'), exposeHeadRoute: false }, transport.get)
    else others.push('GET')
    if (transport.handshakes && transport.hears) scope.delete(url, { config: config('http') }, transport.delete)
    else others.push('DELETE')
    const allow = ['GET', 'POST', 'DELETE'].filter(verb => !others.includes(verb)).join(', ')
    scope.route({ method: others, url, config: config('http'), handler: (request, reply) => sendError(reply.header('allow', allow), rpcError('MethodNotAllowed', `use ${allow}`), undefined) })
  }
  if (server.cluster !== undefined) scope.addHook('preParsing', arrival(server.cluster, server))
  if (transport.message !== undefined) scope.post(`${base}/messages`, { bodyLimit: limits.body, config: config('http-sse') }, transport.message)
}

/** What all processes know of a session is read before anything asks for it. Requests that carry their own context need none of it. */
function arrival ({ sessions }: Cluster, { revisions }: McpServer) {
  return async (request: FastifyRequest) => {
    const id = request.headers[SESSION]
    if (typeof id === 'string' && !revisions.isStateless(request.headers['mcp-protocol-version'] as string | undefined)) await sessions.load(id)
  }
}
