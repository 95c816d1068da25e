import type { JWTVerifyGetKey } from 'jose'

/** After a fetch that failed, in ms: the library waits only after one that did not. */
const COOL_DOWN = 5_000

/**
 * The keys of an issuer, fetched when they are first needed, too old, or lack the one that is asked for. While they cannot be fetched, those known so far count,
 * and whoever comes with another key makes no server fetch for each request.
 */
export function remoteKeys (jose: typeof import('jose'), url: URL): JWTVerifyGetKey {
  const remote = jose.createRemoteJWKSet(url)
  let failure: { error: unknown, until: number } | undefined
  const known: JWTVerifyGetKey = async (...wanted) => {
    const keys = remote.jwks()
    if (keys !== undefined) {
      try { return await jose.createLocalJWKSet(keys)(...wanted) } catch { /* not among them, so it may be new */ }
    }
    throw failure?.error
  }
  return async (...wanted) => {
    if (failure !== undefined && Date.now() < failure.until) return await known(...wanted)
    try {
      const key = await remote(...wanted)
      failure = undefined
      return key
    } catch (error) {
      if (error instanceof jose.errors.JWKSNoMatchingKey || error instanceof jose.errors.JWKSMultipleMatchingKeys || error instanceof jose.errors.JOSENotSupported) throw error
      failure = { error, until: Date.now() + COOL_DOWN }
      return await known(...wanted)
    }
  }
}
