import t from 'tap'
import { settle } from '../../lib/options.js'
import type { McpOptions } from '../../types/index.js'

const settled = (options: McpOptions) => settle(options, 1_048_576)

t.test('who may use the endpoint is said in one way, and safely', async t => {
  const jwt = { issuer: 'https://i.example', audience: 'x', jwksUri: 'https://i.example/jwks' }
  const introspection = { endpoint: 'https://i.example/x', clientId: 'a', clientSecret: 'b', issuer: 'https://i.example', audience: ['x', 'y'] }
  const rsa = { kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: 'k', use: 'sig' }
  const good: Array<McpOptions['auth']> = [{ jwt }, { introspection }, { authenticate: () => undefined }, { jwt: { issuer: 'i', audience: 'x', jwks: { keys: [rsa] } } }, { jwt: { ...jwt, jwksUri: 'http://127.0.0.1:1/jwks' } }, { jwt, resource: 'https://a.example/mcp', stdio: () => ({ subject: 'a', scopes: [] }) }]
  for (const auth of good) t.equal(settled({ auth }).auth, auth)
  t.equal(settled({ auth: { jwt } }).cache.cacheScope, 'private', 'what is for callers is for no shared cache')
  const bad: Array<[unknown, RegExp]> = [
    [{}, /one of jwt, introspection and authenticate, it has 0/], [{ jwt, introspection }, /it has 2/], [{ jwt: { ...jwt, audience: undefined } }, /\/auth\/jwt\/audience is required/], [{ jwt: { ...jwt, issuer: '' } }, /\/auth\/jwt\/issuer/],
    [{ jwt: { ...jwt, algorithms: ['HS256'] } }, /\/auth\/jwt\/algorithms\/0 must be one of "RS256".*"Ed25519", got string "HS256"/], [{ jwt: { ...jwt, algorithms: ['ES256', 'none'] } }, /\/auth\/jwt\/algorithms\/1 must be one of .*got string "none"/], [{ jwt: { ...jwt, algorithms: ['RS25'] } }, /got string "RS25"/], [{ jwt: { issuer: 'i', audience: 'x' } }, /one of jwksUri and jwks, it has none/], [{ jwt: { ...jwt, jwks: { keys: [rsa] } } }, /one of jwksUri and jwks, it has both/],
    [{ jwt: { ...jwt, jwksUri: 'http://i.example/jwks?key=x' } }, /\/auth\/jwt\/jwksUri must be a URL of https.*got string "http:\/\/i\.example\/jwks\?…"/], [{ introspection: { ...introspection, endpoint: 'x' } }, /\/auth\/introspection\/endpoint must be a URL of https.*got string "x"/], [{ introspection: { ...introspection, endpoint: 'https://u:p@i.example/x' } }, /without a user, got string "https:\/\/…@i\.example\/x"/], [{ introspection: { ...introspection, timeout: 2 ** 31 } }, /\/auth\/introspection\/timeout must be <= 2147483647, got number 2147483648/],
    [{ jwt, resource: '/mcp' }, /\/auth\/resource must be the absolute URL.*got string "\/mcp"/], [{ jwt, resource: 'urn:x' }, /got string "urn:x"/], [{ jwt, resource: 'https://a.example/#x' }, /without a fragment/], [{ authenticate: 'x' }, /\/auth\/authenticate must be a function, got string "x"/], [{ jwt, implies: 1 }, /\/auth\/implies must be a function, got number 1/], [{ jwt, realm: 'x' }, /realm is not a known property/],
    [{ jwt: { issuer: 'i', audience: 'x', jwks: { keys: [] } } }, /\/auth\/jwt\/jwks\/keys/], [{ jwt, scopes: ['a', 'a b'] }, /\/auth\/scopes\/1 must be a scope, of printable ASCII characters without space, " and \\ \(RFC 6749 section 3\.3\), got string "a b"/], [{ jwt, scopes: 'a b' }, /\/auth\/scopes must be array, got string "a b"/], [{ jwt, authorizationServers: ['foo'] }, /\/auth\/authorizationServers\/0 must be a URL of https.*got string "foo"/],
    [{ authenticate: () => undefined, dpop: 'require' }, /\/auth\/dpop/], [{ jwt, stdio: 'x' }, /\/auth\/stdio: .*got string/], [{ jwt, stdio: { subject: 'a' } }, /\/auth\/stdio: scopes/]
  ]
  for (const [auth, message] of bad) t.throws(() => settled({ auth } as McpOptions), { code: 'MCP_ERR_OPTION', message }, JSON.stringify(auth))
})

t.test('keys that are given are the public ones of an issuer', async t => {
  const jwks = (...keys: object[]) => () => settled({ auth: { jwt: { issuer: 'i', audience: 'x', jwks: { keys } } } } as McpOptions)
  const [rsa, ec, okp] = [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }, { kty: 'EC', crv: 'P-256', x: 'A', y: 'A' }, { kty: 'OKP', crv: 'Ed25519', x: 'A' }]
  t.doesNotThrow(jwks(rsa, ec, okp))
  const rows: [object, RegExp][] = [
    [{}, /jwks\/keys\/1 must be a public key of the issuer \(RFC 7517\), with kty RSA, EC, OKP, got nothing$/], [{ kty: 'oct', k: 'A' }, /got a shared secret$/], [{ kty: 'oct' }, /got string "oct"$/], [{ ...rsa, d: 'A' }, /got a private one: it has the member d$/],
    [{ ...ec, y: undefined }, /got one of kty EC without y$/], [{ kty: 'RSA' }, /without n, e$/], [{ ...okp, x: 5 }, /without x$/], [{ ...rsa, kty: 'constructor' }, /got string "constructor"$/]
  ]
  for (const [key, message] of rows) t.throws(jwks(rsa, key), { code: 'MCP_ERR_OPTION', message }, JSON.stringify(key))
})
