// WWW-Authenticate (RFC 6750 section 3, RFC 9449 section 7.1, RFC 9728 section 5.1).

export interface ChallengeParts {
  /** URL of the protected resource metadata. */
  metadata: string
  scopes?: readonly string[]
  error?: 'invalid_token' | 'invalid_request' | 'insufficient_scope' | 'invalid_dpop_proof'
  description?: string
}

/** Values are quoted; what no quoted string may hold goes. */
const quoted = (value: string): string => `"${value.replace(/[^\x20-\x7e]/g, ' ').replace(/["\\]/g, '\\$&')}"`

export function challengeOf ({ metadata, scopes = [], error, description }: ChallengeParts, scheme = 'Bearer'): string {
  const parts = { error, error_description: description, scope: scopes.length === 0 ? undefined : scopes.join(' '), resource_metadata: metadata }
  return `${scheme} ${Object.entries(parts).flatMap(([name, value]) => value === undefined ? [] : [`${name}=${quoted(value)}`]).join(', ')}`
}

/** The credentials of an Authorization header; undefined where there are none of a kind that is known here. */
export function credentialsOf (header: string | undefined): { scheme: 'bearer' | 'dpop', token: string } | undefined {
  const [, scheme = '', token = ''] = /^(bearer|dpop) +(\S.*)$/i.exec(header ?? '') ?? []
  return token === '' ? undefined : { scheme: scheme.toLowerCase() as 'bearer' | 'dpop', token: token.trimEnd() }
}
