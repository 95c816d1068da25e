import t from 'tap'
import { until, wait } from '../support/time.js'
import { members, type Place } from './doubles.js'

t.test('processes tell each other, one or all', async t => {
  const [a, b] = members(t, 2) as [Place, Place]
  const heard: unknown[] = []
  for (const { member } of [a, b]) {
    member.on('hello', note => heard.push([member.id, note.text]))
    await member.start()
  }
  t.equal(await a.member.tell(b.member.id, { kind: 'hello', text: 1 }), true)
  t.equal(await a.member.tell('nobody', { kind: 'hello', text: 2 }), false)
  await b.member.tellAll({ kind: 'hello', text: 3 })
  await a.member.tellAll({ kind: 'unknown' })
  t.ok(await until(() => heard.length === 3))
  t.strictSame(heard, [[b.member.id, 1], [a.member.id, 3], [b.member.id, 3]])
})

t.test('a process is there until it closes, or the store has not heard of it for its lifetime', async t => {
  const [a, b] = members(t, 2, 300) as [Place, Place]
  let ticks = 0
  b.member.onTick(() => { ticks++ })
  for (const { member } of [a, b]) await member.start()
  t.strictSame([await a.member.alive(a.member.id), await a.member.alive(b.member.id), await a.member.alive('nobody')], [true, true, false])
  t.ok(await until(() => ticks > 5))
  t.equal(await a.member.alive(b.member.id), true)
  a.shelf.away = true
  t.strictSame([await a.member.alive(b.member.id), await a.member.alive(a.member.id)], [undefined, true], 'who knows')
  a.shelf.away = false
  b.shelf.away = true
  await wait(350)
  t.equal(await a.member.alive(b.member.id), false)
  b.shelf.away = false
  t.ok(await until(() => ticks > 10))
  await b.member.close()
  t.equal(await a.member.alive(b.member.id), false)
  await b.member.start()
  t.equal(await a.member.alive(b.member.id), false, 'what is closed does not start')
})

t.test('messages that are none, or that somebody cannot take, are a line of the log', async t => {
  const [{ member, ear, log }] = members(t, 1) as [Place]
  const id = '0000000000001-000000'
  const taken: unknown[] = []
  member.on('bad', () => { throw new Error('no') })
  member.onEntry((...announcement) => announcement[0] === 'mine' && taken.push(announcement) > 0)
  member.onEntry((...announcement) => taken.push(['other', ...announcement]) > 0)
  await member.start()
  for (const text of ['{', 'null', '[]', '["mine"]', `["mine","${id}",null]`, `["mine","${id}","e",1]`, '["mine","9","e"]', '{"kind":"bad"}']) await ear.publish('all', text)
  t.ok(await until(() => log.length === 8))
  for (const log of ['mine', 'its']) await ear.publish('all', JSON.stringify([log, id, 'e']))
  t.ok(await until(() => taken.length === 2))
  t.strictSame(taken, [['mine', id, 'e'], ['other', 'its', id, 'e']])
})

t.test('after a gap each does what it has to, in order, until it succeeds', async t => {
  const [{ member, ear, shelf }] = members(t, 1) as [Place]
  const done: string[] = []
  for (const name of ['a', 'b']) {
    member.onGap(async () => {
      done.push(name)
      await member.store.get('k')
    }, () => { done.push(`${name} first`) })
  }
  await member.start()
  t.strictSame(done.splice(0), ['a', 'b'])
  shelf.away = true
  ear.hear()
  t.ok(await until(() => done.length >= 5))
  shelf.away = false
  t.ok(await until(() => done.at(-1) === 'b'))
  t.strictSame(done, ['a first', 'b first', ...done.slice(2).map(() => 'a').slice(1), 'b'])
})
