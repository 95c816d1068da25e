import type { JWTVerifyGetKey } from 'jose'
import type { AuthInfo, JwtOptions } from '../../types/index.js'
import { callerOf, InvalidToken, NOT_HERE } from './caller.js'
import { remoteKeys } from './keys.js'

/** ES, PS, RS and EdDSA: an issuer signs, nobody else can. */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const CLOCK_TOLERANCE = 5
/** RFC 9068 section 2.1; many issuers say just JWT, or nothing. What is signed for another purpose has a type of its own (RFC 8725 section 3.11). */
const TYPES = /^(application\/)?(at\+)?jwt$/i
/** What the keys are to blame for, not the token. */
const TROUBLE = ['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC']

/** Checks access tokens that are JWTs. The library is loaded, and the keys are fetched, at the first of them. */
export function jwtVerifier (options: JwtOptions): (token: string) => Promise<AuthInfo> {
  const { issuer, audience, algorithms = ALGORITHMS, clockTolerance = CLOCK_TOLERANCE } = options
  let keys: JWTVerifyGetKey | undefined
  return async token => {
    const jose = await import('jose')
    keys ??= options.jwks === undefined
      ? remoteKeys(jose, new URL(options.jwksUri as string))
      : jose.createLocalJWKSet(options.jwks as Parameters<typeof jose.createLocalJWKSet>[0])
    const verified = jose.jwtVerify(token, keys, { issuer, audience: [audience].flat() as string[], algorithms: [...algorithms], clockTolerance, requiredClaims: ['exp', 'sub'] })
    const { payload, protectedHeader } = await verified.catch((error: unknown) => {
      if (error instanceof jose.errors.JOSEError && !TROUBLE.includes(error.code)) throw new InvalidToken(reason(error.code), { detail: error.message })
      throw error
    })
    if (protectedHeader.typ !== undefined && !TYPES.test(protectedHeader.typ)) throw new InvalidToken(NOT_HERE, { detail: `its typ is ${JSON.stringify(protectedHeader.typ)}, so it is no access token` })
    return callerOf(payload, issuer)
  }
}

const reason = (code: string): string => code === 'ERR_JWT_EXPIRED' ? 'the token has expired' : NOT_HERE
