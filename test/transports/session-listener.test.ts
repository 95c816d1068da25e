import t from 'tap'
import { Replays } from '../../lib/replay.js'
import { Session } from '../../lib/sessions.js'
import { Subscriptions } from '../../lib/subscriptions.js'
import { SessionListener } from '../../lib/transports/session-listener.js'
import { servedOf } from '../support/doubles.js'

/** A session with listeners on streams of its own, the newest last, and what each of them has brought. */
function listening (count: number) {
  const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, {})
  const among = new Subscriptions()
  const replays = new Replays({ events: 10, size: 1_000, ttl: 1_000 })
  const listeners = Array.from({ length: count }, () => {
    const replay = replays.open()
    const written: string[] = []
    let ended = 0
    replay.attach({ event () {}, disconnect () {} })
    const outlet = { connected: true, ready: undefined, write: (text: string) => { written.push(text) }, end: () => { ended++ }, release () {} }
    const listener = new SessionListener(session, outlet, replay, among)
    session.attach(listener)
    among.add(listener)
    return { listener, replay, written, ended: () => ended }
  })
  return { session, among, listeners }
}

t.test('a change comes on the newest stream that somebody is connected to', async t => {
  const { among, listeners: [old, newest] } = listening(2)
  among.publish({ kind: 'tools' })
  t.strictSame([old?.written.length, newest?.written], [0, ['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}']])
  newest?.replay.detach()
  t.strictSame([old?.listener.connected, newest?.listener.connected], [true, false])
  among.publish({ kind: 'tools' })
  t.strictSame([old?.written.length, newest?.written.length], [1, 1])
})

t.test('an update of a resource comes where the session has subscribed to it', async t => {
  const { session, among, listeners: [one] } = listening(1)
  session.subscribe('mem://a')
  for (const uri of ['mem://a', 'mem://b']) among.publish({ kind: 'resource', uri })
  t.match(one?.written.map(text => JSON.parse(text)), [{ method: 'notifications/resources/updated', params: { uri: 'mem://a' } }])
  t.equal(one?.written.length, 1)
})

t.test('other messages of the session go the same way', async t => {
  const { listeners: [one] } = listening(1)
  one?.listener.send('{}')
  t.strictSame(one?.written, ['{}'])
})

t.test('one that ends is counted no more, and its stream ends', async t => {
  const { among, listeners: [one] } = listening(1)
  t.equal(among.size, 1)
  one?.listener.end()
  t.strictSame([among.size, one?.ended()], [0, 1])
})
