import { Type } from '@sinclair/typebox'
import t from 'tap'
import { dispatch, expire, inputRequired, notify } from '../lib/dispatch.js'
import { inputRequired as asking } from '../lib/content.js'
import { CallCancelled, CallTimeout, McpError, NoStreamError, Refusal, rpcError } from '../lib/errors.js'
import { KEPT } from '../lib/method.js'
import type { Method } from '../lib/method.js'
import { roots } from '../lib/question.js'
import type { Revision } from '../types/index.js'
import { endpointOf, exchangeOf, methodOf, servedOf, type ExchangeOptions } from './support/doubles.js'
import { turn } from './support/time.js'

const secret = 'pg://u:pw@10.0.0.9/db'

/** Sends one request for a method and gives what became of it. */
function sending (method: Method, options: ExchangeOptions & { version?: Revision } = {}) {
  const double = endpointOf()
  const made = exchangeOf(double.endpoint, method.name, { ...options, served: servedOf(options.version ?? '2025-11-25', [method]) })
  dispatch(made.exchange)
  return { ...double, ...made }
}

t.test('a method that the revision does not have is not found, with the status of the revision', async t => {
  const rows: [Revision, number][] = [['2024-11-05', 200], ['2025-11-25', 200], ['2026-07-28', 404]]
  for (const [version, status] of rows) {
    for (const name of ['x/y', 'constructor', '__proto__']) {
      const { exchange, channel } = exchangeOf(endpointOf().endpoint, name, { version, id: 'q' })
      dispatch(exchange)
      t.match(channel.answer, { id: 'q', error: { code: -32601, message: RegExp(name) } }, `${name} in ${version}`)
      t.equal(channel.status, status, version)
    }
  }
})

t.test('a method that answers at once is answered at once, with its own id', async t => {
  for (const id of [0, -1, 'a"b', '']) {
    const { channel, calls } = sending(methodOf('m', params => ({ got: params.a })), { id, params: { a: 5 } })
    t.strictSame(channel.answer, { jsonrpc: '2.0', id, result: { got: 5 } })
    t.strictSame([channel.status, channel.sent, calls.size], [200, [], 0])
  }
})

t.test('a promise is waited for, and its call is in flight meanwhile', async t => {
  let resolve = (_: unknown) => {}
  const { channel, calls } = sending(methodOf('m', () => new Promise(_resolve => { resolve = _resolve })))
  t.strictSame([channel.ended, calls.size], [[], 1])
  resolve({ n: 1 })
  await turn()
  t.strictSame([channel.answer.result, calls.size], [{ n: 1 }, 0])
})

t.test('whatever has a then is waited for', async t => {
  const { channel } = sending(methodOf('m', () => ({ then: (done: (value: unknown) => void) => done({ n: 2 }) })))
  await turn()
  t.strictSame(channel.answer.result, { n: 2 })
})

t.test('params that are absent or null are an empty object, others must be an object', async t => {
  for (const params of [undefined, null]) t.strictSame(sending(methodOf('m', params => ({ params })), params === undefined ? {} : { params }).channel.answer.result, { params: {} })
  for (const params of [[], [1], 'x', 5, true]) {
    const { channel } = sending(methodOf('m', () => ({})), { params: params as never })
    t.match(channel.answer.error, { code: -32602, message: /params must be an object/ }, JSON.stringify(params))
    t.equal(channel.status, 200)
  }
})

t.test('params that do not fit are refused with the sentence of the check, and the method is not called', async t => {
  let called = 0
  const { channel } = sending(methodOf('m', () => { called++ }, { params: Type.Object({ name: Type.String() }) }), { params: { name: 5 } })
  t.match(channel.answer.error, { code: -32602, message: 'Invalid params: /name must be string, got number 5' })
  t.equal(called, 0)
})

t.test('what a method throws or rejects with becomes an error', async t => {
  const rows: [string, unknown, object, number][] = [
    ['a protocol error', new McpError(-32000, 'no', { hint: 1 }), { code: -32000, message: 'no', data: { hint: 1 } }, 200],
    ['one of the table with a status', rpcError('Unavailable', 'later'), { code: -32603, message: 'Unavailable: later' }, 503],
    ['one of the table without', rpcError('InvalidParams', 'x'), { code: -32602 }, 200],
    ['an error', new Error(secret), { code: -32603, message: /^Internal error: error id \w+$/ }, 200],
    ['a string', secret, { code: -32603, message: /error id/ }, 200],
    ['nothing', undefined, { code: -32603, message: /error id/ }, 200]
  ]
  for (const [what, error, expected, status] of rows) {
    const sync = sending(methodOf('m', () => { throw error }))
    const late = sending(methodOf('m', () => Promise.reject(error)))
    const thenable = sending(methodOf('m', () => ({ then (_: unknown, fail: (error: unknown) => void) { fail(error) } })))
    await turn()
    for (const { channel, calls } of [sync, late, thenable]) {
      t.match(channel.answer.error, expected, what)
      t.notMatch(channel.ended[0]?.text, secret, what)
      t.strictSame([channel.status, calls.size], [status, 0], what)
    }
  }
})

t.test('a thenable that throws is an error like any other', async t => {
  const hostile: [string, unknown][] = [
    ['when it is called', { then () { throw new Error(secret) } }],
    ['when it is looked at', { get then () { throw new Error(secret) } }]
  ]
  for (const [what, value] of hostile) {
    t.doesNotThrow(() => {
      const { channel, calls, log } = sending(methodOf('m', () => value))
      t.match(channel.answer?.error, { code: -32603 }, what)
      t.strictSame([calls.size, log[0]?.fields.err.message], [0, secret], what)
    }, `${what}: nothing is thrown at the transport`)
  }
})

t.test('what is masked is logged in full under the id that the client got', async t => {
  const { channel, log } = sending(methodOf('m', () => { throw new Error(secret) }), { params: { name: 'tool' } })
  t.match(log, [{ level: 'error', fields: { err: { message: secret }, method: 'm', name: 'tool' } }])
  t.match(channel.answer.error.message, String(log[0]?.fields.errorId))
})

t.test('an error that the revision gives a status has that status', async t => {
  const missing = () => { throw rpcError('MissingCapability', 'sampling') }
  const rows: [Revision, number][] = [['2025-11-25', 200], ['2026-07-28', 400]]
  for (const [version, status] of rows) t.equal(sending(methodOf('m', missing), { version }).channel.status, status, version)
})

t.test('a method may make a result of its value, and of its error', async t => {
  const result: Method['result'] = (value, exchange) => ({ value, method: exchange.method?.name })
  t.strictSame(sending(methodOf('m', () => 5, { result })).channel.answer.result, { value: 5, method: 'm' })
  const failed: Method['failed'] = error => error instanceof McpError ? undefined : { failed: String(error) }
  t.strictSame(sending(methodOf('m', () => { throw new Error('x') }, { failed })).channel.answer.result, { failed: 'Error: x' })
  t.match(sending(methodOf('m', () => { throw new McpError(1, 'x') }, { failed })).channel.answer.error, { code: 1, message: 'x' })
})

t.test('a refusal tells HTTP too when to come back; headers of other errors are none of ours', async t => {
  const rows: [unknown, object | undefined][] = [
    [new Refusal('no', 7), { 'retry-after': '7' }],
    [new Refusal('no'), undefined],
    [Object.assign(new Error('fetched'), { headers: { 'x-secret': '1' } }), undefined],
    [undefined, undefined]
  ]
  for (const [error, headers] of rows) {
    const { channel } = sending(methodOf('m', () => { throw error }, { failed: () => ({ told: true }) }))
    t.match(channel.answer.result, { told: true })
    t.strictSame(channel.headers, headers)
  }
})

t.test('a failure while the result is made or written is a failure of the method', async t => {
  const failed: Method['failed'] = error => ({ why: (error as Error).message })
  const result: Method['result'] = () => { throw new Error('no result') }
  t.strictSame(sending(methodOf('m', () => 5, { result, failed })).channel.answer.result, { why: 'no result' })
  t.match(sending(methodOf('m', () => ({ n: 1n }), { failed })).channel.answer.result, { why: /BigInt/ })
})

t.test('what is thrown while an error is told replaces it', async t => {
  const failed: Method['failed'] = () => { throw rpcError('InvalidParams', 'told otherwise') }
  t.match(sending(methodOf('m', () => { throw new Error('x') }, { failed })).channel.answer.error, { code: -32602, message: /told otherwise/ })
})

t.test('a method that keeps the channel answers by itself', async t => {
  const { channel, calls, exchange } = sending(methodOf('m', () => KEPT))
  t.strictSame([channel.ended, calls.size, exchange.settled], [[], 0, false])
})

t.test('a call whose time is over is answered at once, told to stop, and heard no more', async t => {
  let fail = (_: unknown) => {}
  const { exchange, channel, calls, log } = sending(methodOf('m', () => new Promise((_resolve, _reject) => { fail = _reject }), { failed: error => ({ timedOut: (error as Error).name }) }))
  const { signal } = exchange
  expire(exchange, new CallTimeout(10))
  t.strictSame(channel.answer.result, { timedOut: 'TimeoutError' })
  t.strictSame([signal.reason.name, calls.size], ['TimeoutError', 0])
  fail(new Error(secret))
  await turn()
  t.equal(channel.ended.length, 1)
  t.match(log, [
    { level: 'warn', fields: { ms: 10, method: 'm' }, message: /longer than 10 ms/ },
    { level: 'warn', fields: { err: { message: secret }, method: 'm' }, message: /failed after its call was over/ }
  ], 'whoever runs the server is told')
  t.equal(log.length, 2)
})

t.test('a call that is stopped for another reason is no matter for the log', async t => {
  const { exchange, log } = sending(methodOf('m', () => new Promise(() => {}), { failed: () => ({}) }))
  expire(exchange, new CallCancelled('The server is closing'))
  t.strictSame(log, [])
})

t.test('an answer that comes after the exchange has an end is dropped', async t => {
  let resolve = (_: unknown) => {}
  const { exchange, channel } = sending(methodOf('m', () => new Promise(_resolve => { resolve = _resolve })))
  exchange.conclude()
  resolve({})
  await turn()
  t.strictSame(channel.ended, [])
})

t.test('a notification goes to who listens to it, with what is in flight', async t => {
  const heard: unknown[][] = []
  const served = servedOf('2025-11-25', [], [{ name: 'notifications/cancelled', receive: (...what) => { heard.push(what) } }])
  notify(served, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, [])
  notify(served, { jsonrpc: '2.0', method: 'notifications/cancelled' }, [])
  t.strictSame(heard, [[{ requestId: 1 }, []], [{}, []]])
})

t.test('a notification that is unknown or malformed is no error', async t => {
  const served = servedOf('2025-11-25', [], [{ name: 'notifications/cancelled', receive () { throw new Error('must not be heard') } }])
  for (const method of ['x', 'constructor']) t.doesNotThrow(() => notify(served, { jsonrpc: '2.0', method }, []))
  for (const params of [[], 'x', 5]) t.doesNotThrow(() => notify(served, { jsonrpc: '2.0', method: 'notifications/cancelled', params: params as never }, []))
})

t.test('a question that came to nothing is told in its own words', async t => {
  t.match(sending(methodOf('m', () => { throw new NoStreamError('there is no stream') })).channel.answer.error, { code: -32603, message: 'Internal error: there is no stream' })
})

/** One request for a method, with something in the place of who asks the client. */
function askingBy (method: Method, input: object, rounds?: object) {
  const double = endpointOf()
  const made = exchangeOf(double.endpoint, method.name, { version: '2026-07-28', served: servedOf('2026-07-28', [method]), params: {} })
  Object.defineProperty(made.exchange, 'input', { value: input })
  if (rounds !== undefined) Object.assign(made.exchange, { rounds })
  dispatch(made.exchange)
  return { ...double, ...made }
}

t.test('a handler that returns its questions runs again when they are answered', async t => {
  let runs = 0
  const ask = roots()
  const method = methodOf('m', () => ++runs === 1 ? asking({ questions: { a: ask as never }, state: 5 }) : { runs }, { asks: true })
  const required: unknown[][] = []
  const { channel, calls } = askingBy(method, { require (...what: unknown[]) { required.push(what); return Promise.resolve() } })
  t.equal(calls.size, 1)
  await turn()
  t.match([channel.answer.result, required, calls.size], [{ runs: 2 }, [[{ a: ask }, 5]], 0])
})

t.test('questions that fail, cannot be asked, or come from a method that asks none, are errors', async t => {
  const questions = methodOf('m', () => asking({ questions: {}, state: 1 }), { asks: true })
  const rows: [string, Method, () => unknown, RegExp][] = [
    ['that fail', questions, () => Promise.reject(new McpError(-1, 'refused')), /refused/],
    ['that cannot be asked', questions, () => { throw new McpError(-1, 'no forms') }, /no forms/],
    ['of a method that asks none', { ...questions, asks: false }, () => undefined, /error id/]
  ]
  for (const [what, method, require, message] of rows) {
    const { channel } = askingBy(method, { require })
    await turn()
    t.match(channel.answer.error, { message }, what)
  }
})

t.test('a call that ends with a question answers with it, whatever its handler has made of it', async t => {
  const handlers: [string, () => unknown][] = [['a value', () => ({ n: 1 })], ['an error', () => { throw new Error(secret) }], ['its questions', () => asking({ questions: {}, state: 1 })]]
  for (const [what, call] of handlers) {
    const rounds = { required: true, answering: false, result: async () => ({ resultType: 'input_required', inputRequests: {} }) }
    const { channel, exchange } = askingBy(methodOf('m', call, { asks: true }), { require () {} }, rounds)
    inputRequired(exchange)
    await turn()
    t.match(channel.answer.result, { resultType: 'input_required' }, what)
    t.equal(channel.ended.length, 1, what)
    inputRequired(exchange)
  }
})

t.test('a call whose time is over while its question is on its way is an error; before, it is answered with the question', async t => {
  const rounds = { required: true, answering: false, result: () => new Promise(() => {}) }
  const { channel, exchange } = askingBy(methodOf('m', () => new Promise(() => {}), { asks: true }), {}, rounds)
  expire(exchange, new CallTimeout(5))
  t.equal(rounds.answering, true)
  t.strictSame(channel.ended, [])
  expire(exchange, new CallTimeout(5))
  t.match(channel.answer, { error: { code: -32603 } })
})

t.test('a question that cannot be put into a result is an error', async t => {
  const rounds = { required: true, answering: false, result: () => Promise.reject(new Error(secret)) }
  const { channel, log } = askingBy(methodOf('m', () => ({}), { asks: true }), {}, rounds)
  await turn()
  t.match(channel.answer.error, { code: -32603, message: /error id/ })
  t.match(log, [{ fields: { err: { message: secret } } }])
})

t.test('a call that brings answers is resumed before its method is called', async t => {
  const order: string[] = []
  const method = methodOf('m', () => { order.push('called'); return {} }, { asks: true })
  const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'm', { served: servedOf('2026-07-28', [method]), params: { requestState: 'sealed' } })
  Object.defineProperty(exchange, 'resume', { value: async () => { await turn(); order.push('resumed') } })
  dispatch(exchange)
  await turn()
  await turn()
  t.match([order, channel.answer.result], [['resumed', 'called'], { resultType: 'complete' }])
})

t.test('a call that was cancelled while it was resumed runs no method', async t => {
  let runs = 0
  const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'm', { served: servedOf('2026-07-28', [methodOf('m', () => { runs++; return {} }, { asks: true })]), params: { requestState: 'sealed' } })
  Object.defineProperty(exchange, 'resume', { value: turn })
  dispatch(exchange)
  exchange.cancel(new CallCancelled('changed my mind'))
  await turn()
  await turn()
  t.strictSame([runs, channel.ended], [0, []])
})

t.test('what a handler throws because it was told to stop is no matter for the log', async t => {
  for (const wrapped of [(error: Error) => error, (error: Error) => new Error('the query failed', { cause: error }), () => new DOMException('x', 'AbortError')]) {
    let fail = (_: unknown) => {}
    const { exchange, log } = sending(methodOf('m', () => new Promise((_resolve, _reject) => { fail = _reject }), { failed: () => ({}) }))
    const { signal } = exchange
    expire(exchange, new CallTimeout(10))
    fail(wrapped(signal.reason))
    await turn()
    t.equal(log.length, 1)
  }
})

t.test('a call that is refused when its time is over says so in the log, and not that it was stopped', async t => {
  const { exchange, channel, log } = sending(methodOf('m', () => new Promise(() => {}), { failed: error => ({ said: (error as Error).message }) }))
  exchange.timeout = 10
  expire(exchange, new Refusal('Nobody answered: it was not run.'))
  t.strictSame(channel.answer.result, { said: 'Nobody answered: it was not run.' })
  t.match(log, [{ level: 'warn', fields: { ms: 10, method: 'm' }, message: 'Nobody answered: it was not run.' }])
  t.equal(log.length, 1)
})

t.test('what a handler throws when its client has left was taken back', async t => {
  const rows: [unknown, number][] = [[new Error(secret), 1], [new Error('x', { cause: new CallCancelled('gone') }), 0], [new McpError(-32000, 'no'), 1]]
  for (const [error, lines] of rows) {
    let fail = (_: unknown) => {}
    let judged = 0
    const { exchange, channel, log } = sending(methodOf('m', () => new Promise((_resolve, _reject) => { fail = _reject }), { failed: () => { judged++; return {} } }))
    t.equal(exchange.signal.aborted, false)
    channel.leave()
    fail(error)
    await turn()
    t.strictSame([judged, channel.ended.length, channel.closed, exchange.settled, exchange.errorId], [0, 0, 1, true, undefined])
    t.strictSame(log.map(({ level }) => level), Array(lines).fill('warn'))
  }
})
