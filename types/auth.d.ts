import type { FastifyRequest } from 'fastify'
import type { Context } from './context.js'

/** Who makes the request, as its token says. */
export interface AuthInfo {
  /** The user: `sub` of the token. */
  readonly subject: string
  /** Who vouches for the user: `iss` of the token. A subject is one of its issuer alone. */
  readonly issuer?: string | undefined
  /** The client that acts for the user: `client_id` or `azp` of the token. */
  readonly clientId?: string | undefined
  /** What the user lets the client do. */
  readonly scopes: readonly string[]
  /** When the token ends, in ms of `Date.now()`. Streams that were opened with it end then. */
  readonly expiresAt?: number | undefined
  /** All that the token says. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** Access tokens that are JWTs. Source: RFC 9068; 2026-07-28 basic/authorization (Token Handling). */
export interface JwtOptions {
  /** `iss` that a token must have. */
  issuer: string
  /** `aud` that a token must have, or be one of: as a rule the URL of the endpoint, as clients use it. */
  audience: string | readonly string[]
  /** Where the keys of the issuer are: https, or http on a loopback address. Fetched at the first token, and again when they are 10 minutes old or for an unknown key id, at most every 30 s. While they cannot be fetched, those known so far count, and it is tried every 5 s. */
  jwksUri?: string | undefined
  /** The keys themselves, in place of `jwksUri` (RFC 7517 section 5): public ones, never private or shared. */
  jwks?: { readonly keys: readonly object[] } | undefined
  /** Of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA and Ed25519. Default: all of them. Never `none`, nor a shared secret. */
  algorithms?: readonly string[] | undefined
  /** How far the clocks may be apart, in seconds. Default: 5. */
  clockTolerance?: number | undefined
  /** How long a token that was checked is not checked again, in ms, and never beyond its end. Default: 300_000. 0: each time. */
  cacheTtl?: number | undefined
}

/** Access tokens that their issuer is asked about. Source: RFC 7662. */
export interface IntrospectionOptions {
  /** Where to ask: https, or http on a loopback address, without a user. */
  endpoint: string
  /** Who this server is there: sent by HTTP Basic authentication. */
  clientId: string
  clientSecret: string
  /** Who issues the tokens: an answer with another `iss` is refused. */
  issuer: string
  /** `aud` that the answer must have, or be one of. */
  audience: string | readonly string[]
  /** How long to wait for an answer, in whole ms, 1 to 2_147_483_647. Default: 5_000. */
  timeout?: number | undefined
  /** How long an answer counts, in ms, and never beyond the end of the token. Default: 30_000. 0: asked each time. */
  cacheTtl?: number | undefined
}

/**
 * Who may use the endpoint. One of `jwt`, `introspection` and `authenticate`.
 * Source: 2026-07-28 basic/authorization; RFC 6750, RFC 9449, RFC 9728.
 */
export interface AuthOptions {
  jwt?: JwtOptions | undefined
  introspection?: IntrospectionOptions | undefined
  /**
   * Says who it is in a way of your own; nothing, or an error with `statusCode` 401, where it is nobody. Any other error is 503.
   * Runs before the body is read.
   */
  authenticate?: ((request: FastifyRequest) => AuthInfo | null | undefined | Promise<AuthInfo | null | undefined>) | undefined
  /** The URL of the endpoint as clients use it. Default: that of the request (behind a proxy: see Fastify's `trustProxy`). */
  resource?: string | undefined
  /** Where clients get their tokens. Default: the issuer of `jwt` or `introspection`; with `authenticate` none is named, so clients cannot find it by themselves. */
  authorizationServers?: readonly string[] | undefined
  /**
   * What every request needs, whatever it calls, and what clients ask for at first. Default: nothing, and clients are told to ask for all that
   * tools, resources and prompts need.
   */
  scopes?: readonly string[] | undefined
  /** Whether one scope holds another: `(granted, needed) => granted === 'files:*' && needed.startsWith('files:')`. Default: it holds itself alone. */
  implies?: ((granted: string, needed: string) => boolean) | undefined
  /** Whether lists show what the caller has no scope for, so that it can ask for more. What is hidden answers like what is not there. Default: `'show'`. */
  denied?: 'hide' | 'show' | undefined
  /** Tokens of `jwt` and `introspection` that are bound to a key (RFC 9449): checked where they come, or demanded. Default: `'accept'`. */
  dpop?: 'accept' | 'require' | undefined
  /** Serves the metadata of this endpoint at `/.well-known/oauth-protected-resource` too. Default: `false`. */
  rootMetadata?: boolean | undefined
  /** Who uses stdio: OAuth is not for it, so the process says (from its environment, say). Default: nobody in particular, who may do what needs no scope. */
  stdio?: AuthInfo | (() => AuthInfo) | undefined
}

/** Who sees a tool, a resource or a prompt, and who may use it. */
export interface Gated {
  /** What the caller must be allowed, all of it; without it a call is answered by 403 with a challenge. Source: 2026-07-28 basic/authorization. */
  readonly scopes?: readonly string[] | undefined
  /** Whether it is there for this caller: `true`, and at once; whatever else it gives or throws is no. What is not there answers like what is unknown. Lists are then `private`. */
  readonly visible?: ((ctx: Context) => boolean) | undefined
}
