import type { AuthInfo } from '../../types/index.js'
import { kindOf, preview } from '../preview.js'

// Who makes a request, out of the claims of a token (RFC 9068 section 2.2, RFC 7662 section 2.2).

/** What is told of a token where more would help whoever forged it. */
export const NOT_HERE = 'the token is not valid here'

/** A token that opens nothing. Its message may be told; `detail` is for the log. */
export class InvalidToken extends Error {
  override readonly name = 'InvalidToken'
  readonly error: 'invalid_token' | 'invalid_dpop_proof' | 'invalid_request'
  readonly detail: string | undefined

  constructor (message: string, { error = 'invalid_token', detail }: { error?: InvalidToken['error'], detail?: string | undefined } = {}) {
    super(message)
    this.error = error
    this.detail = detail
  }
}

type Claims = Readonly<Record<string, unknown>>

const text = (value: unknown): string | undefined => typeof value === 'string' && value !== '' ? value : undefined

/** @throws InvalidToken where it does not say whose it is */
export function callerOf (claims: Claims, issuer: string): AuthInfo {
  const subject = text(claims.sub)
  if (subject === undefined) throw new InvalidToken('the token has no subject')
  return {
    subject,
    issuer,
    clientId: text(claims.client_id) ?? text(claims.azp),
    scopes: scopesIn(claims.scope ?? claims.scp),
    expiresAt: typeof claims.exp === 'number' ? claims.exp * 1000 : undefined,
    claims
  }
}

/** A string with spaces, or an array. */
function scopesIn (scope: unknown): string[] {
  if (Array.isArray(scope)) return scope.filter(one => typeof one === 'string')
  return typeof scope === 'string' ? scope.split(' ').filter(one => one !== '') : []
}

/** What is wrong with a caller that the author's own code gave; undefined when nothing is. It may be a token or hold one, so of what has the wrong form the kind alone is told. */
export function callerProblem (said: unknown): string | undefined {
  if (kindOf(said) !== 'object') return `it must be { subject, scopes, … }, got ${kindOf(said)}`
  const { subject, scopes, issuer, clientId, expiresAt } = said as Record<string, unknown>
  if (text(subject) === undefined) return `subject must be a string that names the caller, got ${subject === '' ? 'an empty one' : kindOf(subject)}`
  if (!Array.isArray(scopes) || !scopes.every(one => typeof one === 'string')) return `scopes must be an array of strings, got ${preview(scopes)}`
  for (const [name, value] of Object.entries({ issuer, clientId })) if (value !== undefined && text(value) === undefined) return `${name} must be a string where it is given, got ${value === '' ? 'an empty one' : kindOf(value)}`
  return expiresAt === undefined || Number.isFinite(expiresAt) ? undefined : `expiresAt must be a time in ms, as Date.now() gives it, got ${preview(expiresAt)}`
}

/** One name for one caller: what is theirs is found by it. A refreshed token has the same. */
export const principalOf = ({ issuer, subject, clientId }: AuthInfo): string => JSON.stringify([issuer ?? null, subject, clientId ?? null])

/** The thumbprint of the key that the token is bound to (RFC 9449 section 6.1). */
export function boundKey (claims: Claims | undefined): string | undefined {
  const cnf = claims?.cnf
  return typeof cnf === 'object' && cnf !== null ? text((cnf as { jkt?: unknown }).jkt) : undefined
}
