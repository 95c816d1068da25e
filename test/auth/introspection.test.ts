import t from 'tap'
import { InvalidToken } from '../../lib/auth/caller.js'
import { introspector } from '../../lib/auth/introspection.js'
import { AUDIENCE, Issuer, seconds } from '../support/issuer.js'

const active = { active: true, sub: 'ada', aud: AUDIENCE, scope: 'read files', client_id: 'app', exp: seconds() + 600 }

t.test('what the issuer says of a token is its caller', async t => {
  const issuer = await new Issuer().start(t)
  const ask = introspector(issuer.introspection)
  issuer.known.set('opaque', active).set('array', { ...active, aud: ['x', AUDIENCE], iss: issuer.url })
  t.match(await ask('opaque'), { subject: 'ada', issuer: issuer.url, scopes: ['read', 'files'], clientId: 'app', expiresAt: Number })
  t.match(await ask('array'), { subject: 'ada' })
  const [, basic = ''] = String(issuer.headers[0]?.authorization).split(' ')
  t.equal(Buffer.from(basic, 'base64').toString(), 'mcp%3A1:s+e%25cret', 'both are form-encoded (RFC 6749 section 2.3.1)')
})

t.test('any other token is nobody', async t => {
  const issuer = await new Issuer().start(t)
  const ask = introspector(issuer.introspection)
  const rows: Record<string, object> = {
    'not active': { active: false },
    'no boolean': { ...active, active: 'true' },
    'of another issuer': { ...active, iss: 'https://evil.example' },
    'for nobody': { ...active, aud: undefined },
    'for another': { ...active, aud: 'https://other.example' },
    expired: { ...active, exp: seconds() - 1 },
    'not yet': { ...active, nbf: seconds() + 60 },
    'of no user': { ...active, sub: undefined }
  }
  for (const [what, said] of Object.entries(rows)) {
    issuer.known.set(what, said)
    await t.rejects(ask(what), InvalidToken, what)
  }
  await t.rejects(ask('unknown'), InvalidToken)
})

t.test('an issuer that cannot be asked is not the fault of the token', async t => {
  const issuer = await new Issuer().start(t)
  const failures = [{ ...issuer.introspection, timeout: 1 }, { ...issuer.introspection, endpoint: 'http://127.0.0.1:9/' }]
  issuer.down = true
  for (const options of [...failures, issuer.introspection]) {
    const error = await introspector(options)('x').catch(error => error)
    t.ok(error instanceof Error)
    t.notOk(error instanceof InvalidToken)
  }
})
