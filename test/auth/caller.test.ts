import t from 'tap'
import { boundKey, callerOf, callerProblem, InvalidToken, principalOf } from '../../lib/auth/caller.js'

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

t.test('what the author gives as a caller names a subject and its scopes', async t => {
  for (const good of [{ subject: 'a', scopes: [] }, { subject: 'a', scopes: ['x'], issuer: 'i', clientId: 'c', expiresAt: 5, claims: {} }]) t.equal(callerProblem(good), undefined)
  const rows: [unknown, RegExp][] = [
    [true, /\{ subject, scopes.*got boolean$/], ['eyJ0', /got string$/], [[], /got array$/], [null, /got null/], [{ scopes: [] }, /subject.*got nothing/], [{ subject: '', scopes: [] }, /subject/], [{ subject: 7, scopes: [] }, /subject.*got number$/],
    [{ subject: 'a' }, /scopes.*got nothing/], [{ subject: 'a', scopes: 'no-admin' }, /scopes must be an array.*"no-admin"/], [{ subject: 'a', scopes: [7] }, /scopes/],
    [{ subject: 'a', scopes: [], issuer: 7 }, /issuer must be a string.*got number$/], [{ subject: 'a', scopes: [], clientId: {} }, /clientId must be a string.*got object$/], [{ subject: 'a', scopes: [], expiresAt: '5' }, /expiresAt.*ms/], [{ subject: 'a', scopes: [], expiresAt: NaN }, /expiresAt/]
  ]
  for (const [said, problem] of rows) t.match(callerProblem(said), problem, JSON.stringify(said))
})

t.test('the key that a token is bound to', async t => {
  t.equal(boundKey({ cnf: { jkt: 'thumb' } }), 'thumb')
  for (const claims of [undefined, {}, { cnf: null }, { cnf: 'x' }, { cnf: {} }, { cnf: { jkt: 7 } }]) t.equal(boundKey(claims), undefined)
})
