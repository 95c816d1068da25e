import t, { type Test } from 'tap'
import type { Event } from '../../lib/cluster/event.js'
import { Journal } from '../../lib/cluster/journal.js'
import { until, wait } from '../support/time.js'
import { members, type Place } from './doubles.js'

const HOUR = 3_600_000
const LOG = '{journal}'
const tell = (uri: string): Event => ({ kind: 'change', change: { kind: 'resource', uri } })
const idAt = (ms: number) => `${String(ms).padStart(13, '0')}-000000`

interface Reading extends Place { journal: Journal, heard: string[], missed: () => number }

/** What one process hears of the journal: URIs of changes, streams that listen, and with a minus those that left. */
function reading (place: Place): Reading {
  const heard: string[] = []
  let missed = 0
  const event = (event: Event) => { heard.push(event.kind === 'change' ? String(event.change.uri) : event.kind === 'left' ? `-${event.stream}` : event.stream) }
  const journal = new Journal(place.member, { event, missed () { missed++ } }, HOUR)
  place.member.onGap(() => journal.catchUp(), () => journal.pause())
  return { ...place, journal, heard, missed: () => missed }
}

async function pair (t: Test): Promise<[Reading, Reading]> {
  const [a, b] = members(t, 2).map(reading) as [Reading, Reading]
  await a.member.store.append(LOG, JSON.stringify(tell('before')), { max: 9, size: 999, ttl: HOUR })
  for (const one of [a, b]) await one.member.start()
  return [a, b]
}

t.test('all processes hear the same, in one order, from when they start', async t => {
  const [a, b] = await pair(t)
  for (let i = 0; i < 10; i++) await (i % 2 === 0 ? a : b).journal.append(tell(String(i)))
  t.ok(await until(() => b.heard.length === 10))
  t.strictSame([a.heard, b.heard], [a.heard, a.heard].map(() => ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
})

t.test('where it stands is found out without reading it', async t => {
  const [a] = await pair(t)
  for (let i = 0; i < 50; i++) await a.journal.append(tell(String(i)))
  const [late] = members(t, 1) as [Place]
  const { journal, shelf, member } = reading({ ...late, member: late.member })
  t.ok(journal.now < idAt(Date.now()), 'before, a place is as early as clocks may differ')
  await member.start()
  t.strictSame([shelf.widest, shelf.reads], [0, 1])
})

t.test('what was missed is heard afterwards, in order, and with nothing twice', async t => {
  const [a, b] = await pair(t)
  await a.journal.append(tell('0'))
  t.ok(await until(() => b.heard.length === 1))
  b.ear.deaf = true
  for (let i = 1; i < 1_200; i++) await a.journal.append(tell(String(i)))
  b.ear.hear()
  for (let i = 1_200; i < 1_300; i++) await a.journal.append(tell(String(i)))
  t.ok(await until(() => b.heard.length >= 1_300))
  await wait(50)
  t.strictSame(b.heard, Array.from({ length: 1_300 }, (_, i) => String(i)))
  t.equal(b.shelf.widest, 500, 'in pieces')
  t.equal(b.missed(), 0)
})

t.test('while the store cannot be reached, it is tried again until it can', async t => {
  const [a, b] = await pair(t)
  await a.journal.append(tell('0'))
  t.ok(await until(() => b.heard.length === 1))
  b.ear.deaf = b.shelf.away = true
  await a.journal.append(tell('1'))
  b.ear.hear()
  await a.journal.append(tell('2'))
  await wait(700)
  t.strictSame(b.heard, ['0'], 'nothing goes before what it comes after')
  b.shelf.away = false
  await a.journal.append(tell('3'))
  t.ok(await until(() => b.heard.length === 4, 6_000))
  t.strictSame([b.heard, b.missed(), b.log], [['0', '1', '2', '3'], 0, []])
  await a.journal.append(tell('4'))
  t.ok(await until(() => b.heard.at(-1) === '4'))
})

t.test('a process that starts without the store hears what comes', async t => {
  const [a] = members(t, 1).map(reading) as [Reading]
  a.shelf.away = true
  let started = false
  a.member.start().then(() => { started = true })
  await wait(50)
  a.shelf.away = false
  await a.journal.append(tell('0'))
  t.ok(await until(() => started))
  await a.journal.append(tell('1'))
  t.ok(await until(() => a.heard.length === 2))
  t.strictSame(a.heard, ['0', '1'])
})

t.test('what a process says before it hears the others, it hears', async t => {
  const [a, b] = members(t, 2).map(reading) as [Reading, Reading]
  await a.journal.append(tell('before'))
  for (let i = 0; i < 3; i++) await b.journal.append(tell(String(i)))
  for (const { member } of [a, b]) await member.start()
  await b.journal.append(tell('3'))
  for (const { heard } of [a, b]) t.ok(await until(() => heard.at(-1) === '3'))
  t.strictSame([a.heard, b.heard], [['before', '0', '1', '2', '3'], ['0', '1', '2', '3']])
})

t.test('what is announced late, when the journal has been looked at already, is heard', async t => {
  const [a, b] = members(t, 2).map(reading) as [Reading, Reading]
  const id = await a.member.store.append(LOG, JSON.stringify(tell('late')), { max: 9, size: 999, ttl: HOUR })
  await b.member.start()
  await a.ear.publish('all', JSON.stringify([LOG, id, JSON.stringify(tell('late'))]))
  await a.journal.append(tell('next'))
  t.ok(await until(() => b.heard.length === 2))
  t.strictSame(b.heard, ['late', 'next'])
})

t.test('a second gap while the first is mended loses nothing', async t => {
  const [a, b] = await pair(t)
  await a.journal.append(tell('0'))
  t.ok(await until(() => b.heard.length === 1))
  for (let i = 0; i < 20; i++) {
    b.ear.deaf = true
    await a.journal.append(tell(`lost${i}`))
    b.ear.hear()
    b.ear.deaf = true
    const lost = a.journal.append(tell(`again${i}`))
    await lost
    b.ear.hear()
    await a.journal.append(tell(`heard${i}`))
  }
  t.ok(await until(() => b.heard.length >= 61))
  t.strictSame(b.heard, a.heard)
})

t.test('what is announced is looked at before anything moves', async t => {
  const [a, b] = await pair(t)
  const wrong = ['["{journal}","9",null]', '["{journal}","9","{}"]', '["{journal}"]', '[]', '[1,2,3]', ...[
    null, 1, 'x', [], {}, { kind: 'change' }, { kind: 'change', change: null }, { kind: 'change', change: { kind: 'x' } }, { kind: 'change', change: { kind: 'resource' } },
    { kind: 'listen', session: 's', stream: 't' }, { kind: 'left', session: 's' }, { kind: 'x', session: 's', stream: 't', process: 'p' }
  ].map(entry => JSON.stringify([LOG, idAt(9_999_999_999_998), JSON.stringify(entry)])), JSON.stringify([LOG, idAt(9_999_999_999_999), '{'])]
  for (const one of wrong) await a.ear.publish('all', one)
  await b.journal.append(tell('0'))
  t.ok(await until(() => a.heard.length + b.heard.length >= 2))
  t.strictSame([a.heard, b.heard, a.missed(), b.missed()], [['0'], ['0'], 0, 0])
  t.equal(a.log.length, wrong.length, 'the log says so')
})

t.test('a journal whose ids are smaller than what was heard is taken over', async t => {
  const [a, b] = await pair(t)
  const future = JSON.stringify([LOG, idAt(Date.now() + HOUR), JSON.stringify(tell('ahead'))])
  await a.ear.publish('all', future)
  t.ok(await until(() => b.heard.length === 1))
  for (const { ear } of [a, b]) ear.deaf = true
  await b.journal.append({ kind: 'listen', session: 's', stream: 'one', process: 'p' })
  await b.journal.append({ kind: 'left', session: 's', stream: 'one' })
  await b.journal.append({ kind: 'listen', session: 's', stream: 'two', process: 'p' })
  for (const { ear } of [a, b]) ear.deaf = false
  await b.journal.append(tell('lost'))
  for (const one of [a, b]) {
    t.ok(await until(() => one.missed() === 1), 'what changed cannot be told')
    t.ok(await until(() => one.heard.includes('two')), 'which stream listens can')
    t.notOk(one.heard.includes('-one'), 'and none comes forward for one that has left since')
  }
  await wait(50)
  await a.journal.append(tell('next'))
  for (const one of [a, b]) {
    t.ok(await until(() => one.heard.at(-1) === 'next'))
    t.equal(one.heard.filter(uri => uri === 'next').length, 1)
  }
})

t.test('after a gap, too: even one that is empty', async t => {
  const [a, b] = await pair(t)
  await a.ear.publish('all', JSON.stringify([LOG, idAt(Date.now() + HOUR), JSON.stringify(tell('ahead'))]))
  t.ok(await until(() => b.heard.length === 1))
  await a.member.store.delete(LOG)
  b.ear.hear()
  t.ok(await until(() => b.missed() === 1))
  await a.journal.append(tell('next'))
  t.ok(await until(() => b.heard.at(-1) === 'next'))
})

t.test('where some is not kept any more, anything may have changed', async t => {
  const [a, b] = await pair(t)
  await a.journal.append(tell('0'))
  t.ok(await until(() => b.heard.length === 1))
  b.ear.deaf = true
  for (let i = 0; i < 5; i++) await a.member.store.append(LOG, JSON.stringify(i === 4 ? { kind: 'listen', session: 's', stream: 'one', process: 'p' } : tell(String(i))), { max: 2, size: 1e6, ttl: HOUR })
  b.ear.hear()
  t.ok(await until(() => b.missed() === 1))
  t.strictSame(b.heard, ['0', 'one'])
  await a.journal.append(tell('next'))
  t.ok(await until(() => b.heard.at(-1) === 'next'))
})

t.test('what is between two places is read in pieces, and no further', async t => {
  const [a] = await pair(t)
  const ids: string[] = []
  for (let i = 0; i < 1_100; i++) ids.push(await a.journal.append(tell(String(i))))
  const found: string[] = []
  const each = (event: Event) => { found.push(String((event as { change: { uri: string } }).change.uri)) }
  const { shelf } = a
  t.equal(await a.journal.between(ids[10] as string, ids[20] as string, each), true)
  t.strictSame(found, ['11', '12', '13', '14', '15', '16', '17', '18', '19', '20'])
  shelf.reads = 0
  t.equal(await a.journal.between(ids[0] as string, ids.at(-1) as string, each), true)
  t.strictSame([found.length, shelf.widest, shelf.reads], [10 + 1_099, 500, 3])
  shelf.reads = 0
  t.equal(await a.journal.between(ids.at(-1) as string, ids.at(-1) as string, each), true)
  t.equal(shelf.reads, 0, 'nothing is between a place and itself')
  await a.member.store.append(LOG, 'x', { max: 3, size: 1e6, ttl: HOUR })
  shelf.reads = shelf.widest = 0
  t.equal(await a.journal.between(ids[0] as string, ids.at(-1) as string, each), false)
  t.strictSame([shelf.reads, shelf.widest], [1, 0], 'what is not kept any more costs nothing')
  t.equal(await a.journal.between(ids.at(-2) as string, idAt(Date.now() + HOUR), each), true, 'what says nothing is passed over')
  await a.member.store.delete(LOG)
  t.equal(await a.journal.between(ids[0] as string, ids[1] as string, each), true)
})
