import * as jose from 'jose'
import t from 'tap'
import { remoteKeys } from '../../lib/auth/keys.js'
import { jwtVerifier } from '../../lib/auth/jwt.js'
import { InvalidToken } from '../../lib/auth/caller.js'
import { Issuer } from '../support/issuer.js'

t.test('an issuer that fails is not asked for each token', async t => {
  const issuer = await new Issuer().start(t)
  issuer.broken = true
  const verify = jwtVerifier(issuer.jwt)
  for (let i = 0; i < 20; i++) {
    const error = await verify(await issuer.token({}, { kid: 'k1' })).catch(error => error)
    t.ok(error instanceof Error && !(error instanceof InvalidToken), 'the token is not to blame')
  }
  t.equal(issuer.fetched, 1)
})

t.test('keys that are known count while the issuer fails, and it is tried again', async t => {
  const issuer = await new Issuer().start(t)
  const verify = jwtVerifier(issuer.jwt)
  await verify(await issuer.token())
  issuer.broken = true
  let ahead = 11 * 60_000
  const clock = t.capture(Date, 'now', () => performance.timeOrigin + performance.now() + ahead)
  t.teardown(() => clock.restore())
  t.match(await verify(await issuer.token({ exp: Math.floor(Date.now() / 1000) + 600 })), { subject: 'ada' }, 'though they are old')
  const { privateKey } = await jose.generateKeyPair('RS256')
  for (let i = 0; i < 10; i++) await t.rejects(verify(await issuer.token({ exp: Math.floor(Date.now() / 1000) + 600 }, { kid: `x${i}`, key: privateKey })))
  t.equal(issuer.fetched, 2)
  issuer.broken = false
  await issuer.addKey('k2')
  ahead += 6_000
  t.match(await verify(await issuer.token({ exp: Math.floor(Date.now() / 1000) + 600 }, { kid: 'k2' })), { subject: 'ada' }, 'and the new key is found')
  t.equal(issuer.fetched, 3)
})

t.test('a key that is not there is the fault of the token', async t => {
  const issuer = await new Issuer().start(t)
  const keys = remoteKeys(jose, new URL(issuer.jwt.jwksUri))
  await t.rejects(async () => await keys({ alg: 'RS256', kid: 'none' }, { payload: '', signature: '' }), jose.errors.JWKSNoMatchingKey)
  await t.resolves(async () => await keys({ alg: 'RS256', kid: 'k1' }, { payload: '', signature: '' }))
})
