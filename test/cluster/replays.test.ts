import t, { type Test } from 'tap'
import { ClusterStreams } from '../../lib/cluster/replays.js'
import type { Sink } from '../../lib/replay.js'
import { until, wait } from '../support/time.js'
import { members, type Place } from './doubles.js'

const SESSION = 'session'
const LIMITS = { events: 100, size: 10_000, ttl: 60_000 }

class Reader implements Sink {
  readonly texts: string[] = []
  readonly ids: (string | undefined)[] = []
  over = false
  event (id: string | undefined, text: string): void {
    this.ids.push(id)
    this.texts.push(text)
  }

  disconnect (): void { this.over = true }
}

type Streaming = Place & { streams: ClusterStreams }

async function pair (t: Test, lifetime?: number, limits = LIMITS): Promise<[Streaming, Streaming]> {
  const places = members(t, 2, lifetime).map(place => ({ ...place, streams: new ClusterStreams(place.member, 60_000, limits) }))
  for (const { member } of places) await member.start()
  return places as [Streaming, Streaming]
}

/** Reads a stream from an event on. */
async function follow (t: Test, { streams }: Streaming, id: string): Promise<Reader> {
  const reader = new Reader()
  const lost = await streams.find(SESSION, id)
  t.ok(lost, 'it is kept')
  lost?.attach(reader)
  t.teardown(() => lost?.detach())
  return reader
}

t.test('a stream is followed in another process, from any event of it', async t => {
  const [a, b] = await pair(t)
  const stream = a.streams.open(SESSION, [1])
  const here = new Reader()
  stream.attach(here)
  for (const text of ['1', '2']) stream.write(text)
  await stream.written
  t.strictSame(here.texts, ['1', '2'])
  const there = await follow(t, b, here.ids[0] as string)
  t.ok(await until(() => here.over), 'no event goes to two')
  stream.write('3')
  stream.end()
  t.ok(await until(() => there.over))
  t.strictSame(there.texts, ['2', '3'])
  const again = await follow(t, a, stream.start)
  t.strictSame([again.texts, again.ids.slice(0, 2), again.over], [['1', '2', '3'], here.ids, true])
})

t.test('an event of no stream, of another session, or of what is not kept any more, is none', async t => {
  const [a, b] = await pair(t, undefined, { ...LIMITS, events: 2 })
  const stream = a.streams.open(SESSION, [1])
  const reader = new Reader()
  stream.attach(reader)
  for (const text of ['1', '2', '3', '4']) stream.write(text)
  await stream.written
  for (const id of ['', 'x', `${stream.id}.`, `${stream.id}.9`, stream.start, reader.ids[0] as string]) t.equal(await b.streams.find(SESSION, id), undefined, id)
  t.equal(await b.streams.find('other', reader.ids[3] as string), undefined)
  t.ok(await b.streams.find(SESSION, reader.ids[2] as string))
})

t.test('what was missed while the store was away is read when it is back', async t => {
  const [a, b] = await pair(t)
  const stream = a.streams.open(SESSION, [1])
  stream.write('1')
  await stream.written
  const reader = await follow(t, b, stream.start)
  b.ear.deaf = b.shelf.away = true
  stream.write('2')
  stream.end()
  await stream.written
  b.ear.hear()
  await wait(400)
  t.strictSame(reader.texts, ['1'])
  b.shelf.away = false
  t.ok(await until(() => reader.over, 5_000))
  t.strictSame(reader.texts, ['1', '2'])
})

t.test('and what comes before the client is connected is not lost with it', async t => {
  const [a, b] = await pair(t)
  const stream = a.streams.open(SESSION, [1])
  stream.write('1')
  await stream.written
  const lost = await b.streams.find(SESSION, stream.start)
  b.ear.deaf = true
  stream.write('2')
  await stream.written
  b.shelf.reads = 0
  b.ear.hear()
  t.ok(await until(() => b.shelf.reads > 0))
  await wait(20)
  const reader = new Reader()
  lost?.attach(reader)
  t.strictSame(reader.texts, ['1', '2'])
  lost?.detach()
})

t.test('a log that is gone, or another one, is told as a loss', async t => {
  for (const more of [[], ['x']]) {
    const [a, b] = await pair(t)
    const stream = a.streams.open(SESSION, [7])
    stream.write('1')
    await stream.written
    const reader = await follow(t, b, stream.start)
    const ahead = `${String(Date.now() + 60_000).padStart(13, '0')}-000000`
    await a.ear.publish(b.member.channel, JSON.stringify([`log:{${SESSION}}:${stream.id}`, ahead, 'mahead']))
    t.ok(await until(() => reader.texts.length === 2))
    await a.member.store.delete(`log:{${SESSION}}:${stream.id}`)
    for (const text of more) stream.write(text)
    await stream.written
    b.ear.hear()
    t.ok(await until(() => reader.over))
    t.match(JSON.parse(reader.texts.at(-1) as string), { id: 7, error: { message: /lost/ } })
  }
})

t.test('whose process is gone, a stream ends with an error; but not before its last words could be read', async t => {
  const [a, b] = await pair(t, 300)
  const stream = a.streams.open(SESSION, [7])
  stream.write('1')
  await stream.written
  const reader = await follow(t, b, stream.start)
  b.ear.deaf = true
  stream.write('2')
  await stream.written
  b.shelf.read = async () => { throw new Error('not now') }
  a.shelf.away = true
  await wait(600)
  t.strictSame([reader.texts, reader.over], [['1'], false])
  b.shelf.read = (...args) => b.shelf.store.read(...args)
  t.ok(await until(() => reader.over))
  t.strictSame(reader.texts.slice(0, 2), ['1', '2'])
  t.match(JSON.parse(reader.texts[2] as string), { id: 7, error: { message: /gone/ } })
})
