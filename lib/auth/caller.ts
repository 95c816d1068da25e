import type { AuthInfo } from '../../types/index.js'

// Who makes a request, out of the claims of a token (RFC 9068 section 2.2, RFC 7662 section 2.2).

/** A token that opens nothing; its message may be told. */
export class InvalidToken extends Error {
  override readonly name = 'InvalidToken'
  readonly error: 'invalid_token' | 'invalid_dpop_proof'

  constructor (message: string, error: InvalidToken['error'] = 'invalid_token') {
    super(message)
    this.error = error
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

/** One name for one caller: what is theirs is found by it. A refreshed token has the same. */
export const principalOf = ({ issuer, subject, clientId }: AuthInfo): string => JSON.stringify([issuer ?? null, subject, clientId ?? null])

/** The thumbprint of the key that the token is bound to (RFC 9449 section 6.1). */
export function boundKey (claims: Claims | undefined): string | undefined {
  const cnf = claims?.cnf
  return typeof cnf === 'object' && cnf !== null ? text((cnf as { jkt?: unknown }).jkt) : undefined
}
