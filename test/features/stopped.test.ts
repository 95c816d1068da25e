import t from 'tap'
import { CallCancelled, CallTimeout } from '../../lib/errors.js'
import { stopped } from '../../lib/features/stopped.js'
import { endpointOf, exchangeOf } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'

t.test('what was stopped says so; anything else is for others to judge', async t => {
  const { exchange } = exchangeOf(endpointOf().endpoint, 'x')
  t.match(thrown(() => stopped(new CallTimeout(50), exchange, 'The prompt')), { code: -32603, message: /The prompt took longer than 50 ms and was stopped/ })
  t.equal(stopped(new Error('x'), exchange, 'The prompt'), undefined)
  const reason = new CallCancelled('gone')
  exchange.abort(reason)
  t.match(thrown(() => stopped(reason, exchange, 'The prompt')), { code: -32603, message: /The prompt was stopped/ })
  t.equal(stopped(new Error('x'), exchange, 'The prompt'), undefined)
})
