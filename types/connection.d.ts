import type { AuthInfo } from './auth.js'
import type { Session } from './context.js'
import type { ClientCapabilities, Implementation, Revision } from './protocol.js'

/** `request.mcp`: what is known of the connection that a request belongs to. It is `null` on routes that are not ours. */
export interface Connection {
  /** `http` for Streamable HTTP, `http-sse` for the HTTP+SSE transport of 2024-11-05. Known in every hook. */
  readonly transport: 'http' | 'http-sse'
  /** The path that the plugin serves, with the prefix of the app, such as `/mcp`. Known in every hook. */
  readonly endpoint: string
  /** The session that the request names; `undefined` if it names none. Known in every hook. */
  readonly session: Session | undefined
  /** Whether the answer is a stream of server-sent events. */
  readonly stream: boolean
  /** Who makes the request; `undefined` without the option `auth`. Known once the plugin's own `onRequest` has run. */
  readonly auth: AuthInfo | undefined
  /** The revision that the request speaks. Known from `preHandler` on, `undefined` before. */
  readonly revision: Revision | undefined
  /** Name and version of the client; `undefined` if it did not say. Known from `preHandler` on. */
  readonly client: Implementation | undefined
  /** What the client can do; `{}` if it did not say. Known from `preHandler` on. */
  readonly capabilities: ClientCapabilities
}
