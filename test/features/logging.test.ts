import t from 'tap'
import { dispatch } from '../../lib/dispatch.js'
import { logging } from '../../lib/features/logging.js'
import { LEVELS } from '../../lib/schemas/envelope.js'
import { Session } from '../../lib/session.js'
import { endpointOf, exchangeOf, servedOf } from '../support/doubles.js'

const served = servedOf('2025-11-25', logging.methods)

function setLevel (params: Record<string, unknown>, session?: Session) {
  const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'logging/setLevel', { params, served, ...(session && { session }) })
  dispatch(exchange)
  return channel.answer
}

t.test('log messages are announced', async t => t.strictSame(logging.capability?.(true), { logging: {} }))

t.test('a level is kept with the session', async t => {
  const session = new Session('s', 'http', served, undefined, {})
  for (const level of LEVELS) {
    t.strictSame(setLevel({ level }, session).result, {})
    t.equal(session.logLevel, level)
  }
})

t.test('a level that is none is refused, and the one before stays', async t => {
  const session = new Session('s', 'http', served, undefined, {})
  session.logLevel = 'error'
  for (const level of ['verbose', 'ERROR', '', null, 5, undefined]) {
    t.match(setLevel({ level }, session).error, { code: -32602, message: /level/ }, String(level))
    t.equal(session.logLevel, 'error')
  }
})

t.test('without a session there is nothing to keep it with, and that is no error', async t => {
  t.strictSame(setLevel({ level: 'error' }).result, {})
})
