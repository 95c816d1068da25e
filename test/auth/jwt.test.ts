import { generateKeyPair } from 'jose'
import t from 'tap'
import { InvalidToken } from '../../lib/auth/caller.js'
import { jwtVerifier } from '../../lib/auth/jwt.js'
import { AUDIENCE, Issuer, seconds } from '../support/issuer.js'

t.test('a token of the issuer for this server is its caller', async t => {
  const issuer = await new Issuer().start(t)
  await issuer.addKey('e1', 'ES256')
  const verify = jwtVerifier(issuer.jwt)
  t.match(await verify(await issuer.token({ client_id: 'app' })), { subject: 'ada', issuer: issuer.url, clientId: 'app', scopes: ['read'], expiresAt: Number })
  t.match(await verify(await issuer.token({ aud: ['x', AUDIENCE] }, { kid: 'e1', alg: 'ES256' })), { subject: 'ada' })
  t.match(await verify(await issuer.token({ exp: seconds() - 3 })), { subject: 'ada' }, 'clocks may be 5 s apart')
  t.equal(issuer.fetched, 1, 'the keys are fetched once')
})

t.test('any other token is nobody', async t => {
  const issuer = await new Issuer().start(t)
  const verify = jwtVerifier(issuer.jwt)
  const { privateKey } = await generateKeyPair('RS256')
  const none = [{ alg: 'none' }, { iss: issuer.url, sub: 'ada', aud: AUDIENCE, exp: seconds() + 600 }].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.'
  const rows: Array<[string, string]> = [
    ['expired', await issuer.token({ exp: seconds() - 60 })], ['without an end', await issuer.token({ exp: undefined })], ['not yet', await issuer.token({ nbf: seconds() + 60 })],
    ['of another issuer', await issuer.token({ iss: 'https://evil.example' })], ['without a subject', await issuer.token({ sub: undefined })],
    ['by another key', await issuer.token({}, { key: privateKey })], ['by a shared secret', await issuer.token({}, { alg: 'HS256', key: new TextEncoder().encode('x'.repeat(32)) })],
    ['unsigned', none], ['no token', 'a.b.c'], ['nothing of the kind', '!!'],
    ...await Promise.all([undefined, '', 'https://other.example', [], {}, AUDIENCE + '/', AUDIENCE + '2', 'https://mcp.example.test', ['https://other.example']].map(async (aud): Promise<[string, string]> => [`for ${JSON.stringify(aud)}`, await issuer.token({ aud })]))
  ]
  for (const [what, token] of rows) await t.rejects(verify(token), InvalidToken, what)
  for (const typ of ['dpop+jwt', 'logout+jwt', 'at+jwt+x']) await t.rejects(verify(await issuer.token({}, { typ })), { name: 'InvalidToken', detail: RegExp(`typ is "${typ.replaceAll('+', '\\+')}"`) })
  for (const typ of ['JWT', 'application/at+jwt', 'AT+JWT']) t.match(await verify(await issuer.token({}, { typ })), { subject: 'ada' }, typ)
  await t.rejects(verify(await issuer.token({ exp: seconds() - 60 })), { message: 'the token has expired' })
  await t.rejects(jwtVerifier({ ...issuer.jwt, algorithms: ['ES256'] })(await issuer.token()), InvalidToken, 'an algorithm that is not wanted')
})

t.test('a key that is new is fetched, and unknown ones do not make a server fetch without end', async t => {
  const issuer = await new Issuer().start(t)
  const verify = jwtVerifier(issuer.jwt)
  await verify(await issuer.token())
  await issuer.addKey('k2')
  const { privateKey } = await generateKeyPair('RS256')
  for (let i = 0; i < 5; i++) await t.rejects(verify(await issuer.token({}, { kid: `x${i}`, key: privateKey })), InvalidToken)
  t.ok(issuer.fetched <= 2, `${issuer.fetched} times`)
})

t.test('keys may be given', async t => {
  const issuer = await new Issuer().start(t)
  const { issuer: iss, audience } = issuer.jwt
  t.match(await jwtVerifier({ issuer: iss, audience: ['x', audience], jwks: { keys: issuer.keys } })(await issuer.token()), { subject: 'ada' })
  t.equal(issuer.fetched, 0)
})

t.test('keys that cannot be fetched are not the fault of the token', async t => {
  const issuer = await new Issuer().start(t)
  issuer.down = true
  const error = await jwtVerifier(issuer.jwt)(await issuer.token()).catch(error => error)
  t.ok(error instanceof Error)
  t.notOk(error instanceof InvalidToken)
})
