import t from 'tap'
import { Session } from '../lib/session.js'
import type { Subscription } from '../lib/subscriptions.js'
import { endpointOf, exchangeOf, servedOf, streamOf } from './support/doubles.js'
import { thrown } from './support/thrown.js'

const served = servedOf('2025-11-25')
const { endpoint } = endpointOf()

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
  const [first, second] = [streamOf(), streamOf()]
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
  const retiring = (name: string, connected: boolean) => streamOf([], name, { connected, retire () { retired.push(name) } })
  const [lost, open, next] = [retiring('lost', false), retiring('open', true), streamOf()]
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
  const streams = Array.from({ length: 20 }, (_, i) => streamOf([], `${i}`, { connected: true, retire () { retired.push(i) } }))
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
  session.attach(streamOf([], 'deaf'))
  t.equal(session.sender, undefined)
  session.attach(streamOf([], 'open', { send: text => { sent.push(text) } }))
  session.sender?.('hi')
  t.strictSame(sent, ['hi'])
})
