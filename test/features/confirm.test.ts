import t from 'tap'
import { BadArguments } from '../../lib/errors.js'
import { confirmOf } from '../../lib/features/confirm.js'
import { Refusal } from '../../lib/errors.js'
import { Session } from '../../lib/session.js'
import type { Revision as Version, Tool } from '../../types/index.js'
import { endpointOf, exchangeOf, methodOf, servedOf } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'
import { until, wait } from '../support/time.js'

const toolOf = (more: object) => ({ name: 'pay', handler: () => 'x', ...more }) as unknown as Tool

/** Asks in a session, and gives the question and how it ended. */
async function asking (more: object, args: unknown, answer?: object) {
  const { endpoint } = endpointOf()
  Object.assign(endpoint, { states: { ttl: 1000 } })
  const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, { elicitation: {} })
  const { exchange, channel } = exchangeOf(endpoint, 'tools/call', { session })
  exchange.timeout = 77
  exchange.target = { listed: {}, ...more }
  const outcome: unknown[] = []
  confirmOf(toolOf(more))?.ask(args, exchange).then(() => outcome.push('yes'), error => outcome.push(error))
  await until(() => channel.messages.length > 0 || outcome.length > 0)
  const [question] = channel.messages
  const during = exchange.timeout
  if (answer !== undefined) session.answer({ jsonrpc: '2.0', id: question.id, result: answer } as never)
  await wait(5)
  return { exchange, outcome, during, message: question?.params.message as string }
}

t.test('nobody is asked where the tool does not say so', async t => {
  t.equal(confirmOf(toolOf({})), undefined)
  t.equal(confirmOf(toolOf({ confirm: undefined, annotations: { readOnlyHint: true } })), undefined)
})

t.test('what is no question is refused', async t => {
  for (const confirm of [false, null, 5, {}, '', '  ', []]) t.match(thrown(() => confirmOf(toolOf({ confirm }))).message, /^confirm must be true, what the user is asked, or a function that says it, got (false|an empty string|a value of type \w+)$/, JSON.stringify(confirm))
  t.match(thrown(() => confirmOf(toolOf({ confirm: true, annotations: { readOnlyHint: true } }))).message, /readOnlyHint says that nothing is/)
  for (const annotations of [undefined, {}, { readOnlyHint: false, destructiveHint: true }]) t.ok(confirmOf(toolOf({ confirm: true, annotations })))
})

t.test('the user has the time of a question, and the call its own after that', async t => {
  const { exchange, outcome, during } = await asking({ confirm: true }, {}, { action: 'accept', content: { confirm: true } })
  t.strictSame([outcome, during, exchange.timeout], [['yes'], 1000, 77])
  exchange.end('{}', 200)
})

t.test('all but a yes is a refusal', async t => {
  for (const answer of [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { confirm: false } }, { action: 'accept', content: {} }, { action: 'accept' }, { action: 'accept', content: { sure: true } }]) {
    const { outcome } = await asking({ confirm: true }, {}, answer)
    t.match(outcome, [{ message: 'The user did not confirm: the tool "pay" was not run.', retryAfter: undefined }], JSON.stringify(answer))
  }
  const { outcome } = await asking({ confirm: true }, {}, { action: 'accept', content: { confirm: 'yes' } })
  t.match(outcome, [{ message: /^The user did not confirm: the tool "pay" was not run\. .*not what was asked for/ }])
  t.ok(outcome[0] instanceof Refusal)
})

t.test('where nobody can be asked the tool is named, and was not run', async t => {
  const ask = async (version: Version, session: object = { capabilities: {} }) => {
    const { endpoint } = endpointOf()
    Object.assign(endpoint, { states: { ttl: 1000 } })
    const { exchange } = exchangeOf(endpoint, 'tools/call', { version, ...(session !== undefined && version !== '2026-07-28' && { session: Object.assign(new Session('s', 'http', servedOf(version), undefined, {}), session) }) })
    exchange.target = { listed: { inputSchema: {} } }
    const error = await confirmOf(toolOf({ confirm: true }))?.ask({}, exchange).then(() => 'yes', error => error)
    exchange.end('{}', 200)
    return error as Error
  }
  const text = /^The user cannot be asked: the tool "pay" was not run\. The client .*elicitation.*\.$/
  for (const version of ['2024-11-05', '2025-11-25'] as const) {
    const error = await ask(version)
    t.ok(error instanceof Refusal, version)
    t.match(error.message, text, version)
  }
  t.match(await ask('2026-07-28'), { name: 'InputUnsupportedError', code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } }, message: text })
  const away = new Error('no store')
  t.equal(await ask('2025-11-25', { capabilities: { elicitation: {} }, ask: async () => { throw away } }), away, 'anything else is as it is')
})

t.test('a call whose question is open ends without a word of a handler that ran', async t => {
  const rows: [object, number, RegExp][] = [
    [{ confirm: true }, 0, /^The user did not answer within 20 ms: the tool "pay" was not run\.$/],
    [{ confirm: () => new Promise(() => {}) }, 10, /^It took longer than 10 ms to say what the user is asked: the tool "pay" was not run\.$/]
  ]
  for (const [more, timeout, message] of rows) {
    const { endpoint, calls } = endpointOf()
    Object.assign(endpoint, { states: { ttl: 20 }, inputRequired () {} })
    const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, { elicitation: {} })
    const { exchange, channel } = exchangeOf(endpoint, 'tools/call', { session })
    const said: unknown[] = []
    exchange.method = methodOf('tools/call', () => {}, { failed: error => { said.push(error); return {} } })
    exchange.timeout = timeout
    exchange.target = { ...more, listed: { inputSchema: {} } }
    confirmOf(toolOf(more))?.ask({}, exchange).catch(() => {})
    t.equal(calls.waits(exchange), true)
    t.ok(await until(() => channel.ended.length > 0))
    t.match(said, [{ message }])
    t.ok(said[0] instanceof Refusal)
  }
})

t.test('the question names the tool and its arguments', async t => {
  const properties = { to: {}, n: {} }
  t.equal((await asking({ confirm: true }, {})).message, 'Run pay?')
  t.equal((await asking({ confirm: true, title: 'Pay', listed: { inputSchema: { properties } } }, { more: 1, n: 5, to: 'Ada' })).message, 'Run Pay?\n\nto: "Ada"\nn: 5\n"more": 1')
})

t.test('a number that is shown as another is refused, whoever asks', async t => {
  for (const confirm of [true, 'Sure?', () => 'Sure?']) {
    const { outcome, message } = await asking({ confirm }, { a: { b: [1, Infinity] } })
    t.match(outcome, [{ constructor: BadArguments, message: 'Invalid arguments for tool "pay": /a/b/1 is a number that is too large' }])
    t.equal(message, undefined)
  }
})

t.test('what the schema marks as sensitive is not shown', async t => {
  const redact = (args: object) => ({ ...args, key: '[redacted]' })
  t.equal((await asking({ confirm: true, redact }, { to: 'Ada', key: 'hunter2' })).message, 'Run pay?\n\n"to": "Ada"\n"key": "[redacted]"')
})

t.test('the author\'s own words', async t => {
  t.equal((await asking({ confirm: 'Sure?' }, { a: 1 })).message, 'Sure?')
  const seen: unknown[] = []
  const { message, exchange } = await asking({ confirm (this: unknown, ...what: unknown[]) { seen.push(this, ...what); return 'Really?' } }, { a: 1 })
  t.equal(message, 'Really?')
  t.strictSame([seen[0] === exchange.owner, seen[1], seen[2] === exchange.ctx], [true, { a: 1 }, true])
  for (const said of ['', 5, undefined, null]) t.match((await asking({ confirm: () => said }, {})).outcome, [{ name: 'TypeError', message: /confirm of the tool "pay" must return what the user is asked/ }], String(said))
  t.match((await asking({ confirm: () => { throw new Error('no') } }, {})).outcome, [{ message: 'no' }])
})
