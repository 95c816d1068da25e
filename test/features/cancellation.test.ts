import t from 'tap'
import { notify } from '../../lib/dispatch.js'
import { cancellation } from '../../lib/features/cancellation.js'
import { endpointOf, exchangeOf, servedOf } from '../support/doubles.js'

const served = servedOf('2025-11-25', [], cancellation.notifications)

function inFlight (...ids: (string | number)[]) {
  const { endpoint } = endpointOf()
  const made = ids.map(id => exchangeOf(endpoint, 'tools/call', { id }))
  for (const { exchange } of made) exchange.wait()
  return made
}

const cancel = (params: unknown, made: ReturnType<typeof inFlight>) =>
  notify(served, { jsonrpc: '2.0', method: 'notifications/cancelled', params: params as never }, made.map(one => one.exchange))

t.test('the call that is named stops without an answer, the others go on', async t => {
  const made = inFlight(1, 'two', 3)
  const signals = made.map(({ exchange }) => exchange.signal)
  cancel({ requestId: 'two', reason: 'The user has left' }, made)
  t.strictSame(signals.map(signal => signal.aborted), [false, true, false])
  t.match(signals[1]?.reason, { name: 'AbortError', message: 'The client cancelled the call: The user has left' })
  t.strictSame(made.map(({ channel }) => [channel.closed, channel.ended.length]), [[0, 0], [1, 0], [0, 0]])
})

t.test('a number is not the string that looks like it', async t => {
  const made = inFlight('1')
  cancel({ requestId: 1 }, made)
  t.equal(made[0]?.exchange.settled, false)
})

t.test('what names nothing is no error', async t => {
  const made = inFlight(1)
  for (const params of [{}, { requestId: 2 }, { requestId: null }, { requestId: {} }, undefined, null]) t.doesNotThrow(() => cancel(params, made), JSON.stringify(params))
  t.equal(made[0]?.exchange.settled, false)
})

t.test('what is over stays over', async t => {
  const made = inFlight(1)
  made[0]?.exchange.end('{}', 200)
  cancel({ requestId: 1 }, made)
  t.strictSame([made[0]?.channel.ended.length, made[0]?.channel.closed], [1, 0])
})

t.test('a reason is optional, and not without end', async t => {
  for (const [reason, length] of [[undefined, 30], [5, 30], ['x'.repeat(5000), 250]] as const) {
    const made = inFlight(1)
    const signal = made[0]?.exchange.signal
    cancel({ requestId: 1, reason }, made)
    t.match(signal?.reason.message, /^The client cancelled the call/)
    t.ok(signal?.reason.message.length <= length)
  }
})
