import { preview } from '../preview.js'

/** scope-token of RFC 6749 section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** What is wrong with scopes, beginning with the place; undefined when nothing is. */
export function scopesProblem (scopes: unknown): string | undefined {
  if (!Array.isArray(scopes)) return ` must be an array of scopes, got ${preview(scopes)}`
  const i = scopes.findIndex(one => typeof one !== 'string' || !SCOPE.test(one))
  return i === -1 ? undefined : `/${i} must be a scope, of printable ASCII characters without space, " and \\ (RFC 6749 section 3.3), got ${preview(scopes[i])}`
}
