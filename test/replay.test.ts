import t from 'tap'
import { Replays, Shelf } from '../lib/replay.js'
import type { Sink } from '../lib/replay.js'
import { wait } from './support/time.js'

function sink () {
  const seen: string[] = []
  let ended = 0
  const one: Sink = { event: (id, text) => { seen.push(`${id?.split('.')[1]}:${text}`) }, disconnect: () => { ended++ } }
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
  changes.last(true)
  for (const stream of [answer, changes]) {
    stream.attach(sink().one)
    stream.release()
  }
  replays.open()
  t.equal(replays.find(answer.start), undefined)
  t.equal(replays.find(changes.start)?.stream, changes)
  changes.last(false)
  replays.open()
  t.equal(replays.find(changes.start), undefined, 'until another takes its place')
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

t.test('a stream is kept for a while, and no longer', async t => {
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

t.test('an answer that was delivered is kept as long as its client may find out that it did not read it all', async t => {
  const shelf = new Shelf({ streams: 10, size: 1000, ttl: 20 })
  const replays = new Replays(roomy, shelf)
  const stream = replays.open()
  stream.attach(sink().one)
  stream.write('answer')
  stream.end()
  shelf.sweep(Date.now())
  t.equal(replays.find(stream.start)?.stream, stream)
  await wait(25)
  shelf.sweep(Date.now())
  t.equal(replays.find(stream.start), undefined, 'though the session opens no other')
})

t.test('a stream that somebody came back to is not dropped', async t => {
  const shelf = new Shelf({ streams: 10, size: 1000, ttl: 20 })
  const replays = new Replays(roomy, shelf)
  const stream = replays.open()
  stream.attach(sink().one)
  stream.release()
  stream.attach(sink().one)
  await wait(25)
  shelf.sweep(Date.now())
  t.equal(replays.find(stream.start)?.stream, stream)
})

t.test('all sessions together keep no more than they may: what was left first goes first', async t => {
  const shelf = new Shelf({ streams: 10, size: 10, ttl: 1000 })
  const [one, two] = [new Replays(roomy, shelf), new Replays(roomy, shelf)]
  const [first, second, live] = [one.open(), two.open(), two.open()]
  for (const stream of [second, first]) {
    stream.attach(sink().one)
    stream.write('1234')
    stream.end()
  }
  live.attach(sink().one)
  live.write('1234')
  t.strictSame([one.find(first.start)?.stream, two.find(second.start)], [first, undefined])
  live.write('12345678')
  t.equal(one.find(first.start), undefined)
  t.strictSame([two.find(live.start), two.find(`${live.id}.1`)?.stream], [undefined, live], 'then who writes loses its own')
})

t.test('there are no more streams without a connection than there may be', async t => {
  const shelf = new Shelf({ streams: 2, size: 1000, ttl: 1000 })
  const replays = new Replays(roomy, shelf)
  const streams = Array.from({ length: 4 }, () => replays.open())
  for (const stream of streams) {
    stream.attach(sink().one)
    stream.release()
  }
  t.strictSame(streams.map(stream => replays.find(stream.start) !== undefined), [false, false, true, true])
})

t.test('what is written on a stream that is not kept any more takes no room', async t => {
  const shelf = new Shelf({ streams: 10, size: 1000, ttl: -1 })
  const replays = new Replays({ ...roomy, events: 2 }, shelf)
  const lost = replays.open()
  lost.attach(sink().one)
  lost.release()
  shelf.sweep(Date.now())
  for (let i = 0; i < 5; i++) lost.write('late')
  lost.end()
  const stream = replays.open()
  stream.attach(sink().one)
  stream.write('a')
  t.equal(replays.find(stream.start)?.stream, stream)
})

t.test('a session that is over leaves nothing', async t => {
  const shelf = new Shelf({ streams: 10, size: 8, ttl: 1000 })
  const [over, other] = [new Replays(roomy, shelf), new Replays(roomy, shelf)]
  const [lost, live, stays] = [over.open(), over.open(), other.open()]
  lost.attach(sink().one)
  lost.write('1234')
  lost.release()
  live.attach(sink().one)
  live.write('1234')
  over.clear()
  t.strictSame([over.find(lost.start), over.find(live.start)], [undefined, undefined])
  stays.attach(sink().one)
  stays.write('12345678')
  t.equal(other.find(stays.start)?.stream, stays, 'its room is free')
})

t.test('a session leaves no more streams behind than events', async t => {
  const replays = new Replays({ ...roomy, events: 2 })
  const streams = Array.from({ length: 4 }, () => replays.open())
  for (const stream of streams) {
    stream.attach(sink().one)
    stream.release()
  }
  t.strictSame(streams.map(stream => replays.find(stream.start) !== undefined), [false, false, true, true])
})
