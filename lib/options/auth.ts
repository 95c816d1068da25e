import { Type } from '@sinclair/typebox'
import type { AuthInfo, AuthOptions } from '../../types/index.js'
import { callerProblem } from '../auth/caller.js'
import { ALGORITHMS } from '../auth/jwt.js'
import { MCP_ERR_OPTION } from '../errors.js'
import { preview } from '../preview.js'
import { scopesProblem } from '../schemas/scopes.js'
import { MAX_TIMER } from '../schemas/time.js'
import { count, group, ms, secret, text, texts } from './kinds.js'

const audience = () => Type.Union([text(), texts()])

export const Auth = group({
  jwt: group({
    issuer: text(),
    audience: audience(),
    jwksUri: Type.Optional(Type.String()),
    jwks: Type.Optional(Type.Object({ keys: Type.Array(Type.Object({}, secret), { minItems: 1, ...secret }) }, secret)),
    algorithms: Type.Optional(Type.Array(Type.Union(ALGORITHMS.map(one => Type.Literal(one))), { minItems: 1 })),
    clockTolerance: count(),
    cacheTtl: ms()
  }),
  introspection: group({
    endpoint: Type.String(),
    clientId: text(),
    clientSecret: Type.String(secret),
    issuer: text(),
    audience: audience(),
    timeout: count(1, MAX_TIMER),
    cacheTtl: ms()
  }),
  authenticate: Type.Optional(Type.Unsafe<AuthOptions['authenticate']>({})),
  resource: Type.Optional(Type.String()),
  authorizationServers: Type.Optional(texts()),
  scopes: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
  implies: Type.Optional(Type.Unsafe<AuthOptions['implies']>({})),
  denied: Type.Optional(Type.Union([Type.Literal('hide'), Type.Literal('show')])),
  dpop: Type.Optional(Type.Union([Type.Literal('accept'), Type.Literal('require')])),
  rootMetadata: Type.Optional(Type.Boolean()),
  stdio: Type.Optional(Type.Unsafe<AuthOptions['stdio']>({}))
})

/** @throws MCP_ERR_OPTION where it is none */
export function stdioCaller (caller: AuthInfo): AuthInfo {
  const problem = callerProblem(caller)
  if (problem !== undefined) throw new MCP_ERR_OPTION(`option /auth/stdio: ${problem}`)
  return caller
}

/** What a schema cannot say. @throws MCP_ERR_OPTION */
export function checkAuth (auth: AuthOptions): AuthOptions {
  const { jwt, introspection, authenticate, dpop, resource, authorizationServers = [], scopes = [], stdio } = auth
  const ways = [jwt, introspection, authenticate].filter(one => one !== undefined)
  if (ways.length !== 1) throw new MCP_ERR_OPTION(`option /auth must have one of jwt, introspection and authenticate, it has ${ways.length}`)
  for (const name of ['authenticate', 'implies'] as const) if (auth[name] !== undefined && typeof auth[name] !== 'function') throw new MCP_ERR_OPTION(`option /auth/${name} must be a function, got ${preview(auth[name])}`)
  if (authenticate !== undefined && dpop === 'require') throw new MCP_ERR_OPTION('option /auth/dpop cannot be demanded with /auth/authenticate, which checks what it wants itself')
  for (const [i, url] of authorizationServers.entries()) safe(`/auth/authorizationServers/${i}`, url)
  const problem = scopesProblem(scopes)
  if (problem !== undefined) throw new MCP_ERR_OPTION(`option /auth/scopes${problem}`)
  if (stdio !== undefined && typeof stdio !== 'function') stdioCaller(stdio)
  if (jwt !== undefined) checkKeys(jwt)
  if (introspection !== undefined) safe('/auth/introspection/endpoint', introspection.endpoint)
  if (resource !== undefined) {
    const url = parsed(resource)
    if (url === undefined || !/^https?:$/.test(url.protocol) || resource.includes('#') || url.username + url.password !== '') throw new MCP_ERR_OPTION(`option /auth/resource must be the absolute URL of the endpoint, without a fragment (RFC 9728 section 1.2) or a user, got ${shown(resource)}`)
  }
  return auth
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
const parsed = (url: string) => URL.canParse(url) ? new URL(url) : undefined

/** Keys and tokens travel encrypted, but on the machine itself. What fetches takes no URL with a user. */
function safe (name: string, url: string): void {
  const { protocol = '', hostname = '', username = '', password = '' } = parsed(url) ?? {}
  if ((protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))) && username + password === '') return
  throw new MCP_ERR_OPTION(`option ${name} must be a URL of https, or of http on a loopback address, without a user, got ${shown(url)}`)
}

/** Without what may be a secret: the user, and the query. */
const shown = (url: string) => preview(url.replace(/\/\/.*@/s, '//…@').replace(/\?.*/s, '?…'))

type Jwt = NonNullable<AuthOptions['jwt']>

/** What the public keys of an issuer have (RFC 7518 section 6, RFC 8037 section 2). */
const PUBLIC = new Map([['RSA', ['n', 'e']], ['EC', ['crv', 'x', 'y']], ['OKP', ['crv', 'x']]])
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

function checkKeys ({ jwksUri, jwks }: Jwt): void {
  if ((jwksUri === undefined) === (jwks === undefined)) throw new MCP_ERR_OPTION(`option /auth/jwt must have one of jwksUri and jwks, it has ${jwks === undefined ? 'none' : 'both'}`)
  if (jwksUri !== undefined) safe('/auth/jwt/jwksUri', jwksUri)
  for (const [i, key] of (jwks?.keys ?? []).entries()) {
    const problem = keyProblem(key as Record<string, unknown>)
    if (problem !== undefined) throw new MCP_ERR_OPTION(`option /auth/jwt/jwks/keys/${i} must be a public key of the issuer (RFC 7517), ${problem}`)
  }
}

function keyProblem (key: Record<string, unknown>): string | undefined {
  const { kty } = key
  const own = PRIVATE.find(name => key[name] !== undefined)
  if (own !== undefined) return kty === 'oct' ? 'got a shared secret' : `got a private one: it has the member ${own}`
  const members = PUBLIC.get(kty as string)
  if (members === undefined) return `with kty ${[...PUBLIC.keys()].join(', ')}, got ${preview(kty)}`
  const missing = members.filter(name => typeof key[name] !== 'string')
  return missing.length === 0 ? undefined : `got one of kty ${String(kty)} without ${missing.join(', ')}`
}
