import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Rate, type Count } from '../../lib/features/rate.js'
import { RequestStates } from '../../lib/request-state.js'
import { endpointOf, exchangeOf } from '../support/doubles.js'
import { wait } from '../support/time.js'

const alone = () => undefined
const rateOf = (max: number, timeWindow = 60_000, shared: () => Count | undefined = alone) => new Rate('tool', { max, timeWindow }, shared)
const from = (caller: string | undefined) => ({ caller }) as unknown as Parameters<Rate['take']>[0]

t.test('a caller may call so often in its time, and hears when it is over', async t => {
  const rate = rateOf(2, 200)
  t.strictSame([await rate.take(from('a')), await rate.take(from('a'))], [0, 0])
  const ms = await rate.take(from('a'))
  t.ok(ms > 100 && ms <= 200, `${ms}`)
  t.equal(await rate.take(from('b')), 0, 'another caller has its own')
  t.strictSame([await rate.take(from(undefined)), await rate.take(from(undefined)), await rate.take(from(undefined)) > 0], [0, 0, true], 'so has the one without a name')
  await wait(ms + 20)
  t.equal(await rate.take(from('a')), 0)
})

t.test('addresses of one network are one caller', async t => {
  const rows: [string, string, boolean][] = [
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002:0:0:0:1', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8::1', '2001:db8:0:0:5::', true],
    ['2001:db8::1', '2001:db8:0:1::', false],
    ['::1', '::2', true],
    ['fe80::1%eth0', 'fe80::2', true],
    ['64:ff9b::192.0.2.1', '64:ff9b::192.0.2.9', true],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    ['["https://as.example","a::b",null]', '["https://as.example","a::c",null]', false]
  ]
  for (const [one, other, same] of rows) {
    const rate = rateOf(1)
    t.equal(await rate.take(from(one)), 0)
    t.equal(await rate.take(from(other)) > 0, same, `${one} and ${other}`)
  }
})

t.test('what is refused does not make it longer', async t => {
  const rate = rateOf(1, 150)
  await rate.take(from('a'))
  const first = await rate.take(from('a'))
  await wait(50)
  t.ok(await rate.take(from('a')) < first)
})

t.test('a process remembers 10 000 callers; those that come are not forgotten for those that do not', async t => {
  const rate = rateOf(1)
  await rate.take(from('quiet'))
  await rate.take(from('busy'))
  for (let i = 0; i < 9_998; i++) await rate.take(from(`${i}`))
  t.ok(await rate.take(from('busy')) > 0)
  await rate.take(from('one more'))
  t.ok(await rate.take(from('busy')) > 0, 'who came last is known')
  t.equal(await rate.take(from('quiet')), 0, 'the quietest begins anew')
})

t.test('processes count together, in ms', async t => {
  const counted: [string, number][] = []
  const counts = new Map<string, number>()
  const shared = () => async (key: string, ms: number): Promise<[number, number]> => {
    counted.push([key, ms])
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return [counts.get(key) as number, 321]
  }
  const [one, two] = [rateOf(2, 700, shared), rateOf(2, 700, shared)]
  t.strictSame([await one.take(from('a')), await two.take(from('a')), await one.take(from('a')), await two.take(from('b'))], [0, 0, 321, 0])
  t.match(counted, [[/^rate:tool:[\w-]{43}$/, 700], [/^rate:tool:/, 700], [], []])
})

t.test('while nothing is shared each process counts for itself', async t => {
  let away = true
  const rate = rateOf(2, 60_000, () => async () => {
    if (away) throw new Error('Redis does not answer')
    return [1, 60_000]
  })
  t.strictSame([await rate.take(from('a')), await rate.take(from('a')), await rate.take(from('a')) > 0], [0, 0, true])
  away = false
  t.equal(await rate.take(from('a')), 0)
})

t.test('a round that answers is no call; the same once more is one, and so is one that answers nothing', async t => {
  const states = new RequestStates({ keys: [randomBytes(32)], ttl: 60_000 })
  const endpoint = Object.assign(endpointOf().endpoint, { states })
  const rate = rateOf(1)
  let seen = 0
  const { first } = states
  Object.assign(states, { first: (sealed: string) => { seen++; return first.call(states, sealed) } })
  const call = async (requestState?: string, inputResponses: object = { a: {} }) => {
    const params = { name: 'tool', inputResponses, ...(requestState !== undefined && { requestState }) }
    const { exchange } = exchangeOf(endpoint, 'tools/call', { version: '2026-07-28', params })
    await exchange.resume(params)
    return await rate.take(exchange)
  }
  t.equal(await call(), 0)
  const { exchange } = exchangeOf(endpoint, 'tools/call', { version: '2026-07-28', params: { name: 'tool' } })
  const [one, two] = await Promise.all([1, 2].map(async () => await states.seal({ bound: exchange.bound(), asked: { a: 'digest' }, answers: {}, once: {} }))) as [string, string]
  for (const responses of [{}, { b: {} }]) t.ok(await call(one, responses) > 0)
  t.equal(seen, 0, 'which leaves nothing behind')
  t.strictSame([await call(one), await call(two)], [0, 0])
  t.ok(await call(one) > 0)
  t.ok(await call() > 0)
  Object.assign(states, { first: async () => false })
  t.ok(await call(two) > 0, 'and where nobody can say whether it is the same')
})

t.test('a fault of the counting itself is no limit', async t => {
  const rate = rateOf(1)
  Object.assign(rate, { limiter: Promise.resolve({ consume: () => Promise.reject(new Error('out of order')) }) })
  await t.rejects(rate.take(from('a')), { message: 'out of order' })
})
