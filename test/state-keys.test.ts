import { randomBytes } from 'node:crypto'
import t from 'tap'
import { StateKeys } from '../lib/state-keys.js'
import { MemoryStore } from '../lib/stores/memory.js'
import type { Store } from '../types/index.js'

/** A store that can be emptied, and be away. */
function backing () {
  let store = new MemoryStore()
  let away = false
  let asked = 0
  const reach = () => {
    asked++
    if (away) throw new Error('away')
    return store
  }
  const shared = {
    get: async (...args: Parameters<Store['get']>) => reach().get(...args),
    swap: async (...args: Parameters<Store['swap']>) => reach().swap(...args)
  } as Store
  return { shared, empty () { store = new MemoryStore() }, cut (cut: boolean) { away = cut }, asked: () => asked }
}

/** Lets time go by for whoever asks what time it is. */
function clock (t: any) {
  let later = 0
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now + later, configurable: true, writable: true })
  return (ms: number) => { later += ms }
}

t.test('of keys that are given the first seals and all open, and nobody is asked', async t => {
  const { shared, asked } = backing()
  const given = [randomBytes(32), randomBytes(32)] as [Buffer, Buffer]
  const keys = new StateKeys(given, shared)
  const [kid, key] = await keys.first()
  t.equal(key, given[0])
  t.equal(await keys.find(kid), given[0])
  const [other] = await new StateKeys([given[1]]).first()
  t.equal(await keys.find(other), given[1])
  t.equal(await keys.find('strange'), undefined)
  await keys.renew()
  await new StateKeys([], shared).renew()
  t.equal(asked(), 0, 'nor where none is needed yet')
})

t.test('processes share one, whoever comes first', async t => {
  const { shared } = backing()
  const all = Array.from({ length: 5 }, () => new StateKeys([], shared))
  const firsts = await Promise.all(all.map(one => one.first()))
  t.equal(new Set(firsts.map(([kid]) => kid)).size, 1)
  t.equal(firsts[0]?.[1].length, 32)
  const [kid] = firsts[0] as [string, Uint8Array]
  t.ok(await new StateKeys([], shared).find(kid), 'one that has sealed nothing finds it, too')
})

t.test('what the store has lost, the next that looks puts back', async t => {
  const { shared, empty } = backing()
  const pass = clock(t)
  const [one, two] = [new StateKeys([], shared), new StateKeys([], shared)]
  const [kid] = await one.first()
  empty()
  await one.renew()
  t.equal((await two.first())[0], kid, 'at once')
  empty()
  t.equal((await one.first())[0], kid)
  const late = new StateKeys([], shared)
  pass(11_000)
  t.equal((await one.first())[0], kid, 'or when it has not looked for a while')
  t.equal((await late.first())[0], kid)
})

t.test('processes that have come to two keys come to one again, and open what either has sealed', async t => {
  const { shared, empty } = backing()
  const pass = clock(t)
  const [one, two] = [new StateKeys([], shared), new StateKeys([], shared)]
  const [before] = await one.first()
  empty()
  const [kid] = await two.first()
  t.not(kid, before)
  pass(1_001)
  t.ok(await one.find(kid), 'a state that it cannot open makes it look')
  t.equal((await one.first())[0], kid)
  t.ok(await one.find(before))
  for (let i = 0; i < 5; i++) {
    empty()
    await new StateKeys([], shared).first()
    await one.renew()
  }
  t.equal((one as unknown as { known: Map<string, Uint8Array> }).known.size, 3, 'old ones are not kept for ever')
})

t.test('strange ids do not make it ask all the time', async t => {
  const { shared, asked } = backing()
  clock(t)
  const keys = new StateKeys([], shared)
  await keys.first()
  const before = asked()
  for (let i = 0; i < 100; i++) t.equal(await keys.find(`strange ${i}`), undefined)
  t.equal(asked(), before)
})

t.test('while the store is away a key that is known goes on, and one that is not is a clear error', async t => {
  const { shared, cut } = backing()
  const pass = clock(t)
  const keys = new StateKeys([], shared)
  cut(true)
  await t.rejects(keys.first(), { message: /cannot be reached/ })
  await t.rejects(keys.find('any'), { message: /cannot be reached/ })
  cut(false)
  const [kid] = await keys.first()
  cut(true)
  pass(60_000)
  t.equal((await keys.first())[0], kid)
  t.ok(await keys.find(kid))
  t.equal(await keys.find('strange'), undefined)
})
