// What a store does not take at once, takes twice or takes late: the reader hears each message once, in order.
import t, { type Test } from 'tap'
import { MemoryBroker } from '../../lib/brokers/memory.js'
import { Backlog, Room } from '../../lib/cluster/backlog.js'
import { Member } from '../../lib/cluster/member.js'
import { ClusterStreams } from '../../lib/cluster/replays.js'
import { MemoryStore } from '../../lib/stores/memory.js'
import type { LogLimits } from '../../types/index.js'
import { until, wait } from '../support/time.js'

/** Decides what becomes of an append: taken, refused, or refused and yet taken, perhaps later. */
type Fate = () => 'taken' | 'refused' | 'late' | 'both'

class Moody extends MemoryStore {
  fate: Fate = () => 'taken'

  override async append (name: string, entry: string, limits: LogLimits): Promise<string> {
    const fate = this.fate()
    if (fate === 'taken') return await super.append(name, entry, limits)
    if (fate === 'both') await super.append(name, entry, limits)
    if (fate === 'late') setTimeout(() => { super.append(name, entry, limits) }, 30)
    throw new Error('not taken')
  }
}

async function processes (t: Test, limits = { events: 1_000, size: 1_000_000, ttl: 60_000 }) {
  const broker = new MemoryBroker()
  const store = new Moody(broker)
  const log = { warn () {}, error (fields: object) { t.fail(JSON.stringify(fields)) } } as never
  const [writer, reader] = [broker, new MemoryBroker(broker)].map(one => new Member({ store, broker: one, log, lifetime: 600 })) as [Member, Member]
  const [writing, reading] = [writer, reader].map(one => new ClusterStreams(one, 60_000, limits)) as [ClusterStreams, ClusterStreams]
  for (const one of [writer, reader]) {
    await one.start()
    t.teardown(() => one.close())
  }
  return { store, writing, reading }
}

function sink () {
  const heard: { id: string | undefined, text: string }[] = []
  const told = { heard, over: false, event: (id: string | undefined, text: string) => { heard.push({ id, text }) }, disconnect: () => { told.over = true } }
  return told
}

t.test('each message comes once, in order, whatever the store makes of it', async t => {
  const { store, writing, reading } = await processes(t)
  const fates = ['taken', 'taken', 'refused', 'late', 'both'] as const
  let seed = 7
  const random = () => { seed = (seed * 48_271) % 2_147_483_647; return seed / 2_147_483_647 }
  const wanted = Array.from({ length: 60 }, (_, i) => `message ${i + 1}`)
  for (let round = 0; round < 5; round++) {
    const stream = writing.open('s', [1])
    await stream.written
    const live = sink()
    const lost = await reading.find('s', stream.start)
    lost?.attach(live)
    store.fate = () => fates[Math.floor(random() * fates.length)] as typeof fates[number]
    for (const text of wanted) {
      stream.write(text)
      if (random() < 0.2) await wait(1)
    }
    stream.end()
    await wait(400)
    store.fate = () => 'taken'
    t.ok(await until(() => live.over, 8_000), 'it ends')
    t.strictSame(live.heard.map(one => one.text), wanted)
    for (const at of [0, 7, 31, 58]) {
      const later = sink()
      const again = await reading.find('s', live.heard[at]?.id as string)
      again?.attach(later)
      t.ok(later.over)
      t.strictSame(later.heard.map(one => one.text), wanted.slice(at + 1), `from ${at}`)
    }
  }
})

t.test('what is too much is lost, and the readers get an error for each request', async t => {
  const { store, writing, reading } = await processes(t, { events: 1_000, size: 200, ttl: 60_000 })
  const stream = writing.open('s', [1, 'two'])
  await stream.written
  const live = sink()
  const found = await reading.find('s', stream.start)
  found?.attach(live)
  store.fate = () => 'refused'
  for (let i = 0; i < 5; i++) stream.write('x'.repeat(100))
  t.ok(await until(() => live.over), 'at once: what processes say to each other is not what the store keeps')
  t.match(live.heard.map(one => JSON.parse(one.text)), [{ id: 1, error: { message: /lost/ } }, { id: 'two', error: {} }])
  stream.end()
  store.fate = () => 'taken'
  await stream.written
  const later = sink()
  const again = await reading.find('s', stream.start)
  again?.attach(later)
  t.ok(await until(() => later.over))
  t.equal(later.heard.length, 2, 'whoever asks again is told again')
})

t.test('who comes to a stream that its process knows nothing of does not wait', async t => {
  const { store, writing, reading } = await processes(t)
  const stream = writing.open('s', [1])
  await stream.written
  const id = stream.id
  store.fate = () => 'refused'
  stream.end()
  await wait(10)
  const live = sink()
  ;(writing as unknown as { writing: Map<string, unknown> }).writing.clear()
  const found = await reading.find('s', `${id}.0`)
  found?.attach(live)
  t.ok(await until(() => live.over))
  t.match(live.heard.map(one => JSON.parse(one.text)), [{ id: 1, error: {} }])
})

t.test('a backlog gives up what is too old, and its room is given back', async t => {
  const room = new Room(10)
  const limits = { max: 10, size: 100, ttl: 1_000 }
  let lost = 0
  let empty = 0
  const backlog = new Backlog({ append: async () => { throw new Error('away') }, limits, ttl: 300, room, mark: 'x[]', lost: () => { lost++ }, empty: () => { empty++ } })
  backlog.add('12345678', limits)
  t.equal(room.full, false)
  backlog.add('90', limits)
  t.equal(room.full, false, 'to the last character')
  t.ok(await until(() => empty === 1, 3_000))
  t.strictSame([lost, backlog.waiting, backlog.lost], [1, false, true])
  room.take(10)
  t.equal(room.full, false)
  room.take(-10)
  const other = new Backlog({ append: async () => { throw new Error('away') }, limits, ttl: 60_000, room, mark: 'x[]', lost: () => { lost++ }, empty () {} })
  other.add('12345678901', limits)
  t.equal(lost, 2, 'what all streams keep together is bounded, too')
})

t.test('what comes while the rest is offered is offered, too, however long that takes to fail', async t => {
  const limits = { max: 10, size: 100, ttl: 1_000 }
  const taken: string[] = []
  let away = true
  const append = async (entry: string) => {
    if (away) await wait(600)
    if (away) throw new Error('away')
    taken.push(entry)
    return ''
  }
  const backlog = new Backlog({ append, limits, ttl: 60_000, room: new Room(1_000), mark: 'x[]', lost () {}, empty () {} })
  backlog.add('1', limits)
  await wait(300) // it is being offered
  backlog.add('2', limits)
  await wait(700)
  away = false
  t.ok(await until(() => !backlog.waiting))
  t.strictSame(taken, ['1', '2'])
})
