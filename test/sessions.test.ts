import t, { type Test } from 'tap'
import { Shelf } from '../lib/replay.js'
import type { SessionLimits } from '../lib/session-limits.js'
import type { Transport } from '../lib/session.js'
import { Sessions } from '../lib/sessions.js'
import { endpointOf, exchangeOf, servedOf, streamOf } from './support/doubles.js'
import { thrown } from './support/thrown.js'
import { until, wait } from './support/time.js'

const served = servedOf('2025-11-25')
const HOUR = 3_600_000
const { endpoint } = endpointOf()

/** Sessions of one endpoint, ended with the test so that no timer is left. */
function sessionsOf (t: Test, limits: Partial<SessionLimits> = {}) {
  const sessions = new Sessions({ idle: HOUR, max: 100, maxPerCaller: 100, ...limits })
  t.teardown(() => sessions.endAll('the test is over'))
  return sessions
}

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
  session.attach(streamOf(ended))
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
  const held = streamOf()
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

t.test('a caller has no more sessions than one caller may have: only his own make room for him', async t => {
  const sessions = sessionsOf(t, { maxPerCaller: 2 })
  const open = (principal?: string) => sessions.open('http', served, undefined, {}, principal)
  const [foreign, first, second] = [open('b'), open('a'), open('a')]
  t.match(thrown(() => open('a')), { name: 'McpError', status: 503, message: /you have 2 sessions/ })
  t.doesNotThrow(() => [open('b'), open(), open(), open()], 'others may, and those without a name have no such limit')
  for (const session of [foreign, first, second]) session.seen -= 6_000
  t.doesNotThrow(() => open('a'), 'the oldest that was not used goes')
  t.strictSame([[foreign, 'b'], [first, 'a'], [second, 'a']].map(([{ id }, who]: any) => sessions.peek(id, 'http', who) !== undefined), [true, false, true])
  sessions.end(second, 'over')
  t.doesNotThrow(() => open('a'), 'and one that ends makes room')
  t.match(thrown(() => open('a')), { status: 503 })
  sessions.endAll('over')
  t.equal((sessions as unknown as { held: Map<string, number> }).held.size, 0, 'nothing is kept of callers that have none')
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
  const sessions = new Sessions({ idle: 100, max: 10, maxPerCaller: 10 }, shelf)
  t.teardown(() => sessions.endAll('the test is over'))
  const [ended, open] = [sessions.open('http', served), sessions.open('http', served)]
  open.attach(streamOf([], 'holds it', { connected: true }))
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
  for (const name of ['a', 'b']) sessions.open('http', served).attach(streamOf(ended, name))
  sessions.endAll('The server is closing')
  t.strictSame(ended, ['a', 'b'])
  t.equal(sessions.size, 0)
  t.equal((sessions as unknown as { timer: unknown }).timer, undefined, 'no timer is left')
})
