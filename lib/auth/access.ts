import type { FastifyRequest } from 'fastify'
import type { AuthInfo, AuthOptions } from '../../types/index.js'
import { certain } from '../certain.js'
import { rpcError, withHeaders } from '../errors.js'
import type { McpError } from '../errors.js'
import { challengeOf } from './challenge.js'
import type { Place } from './place.js'

/** What a caller may do. */
export class Access {
  /** Whether lists show what the caller has no scope for. */
  readonly shows: boolean
  private readonly implies: AuthOptions['implies']
  /** What every request needs. */
  private readonly always: readonly string[]
  private readonly place: Place | undefined
  private readonly failed: (error: unknown) => void

  /**
   * @param place where the metadata is; without it nobody can be told where to get a token
   * @param failed is told what `implies` throws
   */
  constructor ({ implies, denied = 'show', scopes = [] }: Pick<AuthOptions, 'implies' | 'denied' | 'scopes'>, place: Place | undefined, failed: (error: unknown) => void = () => {}) {
    this.failed = failed
    this.implies = implies
    this.always = scopes
    this.shows = denied === 'show'
    this.place = place
  }

  /** Whether the caller has all of `scopes`. Who is nobody has none. */
  covers (caller: AuthInfo | undefined, scopes: readonly string[]): boolean {
    const { implies } = this
    const granted = caller?.scopes ?? []
    return scopes.every(needed => granted.includes(needed) || (implies !== undefined && granted.some(one => certain(() => implies(one, needed), implies, this.failed))))
  }

  /**
   * Names all that an operation needs at once (2026-07-28 basic/authorization, Runtime Insufficient Scope Errors), and with it what every
   * request needs: a client may ask for just what it is told here, and its next token would open nothing.
   */
  insufficient (needed: readonly string[], request: FastifyRequest | undefined): McpError {
    const scopes = [...new Set([...this.always, ...needed])]
    const description = `this needs ${scopes.join(' ')}`
    const error = rpcError('InsufficientScope', description)
    if (this.place === undefined || request === undefined) return error
    const challenge = challengeOf({ metadata: this.place.metadata(request), scopes, error: 'insufficient_scope', description })
    return withHeaders(error, { 'www-authenticate': challenge })
  }
}
