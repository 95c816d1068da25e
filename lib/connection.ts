import type { FastifyRequest } from 'fastify'
import type { AuthInfo, ClientCapabilities, Connection as Public, Implementation } from '../types/index.js'
import { principalOf } from './auth/caller.js'
import { isObject, kindOf } from './jsonrpc.js'
import type { Request } from './jsonrpc.js'
import { META } from './schemas/envelope.js'
import type { McpServer } from './server.js'
import type { Session } from './session.js'

/** What a route of the plugin carries in its config. */
export interface RouteInfo { transport: 'http' | 'http-sse', endpoint: string, server: McpServer }

/** Set on a request whose reply has become a stream. */
export const kStreaming = Symbol('fastify-mcp-plugin.streaming')
/** Who makes the request: set by the plugin's own `onRequest`. */
export const kAuth = Symbol('fastify-mcp-plugin.auth')
export const kConnection = Symbol('fastify-mcp-plugin.connection')

export const authOf = (request: FastifyRequest): AuthInfo | undefined => (request as { [kAuth]?: AuthInfo })[kAuth]

export function principalIn (request: FastifyRequest): string | undefined {
  const caller = authOf(request)
  return caller && principalOf(caller)
}

/** `request.mcp`: worked out of the request when it is asked for, so a request that nobody asks about pays nothing. */
export class Connection implements Public {
  readonly transport: 'http' | 'http-sse'
  readonly endpoint: string
  readonly #server: McpServer
  readonly #request: FastifyRequest

  constructor ({ transport, endpoint, server }: RouteInfo, request: FastifyRequest) {
    this.transport = transport
    this.endpoint = endpoint
    this.#server = server
    this.#request = request
  }

  get session (): Session | undefined {
    const { query, headers } = this.#request
    const id = this.transport === 'http-sse' ? (query as { sessionId?: unknown } | undefined)?.sessionId : headers['mcp-session-id']
    return typeof id === 'string' ? this.#server.sessions.peek(id, this.transport, principalIn(this.#request)) : undefined
  }

  get stream (): boolean { return (this.#request as { [kStreaming]?: boolean })[kStreaming] === true }
  get auth (): AuthInfo | undefined { return authOf(this.#request) }

  get revision () {
    const { session } = this
    if (this.transport === 'http-sse') return session?.served.revision.version
    const { revisions } = this.#server
    const { body, headers } = this.#request
    if (kindOf(body) !== 'request') return session?.served.revision.version
    try {
      return revisions.choose(body as Request, headers['mcp-protocol-version'] as string | undefined, session?.served).revision.version
    } catch { // the reply will say what is wrong with it
      return undefined
    }
  }

  get client (): Implementation | undefined { return (this.#said('clientInfo', META.clientInfo) ?? this.session?.client) as Implementation | undefined }
  get capabilities (): ClientCapabilities { return (this.#said('capabilities', META.clientCapabilities) ?? this.session?.capabilities ?? {}) as ClientCapabilities }

  /** What the message itself says: in the params of a handshake, else in `_meta`. */
  #said (word: string, key: string): unknown {
    const { body } = this.#request
    const params = isObject(body) ? body.params : undefined
    if (isObject(body) && isObject(params) && kindOf(body) === 'request' && this.#server.revisions.opens(body as unknown as Request)) return isObject(params[word]) ? params[word] : undefined
    const meta = isObject(params) ? params._meta : undefined
    return isObject(meta) && isObject(meta[key]) ? meta[key] : undefined
  }
}

export function connectionOf (request: FastifyRequest & { [kConnection]?: Connection | null | undefined }): Connection | null {
  if (request[kConnection] === undefined) {
    const info = (request.routeOptions.config as { mcp?: RouteInfo } | undefined)?.mcp
    request[kConnection] = info === undefined ? null : new Connection(info, request)
  }
  return request[kConnection] as Connection | null
}
