import type { AuthInfo, IntrospectionOptions } from '../../types/index.js'
import { callerOf, InvalidToken, NOT_HERE } from './caller.js'

const TIMEOUT = 5_000

/** Asks the issuer about a token (RFC 7662). */
export function introspector (options: IntrospectionOptions): (token: string) => Promise<AuthInfo> {
  const { endpoint, clientId, clientSecret, issuer, audience, timeout = TIMEOUT } = options
  const audiences = [audience].flat()
  // RFC 6749 section 2.3.1: both are form-encoded before they are joined.
  const encoded = (value: string) => new URLSearchParams({ v: value }).toString().slice(2)
  const authorization = `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`
  return async token => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { authorization, accept: 'application/json' },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeout)
    })
    if (response.status !== 200) throw new Error(`The introspection endpoint answered ${response.status}`)
    const said = await response.json() as Record<string, unknown>
    const now = Date.now() / 1000
    if (said.active !== true) throw new InvalidToken('the token is not active')
    if (said.iss !== undefined && said.iss !== issuer) throw new InvalidToken(NOT_HERE, { detail: 'the answer has another iss than issuer' })
    if (![said.aud].flat().some(one => audiences.includes(one as string))) throw new InvalidToken(NOT_HERE, { detail: `the answer has ${said.aud === undefined ? 'no aud' : 'another aud than audience'}` })
    if (typeof said.exp === 'number' && said.exp <= now) throw new InvalidToken('the token has expired')
    if (typeof said.nbf === 'number' && said.nbf > now) throw new InvalidToken('the token is not valid yet')
    return callerOf(said, issuer)
  }
}
