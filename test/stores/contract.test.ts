// What every store and broker promise, on memory and on a real Redis.
import t, { type Test } from 'tap'
import { MemoryBroker } from '../../lib/brokers/memory.js'
import { RedisBroker } from '../../lib/brokers/redis.js'
import { Commands } from '../../lib/stores/commands.js'
import { MemoryStore } from '../../lib/stores/memory.js'
import { RedisStore } from '../../lib/stores/redis.js'
import type { Broker, Store } from '../../types/index.js'
import { clientOf, startRedis, withoutRedis } from '../support/redis.js'
import { until, wait } from '../support/time.js'

interface Process { store: Store, broker: Broker }
/** Two processes that share what they keep. */
type Pair = (t: Test) => Promise<[Process, Process]>

const memory: Pair = async t => {
  const one = new MemoryBroker()
  const other = new MemoryBroker(one)
  const store = new MemoryStore(one)
  t.teardown(() => Promise.all([one.close(), other.close()]))
  return [{ store, broker: one }, { store, broker: other }]
}

let prefixes = 0
const redis: Pair = async t => {
  const prefix = `test${++prefixes}:`
  const open = (): Process => {
    const client = clientOf(t, server)
    const commands = new Commands(client, 2_000, () => {})
    const broker = new RedisBroker(client, commands, { prefix, timeout: 2_000 })
    t.teardown(async () => { await broker.close(); commands.close() })
    return { store: new RedisStore(commands, prefix), broker }
  }
  return [open(), open()]
}

const skip = withoutRedis()
const server = skip === false ? await startRedis(t) : undefined as never
const roomy = { max: 100, size: 10_000, ttl: 60_000 }
const HOUR = 3_600_000

for (const [name, pair] of [['memory', memory], ['redis', redis]] as const) {
  t.test(name, name === 'redis' && skip !== false ? { skip } : {}, async t => {
    await values(t, pair)
    await logs(t, pair)
    await announcements(t, pair)
    await channels(t, pair)
  })
}

/** Beside what a store promises: where processes share Redis, they count together. */
t.test('what is counted in Redis is counted for all, for so many ms from the first time on', skip === false ? {} : { skip }, async t => {
  const [a, b] = (await redis(t)).map(({ store }) => store as RedisStore) as [RedisStore, RedisStore]
  const [count, left] = await a.count('n', 200)
  t.strictSame([count, left], [1, 200])
  await wait(30)
  const [again, rest] = await b.count('n', 200)
  t.ok(again === 2 && rest > 0 && rest < 190, `${again}, ${rest} ms`)
  t.match(await a.count('other', 1000), [1, 1000])
  t.equal((await Promise.all(Array.from({ length: 50 }, () => b.count('many', 1000)))).at(-1)?.[0], 50)
  await wait(250)
  t.match(await b.count('n', 200), [1, 200])
})

t.test('what Redis keeps', skip === false ? {} : { skip }, async t => {
  const client = clientOf(t, server)
  const commands = new Commands(client, 2_000, () => {})
  t.teardown(() => commands.close())
  const store = new RedisStore(commands, 'kept:')
  const endless = async () => {
    const keys = await client.keys('*kept:*')
    const ttls = await Promise.all(keys.map(key => client.pttl(key)))
    return keys.filter((_, i) => !(Number(ttls[i]) > 0))
  }

  await t.test('has an end, whatever was done with it', async t => {
    for (const ttl of [Infinity, Number.MAX_VALUE, HOUR]) {
      await store.set(`k${ttl}`, 'v', ttl)
      await store.swap(`s${ttl}`, undefined, 'v', ttl)
      await store.get(`k${ttl}`, { touch: ttl })
      for (const log of [`log${ttl}`, `{tag}${ttl}`]) {
        await store.append(log, 'e', { ...roomy, max: 1, ttl })
        await store.append(log, 'e', { ...roomy, max: 1, ttl, tell: 'x' })
        await store.read(log, '', { tell: 'y' })
      }
    }
    t.ok((await client.keys('*kept:*')).length >= 18)
    t.strictSame(await endless(), [])
  })

  await t.test('of a log: where Redis has thrown a part away, nothing is promised of the rest', async t => {
    const first = await store.append('{torn}', 'e', roomy)
    await store.append('{torn}', 'f', roomy)
    await client.del('kept:{torn}:log')
    t.strictSame(await store.read('{torn}', first, { tell: 'x' }), { complete: false, last: (await store.read('{torn}', ''))?.last, entries: [] })
    t.strictSame(await endless(), [])
  })

  await t.test('is nothing of what could not be announced', async t => {
    await client.call('ACL', 'SETUSER', 'mute', 'on', '>pass', '~*', '+@all', 'resetchannels', '&kept:heard')
    const mute = client.duplicate({ username: 'mute', password: 'pass' })
    t.teardown(() => mute.disconnect())
    const others = new Commands(mute, 2_000, () => {})
    t.teardown(() => others.close())
    const muted = new RedisStore(others, 'kept:')
    await t.rejects(muted.append('{new}', 'e', { ...roomy, tell: 'silent' }), { message: /NOPERM|channel/i })
    t.equal(await store.read('{new}', ''), undefined)
    const id = await muted.append('{old}', 'e', { ...roomy, tell: 'heard' })
    await store.read('{old}', '', { tell: 'silent' })
    await t.rejects(muted.append('{old}', 'f', { ...roomy, tell: 'heard' }))
    t.strictSame(await store.read('{old}', ''), { complete: true, last: id, entries: [{ id, entry: 'e' }] })
    t.strictSame(await endless(), [])
  })
})

async function values (t: Test, pair: Pair) {
  await t.test('a value is there for all, until its time is over', async t => {
    const [a, b] = await pair(t)
    t.equal(await a.store.get('k'), undefined)
    await a.store.set('k', 'one "ü" \u2028', HOUR)
    t.equal(await b.store.get('k'), 'one "ü" \u2028')
    await b.store.set('k', '', 80)
    t.equal(await a.store.get('k'), '')
    await wait(150)
    t.equal(await a.store.get('k'), undefined)
  })

  await t.test('reading can renew the lifetime, and only that', async t => {
    const [{ store }] = await pair(t)
    await store.set('kept', 'v', 300)
    await store.set('left', 'v', 300)
    for (let i = 0; i < 5; i++) {
      t.equal(await store.get('kept', { touch: 300 }), 'v')
      await store.get('left')
      await wait(100)
    }
    t.equal(await store.get('kept'), 'v')
    t.equal(await store.get('left'), undefined)
    t.equal(await store.get('never', { touch: 300 }), undefined)
  })

  await t.test('a value is swapped only if it is what one thinks', async t => {
    const [{ store }] = await pair(t)
    t.equal(await store.swap('k', 'x', 'y', HOUR), false)
    t.equal(await store.swap('k', undefined, 'a', HOUR), true)
    t.equal(await store.swap('k', undefined, 'b', HOUR), false)
    t.equal(await store.swap('k', 'a', 'c', 80), true)
    t.equal(await store.swap('k', 'a', 'd', HOUR), false)
    t.equal(await store.get('k'), 'c')
    await wait(150)
    t.equal(await store.swap('k', undefined, 'e', HOUR), true)
  })

  await t.test('of many that swap at once, one does', async t => {
    const [a, b] = await pair(t)
    const done = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? a : b).store.swap('once', undefined, String(i), HOUR)))
    t.equal(done.filter(Boolean).length, 1)
    await Promise.all(Array.from({ length: 40 }, async (_, i) => {
      const { store } = i % 2 === 0 ? a : b
      for (;;) {
        const before = await store.get('sum')
        if (await store.swap('sum', before, String(Number(before ?? 0) + 1), HOUR)) return
      }
    }))
    t.equal(await a.store.get('sum'), '40')
  })

  await t.test('what is deleted is gone', async t => {
    const [a, b] = await pair(t)
    await a.store.set('k', 'v', HOUR)
    t.equal(await b.store.delete('k'), true)
    t.equal(await a.store.delete('k'), false)
    t.equal(await a.store.get('k'), undefined)
    await a.store.append('{x}log', 'e', roomy)
    t.equal(await b.store.delete('{x}log'), true)
    t.equal(await a.store.read('{x}log', ''), undefined)
  })
}

async function logs (t: Test, pair: Pair) {
  await t.test('a log gives what came after an entry', async t => {
    const [a, b] = await pair(t)
    for (const log of ['plain', '{tag}:log']) {
      t.equal(await a.store.read(log, ''), undefined)
      const ids = []
      for (const entry of ['a', 'b "ü" /', '']) ids.push(await (ids.length === 1 ? b : a).store.append(log, entry, roomy))
      const [first, , last] = ids
      t.strictSame(await b.store.read(log, ''), { complete: true, last: ids[2], entries: ids.map((id, i) => ({ id, entry: ['a', 'b "ü" /', ''][i] })) })
      t.strictSame((await b.store.read(log, first as string))?.entries.map(one => one.entry), ['b "ü" /', ''])
      t.strictSame(await b.store.read(log, last as string), { complete: true, last, entries: [] })
    }
  })

  await t.test('a log is read in pieces, and says where it ends without any', async t => {
    const [{ store }] = await pair(t)
    const ids: string[] = []
    for (const entry of ['a', 'b', 'c']) ids.push(await store.append('log', entry, roomy))
    const [first, second, last] = ids as [string, string, string]
    t.strictSame(await store.read('log', '', { limit: 2 }), { complete: true, last, entries: [{ id: first, entry: 'a' }, { id: second, entry: 'b' }] })
    t.strictSame(await store.read('log', second, { limit: 2 }), { complete: true, last, entries: [{ id: last, entry: 'c' }] })
    for (const after of ['', first, last]) t.strictSame(await store.read('log', after, { limit: 0 }), { complete: true, last, entries: [] })
  })

  await t.test('no id is given twice, and ids grow as text', async t => {
    const [a, b] = await pair(t)
    const given = (await Promise.all(Array.from({ length: 2_000 }, (_, i) => (i % 2 === 0 ? a : b).store.append('log', String(i), { ...roomy, max: 5_000, size: 1e6 }))))
    t.equal(new Set(given).size, 2_000)
    const ids = (await a.store.read('log', ''))?.entries.map(one => one.id) ?? []
    t.strictSame(ids, ids.toSorted())
    t.equal(ids.length, 2_000)
    t.match(ids[0], /^[\w-]+$/, 'they fit into an event id')
    await a.store.delete('log')
    t.ok(await b.store.append('log', 'again', roomy) > (ids.at(-1) as string), 'not even when the log is a new one')
  })

  await t.test('a log is bounded in entries and in size, and says when something is missing', async t => {
    const [{ store }] = await pair(t)
    for (const limits of [{ ...roomy, max: 3 }, { ...roomy, size: 3 }]) {
      const log = `log${limits.max}`
      const ids: string[] = []
      for (const entry of ['a', 'b', 'c', 'd', 'e']) ids.push(await store.append(log, entry, limits))
      const texts = async (after: string) => {
        const reading = await store.read(log, after)
        return [reading?.complete, reading?.entries.map(one => one.entry).join('')]
      }
      t.strictSame(await texts(''), [false, 'cde'])
      t.strictSame(await texts(ids[0] as string), [false, ''], 'and then gives no part of it')
      t.strictSame(await texts(ids[1] as string), [true, 'cde'], 'the one asked for need not be there itself')
      t.strictSame(await texts(ids[2] as string), [true, 'de'])
    }
    await store.append('big', 'x'.repeat(50), { ...roomy, size: 10 })
    t.equal((await store.read('big', ''))?.entries.length, 1, 'the newest is always kept')
  })

  await t.test('a log is gone after its time', async t => {
    const [{ store }] = await pair(t)
    await store.append('log', 'a', { ...roomy, ttl: 80 })
    await store.append('kept', 'a', { ...roomy, ttl: 80 })
    await store.append('kept', 'b', roomy)
    await wait(150)
    t.equal(await store.read('log', ''), undefined)
    t.equal((await store.read('kept', ''))?.entries.length, 2)
  })

  await t.test('a lifetime without end, or none, is one all the same', async t => {
    const [a, b] = await pair(t)
    const heard = await heardBy(b, 'all')
    for (const ttl of [Infinity, Number.MAX_VALUE]) {
      await a.store.set('k', 'v', ttl)
      t.equal(await a.store.swap('k', 'v', 'w', ttl), true)
      t.equal(await b.store.get('k', { touch: ttl }), 'w')
      await a.store.append(`log${ttl}`, 'e', { ...roomy, ttl, tell: 'all' })
      t.equal((await b.store.read(`log${ttl}`, ''))?.entries.length, 1)
    }
    t.ok(await until(() => heard.length === 2), 'what is appended is announced')
    for (const ttl of [0, -1, 0.1]) {
      await a.store.set('short', 'v', ttl)
      await a.store.append('brief', 'e', { ...roomy, ttl })
      await wait(5)
      t.equal(await b.store.get('short'), undefined)
      t.equal(await b.store.read('brief', ''), undefined)
    }
  })
}

/** Collects what a channel brings. */
async function heardBy ({ broker }: Process, channel: string) {
  const heard: string[] = []
  await broker.subscribe(channel, { message: text => heard.push(text), renewed () {} })
  return heard
}

async function announcements (t: Test, pair: Pair) {
  await t.test('an entry is announced where it was said, and to the one that read last', async t => {
    const [a, b] = await pair(t)
    const [all, mine, other] = [await heardBy(a, 'all'), await heardBy(b, 'b'), await heardBy(a, 'a')]
    const one = await a.store.append('{s}log', 'one "/"', { ...roomy, tell: 'all' })
    t.ok(await until(() => all.length === 1))
    t.strictSame(JSON.parse(all[0] as string), ['{s}log', one, 'one "/"'])
    t.strictSame((await b.store.read('{s}log', '', { tell: 'b' }))?.entries.length, 1)
    const two = await a.store.append('{s}log', 'two', roomy)
    t.ok(await until(() => mine.length === 1))
    t.strictSame(JSON.parse(mine[0] as string), ['{s}log', two, 'two'])
    await b.store.read('{s}log', '')
    await a.store.read('{s}log', two, { tell: 'a' })
    await b.store.append('{s}log', 'three', roomy)
    t.ok(await until(() => other.length === 1))
    await a.store.read('{s}log', two, { tell: '' })
    await b.store.append('{s}log', 'four', { ...roomy, tell: 'all' })
    t.ok(await until(() => all.length === 2))
    await wait(50)
    t.strictSame([mine.length, other.length], [1, 1])
  })

  await t.test('what is read and what is announced make the whole, with nothing twice', async t => {
    const [a, b] = await pair(t)
    const heard = await heardBy(b, 'b')
    const total = 500
    await a.store.append('log', '0', { ...roomy, max: 1_000 })
    const writing = (async () => { for (let i = 1; i < total; i++) await a.store.append('log', String(i), { ...roomy, max: 1_000 }) })()
    await wait(5)
    const read = (await b.store.read('log', '', { tell: 'b' }))?.entries.map(one => one.entry) ?? []
    await writing
    t.ok(await until(() => read.length + heard.length >= total))
    t.strictSame([...read, ...heard.map(text => JSON.parse(text)[2])], Array.from({ length: total }, (_, i) => String(i)))
  })
}

async function channels (t: Test, pair: Pair) {
  await t.test('a message reaches those who listen, in order, and its sender knows how many they are', async t => {
    const [a, b] = await pair(t)
    t.equal(await a.broker.publish('c', 'nobody'), 0)
    const [one, two] = [await heardBy(a, 'c'), await heardBy(b, 'c')]
    t.equal(await a.broker.publish('c', '0'), 2)
    for (let i = 1; i < 100; i++) a.broker.publish('c', String(i))
    t.ok(await until(() => one.length === 100 && two.length === 100))
    for (const heard of [one, two]) t.strictSame(heard, Array.from({ length: 100 }, (_, i) => String(i)))
  })

  await t.test('what is closed hears nothing more', async t => {
    const [a, b] = await pair(t)
    const heard = await heardBy(b, 'c')
    await b.broker.close()
    await wait(50)
    t.equal(await a.broker.publish('c', 'x'), 0)
    t.strictSame(heard, [])
  })
}
