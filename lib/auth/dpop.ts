import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Store } from '../../types/index.js'
import { InvalidToken } from './caller.js'

// Proof of possession (RFC 9449 section 4.3): the caller signs each request with the key that its token is bound to.

export const DPOP_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519']
/** How old a proof may be, or how far ahead, in seconds. */
const AGE = 60
const MAX_PROOFS = 100_000
/** In ms: one that is ahead by AGE counts until it is 2 * AGE old. */
const REMEMBERED = 3 * AGE * 1000

export interface ProofContext { token: string, key: string, method: string, url: string }

/** Proofs that were used, as long as they would count again. */
export class Proofs {
  private readonly used = new LRUCache<string, true>({ max: MAX_PROOFS, ttl: REMEMBERED })
  private readonly store: Store | undefined

  /** @param store tells those of other processes, as long as it can be reached */
  constructor (store?: Store) { this.store = store }

  /** @throws InvalidToken */
  async check (proof: unknown, { token, key, method, url }: ProofContext): Promise<void> {
    if (typeof proof !== 'string' || proof === '') throw invalid('the header DPoP is missing')
    const { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } = await import('jose')
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: DPOP_ALGORITHMS, clockTolerance: AGE, maxTokenAge: AGE, requiredClaims: ['jti', 'htm', 'htu', 'iat'] })
      .catch((error: unknown) => { throw error instanceof errors.JOSEError ? invalid('the proof is not valid', error.message) : error })
    if (payload.htm !== method || plain(payload.htu) !== plain(url)) throw invalid('the proof is for another request')
    if (payload.ath !== createHash('sha256').update(token).digest('base64url')) throw invalid('the proof is for another token')
    const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk as Parameters<typeof calculateJwkThumbprint>[0])
    if (thumbprint !== key) throw invalid('the proof is by another key')
    if (typeof payload.jti !== 'string') throw invalid('the proof is not valid', 'jti must be a string')
    const id = createHash('sha256').update(`${thumbprint} ${payload.jti}`).digest('base64url')
    if (this.used.has(id)) throw invalid('the proof was used before')
    this.used.set(id, true)
    if (await this.store?.swap(`proof:${id}`, undefined, '1', REMEMBERED).catch(() => true) === false) throw invalid('the proof was used before')
  }
}

const invalid = (message: string, detail?: string) => new InvalidToken(message, { error: 'invalid_dpop_proof', detail })

/** Without query and fragment (RFC 9449 section 4.2), in the one spelling that URLs have. */
function plain (url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
