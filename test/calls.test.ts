import t from 'tap'
import { Calls } from '../lib/calls.js'
import { CallCancelled } from '../lib/errors.js'
import type { Exchange } from '../lib/exchange.js'
import { endpointOf, exchangeOf } from './support/doubles.js'
import { until, wait } from './support/time.js'

const { endpoint } = endpointOf()

/** A call in flight, `timeout` ms long. */
function calling (calls: Calls, timeout = 0) {
  const { exchange, channel } = exchangeOf(endpoint, 'tools/call')
  exchange.timeout = timeout
  calls.add(exchange)
  return { exchange, channel }
}

const never = () => { throw new Error('no call was to expire') }

t.test('what is added is in flight until it is taken out', async t => {
  const calls = new Calls(1000, never)
  t.equal(calls.size, 0)
  const first = calling(calls)
  const second = calling(calls)
  t.equal(calls.size, 2)
  calls.delete(first.exchange)
  calls.delete(first.exchange)
  t.equal(calls.size, 1)
  calls.delete(second.exchange)
  t.equal(calls.size, 0)
})

t.test('a call expires when its time is over, and not before', async t => {
  const expired: [Exchange, Error, number][] = []
  const start = Date.now()
  const calls = new Calls(10_000, (exchange, error) => {
    expired.push([exchange, error, Date.now() - start])
    calls.delete(exchange)
  })
  const short = calling(calls, 120)
  const endless = calling(calls)
  const long = calling(calls, 60_000)
  t.ok(await until(() => expired.length > 0))
  t.match(expired, [[short.exchange, { name: 'TimeoutError', ms: 120 }, Number]])
  t.ok(Number(expired[0]?.[2]) >= 120, 'not before its time')
  t.equal(calls.size, 2, 'a call without a timeout goes on, and so does one that has time')
  for (const { exchange } of [endless, long]) calls.delete(exchange)
})

t.test('a call that is added again keeps the time it began', async t => {
  const expired: [Exchange, number][] = []
  const start = Date.now()
  const calls = new Calls(10_000, exchange => {
    expired.push([exchange, Date.now() - start])
    calls.delete(exchange)
  })
  const { exchange } = calling(calls)
  await wait(100)
  exchange.timeout = 200
  calls.add(exchange)
  t.equal(calls.size, 1)
  await wait(50)
  calls.add(exchange)
  t.ok(await until(() => expired.length === 1))
  t.ok((expired[0]?.[1] ?? 0) < 340, `${expired[0]?.[1]} ms`)
})

t.test('the connection of a long call is kept alive once', async t => {
  const calls = new Calls(60, never)
  const { exchange, channel } = calling(calls)
  t.equal(channel.held, 0)
  t.ok(await until(() => channel.held > 0))
  await wait(130)
  t.equal(channel.held, 1)
  calls.delete(exchange)
})

t.test('a call that is over is neither held nor expired', async t => {
  const calls = new Calls(20, never)
  const { exchange, channel } = calling(calls, 20)
  calls.delete(exchange)
  await wait(120)
  t.equal(channel.held, 0)
})

t.test('there is no timer while nothing is in flight, and one again afterwards', async t => {
  const expired: Exchange[] = []
  const calls = new Calls(10_000, exchange => {
    expired.push(exchange)
    calls.delete(exchange)
  })
  for (let i = 1; i <= 2; i++) {
    calling(calls, 1)
    t.ok(await until(() => expired.length === i), `round ${i}`)
    await wait(110)
    t.equal((calls as unknown as { timer: unknown }).timer, undefined)
  }
})

t.test('waiting for the calls in flight ends with the last of them', async t => {
  const calls = new Calls(1000, never)
  await calls.drained(10_000)
  const one = calling(calls)
  const two = calling(calls)
  let drained = false
  const waiting = calls.drained(10_000).then(() => { drained = true })
  calls.delete(one.exchange)
  await wait(5)
  t.equal(drained, false)
  calls.delete(two.exchange)
  await waiting
  t.equal(drained, true)
})

t.test('waiting for the calls in flight ends when the time is over', async t => {
  const calls = new Calls(1000, never)
  const { exchange } = calling(calls)
  const start = Date.now()
  await calls.drained(40)
  t.ok(Date.now() - start >= 39)
  t.equal(calls.size, 1)
  calls.delete(exchange)
})

t.test('all calls can be stopped: their time is over', async t => {
  const expired: [Exchange, Error][] = []
  const calls = new Calls(1000, (...what) => {
    expired.push(what)
    calls.delete(what[0])
  })
  const made = [calling(calls), calling(calls, 60_000)]
  const reason = new CallCancelled('closing')
  calls.stop(reason)
  t.strictSame(expired, made.map(({ exchange }) => [exchange, reason]))
  t.equal(calls.size, 0)
})

t.test('a reply that is there soon is not made a stream to be kept alive', async t => {
  const calls = new Calls(20, never)
  const { exchange, channel } = exchangeOf(endpoint, 'initialize')
  exchange.method = { name: 'initialize', brief: true } as NonNullable<Exchange['method']>
  calls.add(exchange)
  const other = calling(calls)
  t.ok(await until(() => other.channel.held === 1))
  t.equal(channel.held, 0)
  for (const one of [exchange, other.exchange]) calls.delete(one)
})

t.test('the time of a call can begin anew; one that is not in flight is left alone', async t => {
  const expired: number[] = []
  const from = Date.now()
  const calls = new Calls(1000, exchange => {
    expired.push(Date.now() - from)
    calls.delete(exchange)
  })
  const { exchange } = calling(calls, 150)
  await wait(100)
  calls.restart(exchange)
  t.equal(calls.size, 1)
  t.ok(await until(() => expired.length > 0))
  t.ok((expired[0] as number) >= 240, `${expired[0]} ms`)
  calls.restart(exchange)
  t.equal(calls.size, 0)
})

t.test('a call may end with something else than a timeout, until its time begins anew', async t => {
  const expired: Error[] = []
  const calls = new Calls(1000, (exchange, error) => {
    expired.push(error)
    calls.delete(exchange)
  })
  const over = new Error('nobody answered')
  const { exchange } = exchangeOf(endpoint, 'tools/call')
  t.equal(calls.waits(exchange), false)
  exchange.timeout = 1
  calls.add(exchange, over)
  calls.add(exchange)
  t.equal(calls.waits(exchange), true, 'to be added again changes nothing')
  t.ok(await until(() => expired.length === 1))
  t.equal(expired[0], over)
  calls.add(exchange, over)
  calls.restart(exchange, new Error('another'))
  t.equal(calls.waits(exchange), true)
  calls.restart(exchange)
  t.equal(calls.waits(exchange), false)
  t.ok(await until(() => expired.length === 2))
  t.match(expired[1], { name: 'TimeoutError', ms: 1 })
})
