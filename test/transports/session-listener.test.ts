import t from 'tap'
import { Replays } from '../../lib/replay.js'
import { Session } from '../../lib/session.js'
import { Subscriptions } from '../../lib/subscriptions.js'
import { plain, resumable } from '../../lib/transports/outlet.js'
import { SessionListener } from '../../lib/transports/session-listener.js'
import { SseStream } from '../../lib/transports/stream.js'
import { servedOf } from '../support/doubles.js'
import { FakeResponse } from '../support/reply.js'
import { turn } from '../support/time.js'

const limits = { events: 100, size: 1000, ttl: -1 }

/** A session with streams that can be come back to, or that cannot. */
function streaming (resumes: boolean) {
  const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, {})
  const replays = new Replays(limits)
  const among = new Subscriptions()
  const open = () => {
    const response = new FakeResponse()
    const stream = new SseStream(response.raw, 1000)
    const replay = resumes ? replays.open() : undefined
    if (replay !== undefined) resumable(replay, stream, { primed: false, after: undefined })
    const listener = new SessionListener(session, replay ?? plain(stream), among)
    listener.enter()
    return { response, replay, listener }
  }
  return { session, replays, among, open }
}

for (const resumes of [true, false]) {
  const what = resumes ? 'that can be come back to' : 'that cannot'
  t.test(`of streams ${what}, the newest that is connected has the changes`, async t => {
    const { session, among, open } = streaming(resumes)
    const [first, second] = [open(), open()]
    t.strictSame([session.busy, among.size, first.listener.connected], [true, 2, true])
    among.publish({ kind: 'tools' })
    among.publish({ kind: 'resource', uri: 'mem://a' })
    await turn()
    second.response.destroy()
    among.publish({ kind: 'prompts' })
    first.listener.send('{"method":"x"}')
    await turn()
    t.match([second.response.text, first.response.text], [/tools.list_changed/, /prompts.list_changed[^]*"x"/])
    t.notMatch(second.response.text + first.response.text, /resources/, 'nobody subscribed to it')
    first.response.destroy()
    t.strictSame([session.busy, among.size], [false, 0])
  })

  t.test(`one ${what} ends with its session`, async t => {
    const { session, among, open } = streaming(resumes)
    const both = [open(), open()]
    session.close('over')
    t.strictSame(both.map(({ response }) => response.writableFinished), [true, true])
    t.equal(among.size, 0)
  })
}

t.test('an update of a resource comes where the session has subscribed to it', async t => {
  const { session, among, open } = streaming(false)
  const { response } = open()
  session.subscribe('mem://a')
  for (const uri of ['mem://a', 'mem://b']) among.publish({ kind: 'resource', uri })
  await turn()
  t.match(response.text, /resources.updated.*mem:..a/)
  t.notMatch(response.text, /mem:..b/)
})

t.test('one that has left is nobody\'s any more', async t => {
  const { session, among, open } = streaming(false)
  const { listener } = open()
  listener.leave()
  t.strictSame([session.busy, among.size, session.sender], [false, 0, undefined])
})

t.test('one that gives way keeps what it brought for a while, and can be the newest again', async t => {
  const { session, replays, among, open } = streaming(true)
  const lost = open()
  lost.response.destroy()
  among.publish({ kind: 'tools' })
  replays.open()
  t.equal(replays.find(lost.replay?.start ?? '')?.stream, lost.replay, 'as long as no other has taken its place, its time is not over')
  open()
  t.equal(session.newest(lost.listener), false)
  lost.listener.enter()
  t.equal(replays.find(lost.replay?.start ?? '')?.stream, lost.replay)
  open()
  replays.open()
  t.equal(replays.find(lost.replay?.start ?? ''), undefined)
})

t.test('one that gives way while it is connected is ended', async t => {
  for (const resumes of [true, false]) {
    const { response, listener } = streaming(resumes).open()
    listener.retire()
    t.equal(response.writableFinished, true)
  }
})
