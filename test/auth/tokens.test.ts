import t from 'tap'
import { Tokens } from '../../lib/auth/tokens.js'
import { turn, wait } from '../support/time.js'

const caller = (subject: string, expiresAt?: number) => ({ subject, scopes: [], expiresAt })

t.test('a token is checked once, for all who bring it, and then known at once', async t => {
  let checks = 0
  const tokens = new Tokens(async token => { checks++; await turn(); return caller(token) }, 60_000)
  const [one, two] = await Promise.all([tokens.find('a'), tokens.find('a')])
  t.equal(one, two)
  t.equal(tokens.find('a'), one, 'no promise any more')
  t.equal((await tokens.find('b')).subject, 'b')
  t.equal(checks, 2)
})

t.test('never beyond its end, nor beyond its time', async t => {
  let checks = 0
  const ends = { short: Date.now() + 40, over: Date.now() - 1, long: undefined } as Record<string, number | undefined>
  const tokens = new Tokens(async token => { checks++; return caller(token, ends[token]) }, 120)
  for (const token of ['short', 'over', 'long']) await tokens.find(token)
  await wait(60)
  for (const token of ['short', 'over', 'long']) await tokens.find(token)
  t.equal(checks, 5, 'two of them again')
  await wait(120)
  await tokens.find('long')
  t.equal(checks, 6)
})

t.test('what was refused is not remembered', async t => {
  let checks = 0
  const tokens = new Tokens(async () => { if (++checks === 1) throw new Error('no'); return caller('a') }, 60_000)
  await t.rejects(tokens.find('a') as Promise<unknown>, { message: 'no' })
  t.equal((await tokens.find('a')).subject, 'a')
})

t.test('or it is checked each time', async t => {
  let checks = 0
  const tokens = new Tokens(async token => { checks++; return caller(token) }, 0)
  await tokens.find('a')
  await tokens.find('a')
  t.equal(checks, 2)
})
