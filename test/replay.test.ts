import t from 'tap'
import { Replays } from '../lib/replay.js'
import type { Sink } from '../lib/replay.js'
import { wait } from './support/time.js'

function sink () {
  const seen: string[] = []
  let ended = 0
  const one: Sink = { event: (id, text) => { seen.push(`${id.split('.')[1]}:${text}`) }, disconnect: () => { ended++ } }
  return { one, seen, ended: () => ended }
}

const roomy = { events: 100, size: 1000, ttl: 1000 }

t.test('a stream that lost its connection goes on where the client says it was', async t => {
  const replays = new Replays(roomy)
  const stream = replays.open()
  const first = sink()
  stream.attach(first.one)
  stream.write('a')
  stream.write('b')
  stream.detach(first.one)
  stream.write('c')
  const found = replays.find(`${stream.id}.1`)
  t.equal(found?.stream, stream)
  const second = sink()
  stream.attach(second.one, found?.after)
  stream.write('d')
  t.strictSame([first.seen, second.seen], [['1:a', '2:b'], ['2:b', '3:c', '4:d']])
})

t.test('an answer that came meanwhile is delivered, and then the stream ends', async t => {
  const replays = new Replays(roomy)
  const stream = replays.open()
  stream.attach(sink().one)
  stream.release()
  t.equal(stream.connected, false)
  stream.write('answer')
  stream.end()
  const back = sink()
  stream.attach(back.one, 0)
  t.strictSame([back.seen, back.ended()], [['1:answer'], 1])
})

t.test('a second connection takes the place of the first, so that no event goes to two', async t => {
  const stream = new Replays(roomy).open()
  const first = sink()
  const second = sink()
  stream.attach(first.one)
  stream.attach(second.one, 0)
  stream.write('a')
  t.strictSame([first.seen, first.ended(), second.seen], [[], 1, ['1:a']])
})

t.test('ids of different streams differ, and one session does not find those of another', async t => {
  const one = new Replays(roomy)
  const two = new Replays(roomy)
  const [a, b, c] = [one.open(), one.open(), two.open()]
  t.equal(new Set([a.id, b.id, c.id]).size, 3)
  t.equal(two.find(a.start), undefined)
  for (const odd of ['', '.', a.id, `${a.id}.`, `${a.id}.x`, `${a.id}.-1`, `${a.id}.1`, `${a.id}.1e3`, 'made-up.0']) t.equal(one.find(odd), undefined, odd)
})

t.test('what is kept is bounded in events and in size, the oldest goes first, and an id from before is not found', async t => {
  for (const limits of [{ ...roomy, events: 3 }, { ...roomy, size: 3 }]) {
    const replays = new Replays(limits)
    const old = replays.open()
    const stream = replays.open()
    old.write('x')
    for (const text of ['a', 'b', 'c', 'd']) stream.write(text)
    t.equal(replays.find(old.start), undefined)
    t.equal(replays.find(stream.start), undefined)
    const back = sink()
    stream.attach(back.one, replays.find(`${stream.id}.1`)?.after)
    t.strictSame(back.seen, ['2:b', '3:c', '4:d'])
  }
})

t.test('a stream without a connection is dropped after a while, one that brings changes is not', async t => {
  const replays = new Replays({ ...roomy, ttl: -1 })
  const [answer, changes] = [replays.open(), replays.open()]
  changes.listener = { wants: () => true, deliver () {}, end () {} }
  for (const stream of [answer, changes]) {
    stream.attach(sink().one)
    stream.release()
  }
  replays.open()
  t.equal(replays.find(answer.start), undefined)
  t.equal(replays.find(changes.start)?.stream, changes)
})

t.test('a stream that is over goes with the last of its events, one that goes on does not', async t => {
  const replays = new Replays({ ...roomy, events: 2 })
  const [over, open] = [replays.open(), replays.open()]
  for (const stream of [over, open]) stream.write('a')
  over.end()
  const stream = replays.open()
  for (const text of ['b', 'c']) stream.write(text)
  t.equal(replays.find(`${over.id}.1`), undefined)
  t.equal(replays.find(`${open.id}.1`)?.stream, open)
})

t.test('streams whose time is over are looked for from time to time, not at each new one', async t => {
  const ttl = 100
  const replays = new Replays({ ...roomy, ttl })
  const answer = replays.open()
  answer.release()
  replays.open()
  t.equal(replays.find(answer.start)?.stream, answer)
  await wait(ttl + 5)
  replays.open()
  t.equal(replays.find(answer.start), undefined)
})
