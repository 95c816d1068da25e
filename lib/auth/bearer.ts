import type { FastifyRequest } from 'fastify'
import type { AuthInfo, AuthOptions, Store } from '../../types/index.js'
import { rpcError, withHeaders } from '../errors.js'
import type { McpError } from '../errors.js'
import { isThenable } from '../thenable.js'
import type { Access } from './access.js'
import { boundKey, callerProblem, InvalidToken, NOT_HERE } from './caller.js'
import { challengeOf, credentialsOf } from './challenge.js'
import type { ChallengeParts } from './challenge.js'
import { DPOP_ALGORITHMS, Proofs } from './dpop.js'
import { introspector } from './introspection.js'
import { jwtVerifier } from './jwt.js'
import type { Place } from './place.js'
import { Tokens } from './tokens.js'

// Who makes a request: before its body is read, and on the routes of the plugin alone (2026-07-28 basic/authorization).

const JWT_TTL = 300_000
const INTROSPECTION_TTL = 30_000
const REFUSED = 'the access token is refused'
const NONE = 'there is none'
const NO_SCHEME = 'the header Authorization holds no token of a scheme that is known here'

export class Bearer {
  private readonly options: AuthOptions
  private readonly place: Place
  private readonly tokens: Tokens | undefined
  private readonly access: Access
  private readonly proofs: Proofs

  /** @param store where processes tell each other of proofs that were used */
  constructor (options: AuthOptions, place: Place, access: Access, store?: Store) {
    this.options = options
    this.place = place
    this.access = access
    this.proofs = new Proofs(store)
    const { jwt, introspection } = options
    if (jwt !== undefined) this.tokens = new Tokens(jwtVerifier(jwt), jwt.cacheTtl ?? JWT_TTL)
    else if (introspection !== undefined) this.tokens = new Tokens(introspector(introspection), introspection.cacheTtl ?? INTROSPECTION_TTL)
  }

  /** At once where the token is known. @throws McpError with a status and a challenge */
  check (request: FastifyRequest): AuthInfo | Promise<AuthInfo> {
    let caller
    try {
      caller = this.identify(request)
    } catch (error) {
      throw this.refusal(error, request)
    }
    if (!(caller instanceof Promise)) return this.allowed(caller, request)
    return caller.then(
      caller => this.allowed(caller, request),
      (error: unknown) => { throw this.refusal(error, request) })
  }

  private identify (request: FastifyRequest): AuthInfo | Promise<AuthInfo> {
    if ((request.query as Record<string, unknown> | undefined)?.access_token !== undefined) throw new InvalidToken('the token must come in the header Authorization')
    if (twice(request.raw.rawHeaders)) throw malformed('there must be one header Authorization')
    if (this.tokens === undefined) return this.custom(request)
    const credentials = credentialsOf(request.headers.authorization)
    if (credentials === undefined) throw new NoToken(request.headers.authorization === undefined ? NONE : NO_SCHEME)
    const { scheme, token } = credentials
    const caller = this.tokens.find(token)
    const key = caller instanceof Promise ? undefined : boundKey(caller.claims)
    if (!(caller instanceof Promise) && key === undefined && scheme === 'bearer' && this.options.dpop !== 'require') return caller
    return this.proved(caller, scheme, token, request)
  }

  /** A token that is bound to a key is nothing without the proof, and cannot pass for one that is not bound (RFC 9449 section 7.1). */
  private async proved (found: AuthInfo | Promise<AuthInfo>, scheme: 'bearer' | 'dpop', token: string, request: FastifyRequest): Promise<AuthInfo> {
    const caller = await found
    const key = boundKey(caller.claims)
    if (key === undefined) {
      if (scheme === 'dpop' || this.options.dpop === 'require') throw new InvalidToken('the token is bound to no key')
      return caller
    }
    if (scheme === 'bearer') throw new InvalidToken('the token is bound to a key; send it with the scheme DPoP')
    await this.proofs.check(request.headers.dpop, { token, key, method: request.method, url: this.place.url(request) })
    return caller
  }

  private custom (request: FastifyRequest): AuthInfo | Promise<AuthInfo> {
    const said = (this.options.authenticate as NonNullable<AuthOptions['authenticate']>)(request)
    const known = (caller: AuthInfo | null | undefined): AuthInfo => {
      if (!caller) throw nobody(request, request.headers.authorization === undefined ? NONE : 'auth.authenticate() gave no caller')
      const problem = callerProblem(caller)
      if (problem !== undefined) throw new Error(`auth.authenticate() gave no caller: ${problem}`)
      if ((caller.expiresAt ?? Infinity) <= Date.now()) throw new InvalidToken('the token has expired', { detail: `expiresAt is ${caller.expiresAt}; it is a time in ms` })
      return caller
    }
    return isThenable(said) ? Promise.resolve(said).then(known) : known(said)
  }

  private allowed (caller: AuthInfo, request: FastifyRequest): AuthInfo {
    const { scopes = [] } = this.options
    if (this.access.covers(caller, scopes)) return caller
    throw this.access.insufficient(scopes, request)
  }

  private refusal (error: unknown, request: FastifyRequest): McpError {
    const { scopes = [] } = this.options
    if (error instanceof NoToken) {
      request.log.info({ reason: error.message }, REFUSED)
      return this.refuse(request, 'Unauthorized', 'an access token is needed', { scopes })
    }
    if (error instanceof InvalidToken) {
      request.log.info({ reason: error.detail ?? error.message }, REFUSED)
      return this.refuse(request, error.error === 'invalid_request' ? 'InvalidRequest' : 'Unauthorized', error.message, { scopes, error: error.error, description: error.message })
    }
    if ((error as { statusCode?: unknown } | null)?.statusCode === 401) return this.refusal(nobody(request, without(request.headers.authorization, error)), request)
    request.log.error({ err: error }, 'access tokens cannot be checked')
    return rpcError('Unavailable', 'access tokens cannot be checked; try again later')
  }

  private refuse (request: FastifyRequest, name: 'Unauthorized' | 'InvalidRequest', detail: string, parts: Omit<ChallengeParts, 'metadata'>): McpError {
    return withHeaders(rpcError(name, detail), { 'www-authenticate': this.challenge(request, parts) })
  }

  private challenge (request: FastifyRequest, parts: Omit<ChallengeParts, 'metadata'>): string {
    const all = { ...parts, metadata: this.place.metadata(request) }
    const bearer = challengeOf(all)
    if (this.tokens === undefined) return bearer
    const dpop = `${challengeOf(all, 'DPoP')}, algs="${DPOP_ALGORITHMS.join(' ')}"`
    if (this.options.dpop === 'require') return dpop
    return parts.error === 'invalid_dpop_proof' ? dpop : bearer
  }
}

/** Node takes the first of several; what stands before this server may have checked another. */
function twice (rawHeaders: readonly string[]): boolean {
  let found = 0
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 13 && rawHeaders[i]?.toLowerCase() === 'authorization') found++
  return found > 1
}

/** What the author's own way says no to. */
const nobody = ({ headers }: FastifyRequest, detail: string): Error => headers.authorization === undefined ? new NoToken(detail) : new InvalidToken(NOT_HERE, { detail })

/** What the author's own code threw, without what the client sent: that is never logged. */
function without (authorization: string | undefined, error: unknown): string {
  const said = String((error as { message?: unknown }).message ?? 'auth.authenticate() refused it')
  const [first = '', ...rest] = authorization?.split(/\s+/) ?? []
  return (rest.length === 0 ? [first] : rest).filter(part => part !== '').reduce((text, part) => text.replaceAll(part, '[redacted]'), said)
}

/** Sent in two ways at once (RFC 6750 section 3.1; 2026-07-28 basic/authorization, Error Handling). */
const malformed = (message: string) => new InvalidToken(message, { error: 'invalid_request' })

/** Nobody said who it is, and why that is not known: the challenge says no error (RFC 6750 section 3.1). */
class NoToken extends Error {}
