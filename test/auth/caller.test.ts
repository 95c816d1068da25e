import t from 'tap'
import { boundKey, callerOf, InvalidToken, principalOf } from '../../lib/auth/caller.js'

t.test('the caller that claims name', async t => {
  const claims = { sub: 'ada', client_id: 'app', scope: 'read  files', exp: 1_800_000_000 }
  t.strictSame(callerOf(claims, 'https://i.example'), { subject: 'ada', issuer: 'https://i.example', clientId: 'app', scopes: ['read', 'files'], expiresAt: 1_800_000_000_000, claims })
  t.match(callerOf({ sub: 'ada', azp: 'app', scope: ['read', 7, 'files'] }, 'i'), { clientId: 'app', scopes: ['read', 'files'], expiresAt: undefined })
  t.match(callerOf({ sub: 'ada', scp: ['read'] }, 'i'), { clientId: undefined, scopes: ['read'] })
  t.strictSame(callerOf({ sub: 'ada', scope: 7 }, 'i').scopes, [])
  for (const sub of [undefined, '', 7, null]) t.throws(() => callerOf({ sub }, 'i'), InvalidToken)
})

t.test('callers are told apart by issuer, subject and client, and by nothing else', async t => {
  const all = [['i', 'a', 'c'], ['j', 'a', 'c'], ['i', 'b', 'c'], ['i', 'a', 'd'], ['i', 'a', undefined], [undefined, 'a', 'c'], ['i","a', '', 'c'], ['', 'i","a', 'c']] as const
  const names = all.map(([issuer, subject, clientId]) => principalOf({ issuer, subject, clientId, scopes: [] }))
  t.equal(new Set(names).size, all.length)
  t.equal(principalOf({ issuer: 'i', subject: 'a', scopes: ['x'], expiresAt: 1 }), principalOf({ issuer: 'i', subject: 'a', scopes: [], expiresAt: 2 }), 'a new token of the same is the same')
})

t.test('the key that a token is bound to', async t => {
  t.equal(boundKey({ cnf: { jkt: 'thumb' } }), 'thumb')
  for (const claims of [undefined, {}, { cnf: null }, { cnf: 'x' }, { cnf: {} }, { cnf: { jkt: 7 } }]) t.equal(boundKey(claims), undefined)
})
