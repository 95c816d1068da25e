import t, { type Test } from 'tap'
import { Shelf } from '../lib/replay.js'
import { Session, Sessions } from '../lib/sessions.js'
import type { Transport } from '../lib/sessions.js'
import type { Subscription } from '../lib/subscriptions.js'
import { endpointOf, exchangeOf, servedOf } from './support/doubles.js'
import { thrown } from './support/thrown.js'
import { until, wait } from './support/time.js'

const served = servedOf('2025-11-25')
const HOUR = 3_600_000
const { endpoint } = endpointOf()

/** Sessions of one endpoint, ended with the test so that no timer is left. */
function sessionsOf (t: Test, limits: { idle?: number, max?: number } = {}) {
  const sessions = new Sessions({ idle: HOUR, max: 100, ...limits })
  t.teardown(() => sessions.endAll('the test is over'))
  return sessions
}

const stream = (ended: string[] = [], name = 'stream', more: Partial<Subscription> = {}): Subscription => ({ wants: () => true, deliver () {}, end () { ended.push(name) }, ...more })

t.test('a session keeps what the handshake settled', async t => {
  const session = sessionsOf(t).open('http', served, { name: 'c', version: '1' }, { roots: {} })
  t.match(session, { transport: 'http', served, client: { name: 'c' }, capabilities: { roots: {} }, logLevel: undefined, busy: false })
  t.strictSame(sessionsOf(t).open('stdio', served).capabilities, {})
})

t.test('ids are unique, cannot be guessed, and fit into a header', async t => {
  const sessions = sessionsOf(t)
  const ids = Array.from({ length: 50 }, () => sessions.open('http', served).id)
  t.equal(new Set(ids).size, 50)
  for (const id of ids) t.match(id, /^[\x21-\x7e]{32,}$/)
})

t.test('a session is found by its id over its own transport', async t => {
  const sessions = sessionsOf(t)
  const session = sessions.open('http', served)
  t.equal(sessions.find(session.id, 'http'), session)
  t.equal(sessions.peek(session.id, 'http'), session)
  for (const transport of ['http-sse', 'stdio'] satisfies Transport[]) t.equal(sessions.find(session.id, transport), undefined, transport)
  for (const id of ['', 'nope', '__proto__', session.id.toUpperCase() + ' ']) t.equal(sessions.find(id, 'http'), undefined, id)
})

t.test('finding counts as use, looking does not', async t => {
  const sessions = sessionsOf(t)
  const session = sessions.open('http', served)
  const before = session.seen -= 1000
  sessions.peek(session.id, 'http')
  t.equal(session.seen, before)
  sessions.find(session.id, 'http')
  t.ok(session.seen > before)
})

t.test('a session that is ended is not found and is told', async t => {
  const sessions = sessionsOf(t)
  const session = sessions.open('http', served)
  const ended: string[] = []
  session.attach(stream(ended))
  sessions.end(session, 'over')
  sessions.end(session, 'over')
  t.equal(sessions.find(session.id, 'http'), undefined)
  t.equal(sessions.size, 0)
  t.strictSame(ended, ['stream'])
})

t.test('an idle session ends by itself, with the reason', async t => {
  const sessions = sessionsOf(t, { idle: 60 })
  const session = sessions.open('http', served)
  t.equal(sessions.find(session.id, 'http'), session)
  t.ok(await until(() => sessions.size === 0))
  t.equal(sessions.find(session.id, 'http'), undefined)
})

t.test('a session whose time is over is not found, swept or not', async t => {
  const sessions = sessionsOf(t, { idle: HOUR })
  const session = sessions.open('http', served)
  session.seen -= HOUR + 1
  t.equal(sessions.find(session.id, 'http'), undefined)
})

t.test('a session with a call or a stream is not idle', async t => {
  const sessions = sessionsOf(t, { idle: 40 })
  const [calling, streaming] = [sessions.open('http', served), sessions.open('http', served)]
  const { exchange } = exchangeOf(endpoint, 'tools/call', { session: calling })
  exchange.wait()
  const held = stream()
  streaming.attach(held)
  await wait(150)
  t.equal(sessions.size, 2)
  t.strictSame([calling.busy, streaming.busy], [true, true])
  streaming.detach(held)
  exchange.conclude()
  t.ok(await until(() => sessions.size === 0))
})

t.test('the idle time of a session begins when its last call is over', async t => {
  const sessions = sessionsOf(t, { idle: HOUR })
  const session = sessions.open('http', served)
  const { exchange } = exchangeOf(endpoint, 'tools/call', { session })
  exchange.wait()
  session.seen -= 2 * HOUR
  exchange.end('{}', 200)
  t.equal(sessions.find(session.id, 'http')?.id, session.id, 'the client that has just got its answer can go on')
})

t.test('there are no more sessions than there may be', async t => {
  const sessions = sessionsOf(t, { max: 2 })
  const first = sessions.open('http', served)
  sessions.open('http-sse', served)
  t.match(thrown(() => sessions.open('http', served)), { name: 'McpError', status: 503 })
  sessions.end(first, 'over')
  t.doesNotThrow(() => sessions.open('http', served))
})

t.test('idle sessions make room', async t => {
  const sessions = sessionsOf(t, { max: 1 })
  sessions.open('http', served).seen -= HOUR + 1
  t.doesNotThrow(() => sessions.open('http', served))
  t.equal(sessions.size, 1)
})

t.test('when there is no more room, a session whose client never used it gives way, after a while', async t => {
  const sessions = sessionsOf(t, { max: 3 })
  const [used, first, second] = [sessions.open('http', served), sessions.open('http', served), sessions.open('http', served)]
  sessions.find(used.id, 'http')
  t.match(thrown(() => sessions.open('http', served)), { status: 503 }, 'a client has some seconds to send what follows')
  for (const session of [used, first, second]) session.seen -= 6_000
  const third = sessions.open('http', served)
  t.strictSame([used, first, second, third].map(({ id }) => sessions.peek(id, 'http') !== undefined), [true, false, true, true], 'the oldest of them')
  third.seen -= 6_000
  for (const { id } of [second, third]) sessions.find(id, 'http')
  t.match(thrown(() => sessions.open('http', served)), { status: 503 }, 'those that are used do not')
})

t.test('a session whose client never used it ends sooner', async t => {
  const sessions = sessionsOf(t)
  const [used, unused, streaming] = [sessions.open('http', served), sessions.open('http', served), sessions.open('http-sse', served)]
  sessions.find(used.id, 'http')
  for (const session of [used, unused, streaming]) session.seen -= 301_000
  t.strictSame([used, unused, streaming].map(({ id, transport }) => sessions.find(id, transport) !== undefined), [true, false, true])
})

t.test('what the streams of a session keep goes with it, and with time', async t => {
  const shelf = new Shelf({ streams: 10, size: 1000, ttl: 20 })
  const sessions = new Sessions({ idle: 100, max: 10 }, shelf)
  t.teardown(() => sessions.endAll('the test is over'))
  const [ended, open] = [sessions.open('http', served), sessions.open('http', served)]
  open.attach(stream([], 'holds it', { connected: true }))
  const [gone, kept] = [ended.replays.open(), open.replays.open()]
  for (const one of [gone, kept]) {
    one.write('answer')
    one.end()
  }
  sessions.end(ended, 'over')
  t.equal(ended.replays.find(gone.start), undefined)
  t.ok(await until(() => open.replays.find(kept.start) === undefined), 'by the timer of the sessions, whatever the session does')
})

t.test('ending all ends all', async t => {
  const sessions = sessionsOf(t)
  const ended: string[] = []
  for (const name of ['a', 'b']) sessions.open('http', served).attach(stream(ended, name))
  sessions.endAll('The server is closing')
  t.strictSame(ended, ['a', 'b'])
  t.equal(sessions.size, 0)
  t.equal((sessions as unknown as { timer: unknown }).timer, undefined, 'no timer is left')
})

t.test('closing a session ends its calls without an answer, and says why', async t => {
  const session = new Session('s', 'http', served, undefined, {})
  const { exchange, channel } = exchangeOf(endpoint, 'tools/call', { session })
  exchange.wait()
  const { signal } = exchange
  session.close('The client ended the session')
  t.match(signal.reason, { name: 'AbortError', message: 'The client ended the session' })
  t.strictSame([channel.closed, channel.ended, session.inFlight.size], [1, [], 0])
  t.equal(new Session('idle', 'http', served, undefined, {}).inFlight.size, 0)
})

t.test('the newest stream is the one opened last of those still open', async t => {
  const session = new Session('s', 'http', served, undefined, {})
  const [first, second] = [stream(), stream()]
  t.equal(session.newest(first), false)
  session.attach(first)
  session.attach(second)
  t.strictSame([session.newest(first), session.newest(second)], [false, true])
  session.detach(second)
  t.equal(session.newest(first), true)
  session.detach(first)
  t.equal(session.busy, false)
})

const made = () => new Session('s', 'http', served, undefined, {})
const { signal: never } = new AbortController()

t.test('a stream that nobody is connected to holds no session, and gives way to the next one', async t => {
  const session = made()
  const retired: string[] = []
  const retiring = (name: string, connected: boolean) => stream([], name, { connected, retire () { retired.push(name) } })
  const [lost, open, next] = [retiring('lost', false), retiring('open', true), stream()]
  session.attach(lost)
  t.equal(session.busy, false)
  session.attach(open)
  t.strictSame([session.busy, retired], [true, ['lost']])
  session.attach(next)
  session.attach(open)
  t.strictSame(retired, ['lost'])
  t.equal(session.newest(open), true, 'one that comes back is the newest again')
  t.equal(session.replays, session.replays)
})

t.test('a session has no more streams than a few: the oldest gives way, whoever holds it', async t => {
  const session = made()
  const retired: number[] = []
  const streams = Array.from({ length: 20 }, (_, i) => stream([], `${i}`, { connected: true, retire () { retired.push(i) } }))
  for (const one of streams) session.attach(one)
  t.strictSame(retired, Array.from({ length: 12 }, (_, i) => i))
  t.strictSame(streams.map(one => session.newest(one)).indexOf(true), 19)
  for (const one of streams.slice(14)) Object.assign(one, { connected: false })
  t.equal(session.newest(streams[13] as Subscription), true, 'the newest of those that are connected')
  session.close('over')
})

t.test('updates are for the resources that the session has subscribed to', async t => {
  const session = made()
  t.equal(session.wants({ kind: 'tools' }), true)
  t.equal(session.wants({ kind: 'resource', uri: 'mem://a' }), false)
  for (let i = 0; i < 2; i++) session.subscribe('mem://a')
  t.strictSame([session.wants({ kind: 'resource', uri: 'mem://a' }), session.wants({ kind: 'resource', uri: 'mem://b' })], [true, false])
  session.unsubscribe('mem://a')
  session.unsubscribe('mem://never')
  t.equal(session.wants({ kind: 'resource', uri: 'mem://a' }), false)
})

t.test('a session cannot subscribe without end, and unsubscribing makes room', async t => {
  const session = made()
  const long = 'x'.repeat(40_000)
  session.subscribe(long)
  t.match(thrown(() => session.subscribe(long + 'y')), { code: -32602, message: /unsubscribe/ })
  session.unsubscribe(long)
  t.doesNotThrow(() => session.subscribe(long + 'y'))
})

t.test('a request of our own is sent, and settled by the answer of the client', async t => {
  const session = made()
  const sent: any[] = []
  const ask = () => session.ask('roots/list', {}, text => { sent.push(JSON.parse(text)) }, never)
  const [good, bad] = [ask(), ask()]
  t.match(sent, [{ jsonrpc: '2.0', method: 'roots/list', params: {} }, { method: 'roots/list' }])
  t.not(sent[0].id, sent[1].id)
  session.answer({ jsonrpc: '2.0', id: 'unknown', result: {} })
  session.answer({ jsonrpc: '2.0', id: sent[1].id, error: { code: -1, message: 'no' } })
  session.answer({ jsonrpc: '2.0', id: sent[0].id, result: { roots: [] } })
  session.answer({ jsonrpc: '2.0', id: sent[0].id, result: { roots: ['again'] } })
  t.strictSame(await good, { roots: [] })
  await t.rejects(bad, { name: 'InputRejectedError', code: -1, message: /roots\/list.*no/ })
})

t.test('a question is taken back when its call is over', async t => {
  const session = made()
  const sent: any[] = []
  const send = (text: string) => { sent.push(JSON.parse(text)) }
  const controller = new AbortController()
  const asked = session.ask('roots/list', {}, send, controller.signal)
  controller.abort(new Error('over'))
  await t.rejects(asked, { message: 'over' })
  t.match(sent[1], { method: 'notifications/cancelled', params: { requestId: sent[0].id } })
  await t.rejects(session.ask('roots/list', {}, send, controller.signal), { message: 'over' })
  t.equal(sent.length, 2, 'what is over already asks nothing')
})

t.test('the session is spoken to on its newest stream, if that takes any message', async t => {
  const session = made()
  const sent: string[] = []
  t.equal(session.sender, undefined)
  session.attach(stream([], 'deaf'))
  t.equal(session.sender, undefined)
  session.attach(stream([], 'open', { send: text => { sent.push(text) } }))
  session.sender?.('hi')
  t.strictSame(sent, ['hi'])
})
