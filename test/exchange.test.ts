import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { CallCancelled, CallTimeout } from '../lib/errors.js'
import { Exchange, type Endpoint } from '../lib/exchange.js'
import { Requests } from '../lib/input.js'
import { roots, type Question } from '../lib/question.js'
import { Rounds } from '../lib/rounds.js'
import { META } from '../lib/schemas/envelope.js'
import { Session } from '../lib/session.js'
import type { AuthInfo } from '../types/index.js'
import { endpointOf, exchangeOf, FakeChannel, servedOf } from './support/doubles.js'
import { thrown } from './support/thrown.js'

const served = servedOf('2025-11-25')
const sessionOf = () => new Session('s', 'http', served, { name: 'c', version: '1' }, { roots: {} })
const gone = new CallCancelled('The client is gone')

t.test('a message belongs to the app until a method finds its owner', async t => {
  const { endpoint } = endpointOf()
  const { exchange } = exchangeOf(endpoint, 'tools/call')
  t.equal(exchange.owner, endpoint.app)
})

t.test('the context is made once', async t => {
  const { exchange } = exchangeOf(endpointOf().endpoint, 'tools/call')
  t.equal(exchange.ctx, exchange.ctx)
})

t.test('_meta is that of the request, and an empty object where there is none', async t => {
  const { endpoint } = endpointOf()
  const _meta = { progressToken: 1 }
  t.equal(exchangeOf(endpoint, 'x', { params: { _meta } }).exchange.meta, _meta)
  for (const params of [undefined, null, {}, { _meta: null }]) t.strictSame(exchangeOf(endpoint, 'x', params === undefined ? {} : { params }).exchange.meta, {})
})

t.test('who the client is comes from the session, or from the request where that carries it', async t => {
  const { endpoint } = endpointOf()
  const said = { [META.clientInfo]: { name: 'other', version: '2' }, [META.clientCapabilities]: { sampling: {} } }
  const params = { _meta: said }
  const inSession = exchangeOf(endpoint, 'x', { session: sessionOf(), params }).exchange
  t.strictSame([inSession.client, inSession.capabilities], [{ name: 'c', version: '1' }, { roots: {} }])
  const alone = exchangeOf(endpoint, 'x', { version: '2026-07-28', params }).exchange
  t.strictSame([alone.client, alone.capabilities], [{ name: 'other', version: '2' }, { sampling: {} }])
  for (const version of ['2025-11-25', '2026-07-28'] as const) {
    const unknown = exchangeOf(endpoint, 'x', { version }).exchange
    t.strictSame([unknown.client, unknown.capabilities], [undefined, {}], version)
  }
})

t.test('only the first answer goes out, and nothing after it', async t => {
  const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'x')
  exchange.send('before')
  exchange.end('first', 200)
  exchange.end('second', 500)
  exchange.send('after')
  exchange.cancel(gone)
  exchange.conclude()
  t.strictSame([channel.sent, channel.ended, channel.closed], [['before'], [{ text: 'first', status: 200 }], 0])
})

t.test('a cancelled exchange closes without an answer, and nothing follows', async t => {
  const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'x')
  const { signal } = exchange
  exchange.cancel(gone)
  exchange.cancel(new CallCancelled('again'))
  exchange.send('after')
  exchange.end('after', 200)
  t.equal(signal.reason, gone)
  t.strictSame([channel.sent, channel.ended, channel.closed, exchange.settled], [[], [], 1, true])
})

t.test('concluding closes once, without an abort', async t => {
  const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'x')
  const { signal } = exchange
  exchange.conclude()
  exchange.conclude()
  t.strictSame([channel.closed, signal.aborted], [1, false])
})

t.test('the signal keeps its first reason, whether it is asked for before or after', async t => {
  const { endpoint } = endpointOf()
  const early = exchangeOf(endpoint, 'x').exchange
  const { signal } = early
  const late = exchangeOf(endpoint, 'x').exchange
  for (const exchange of [early, late]) {
    exchange.abort(gone)
    exchange.abort(new CallTimeout(1))
  }
  t.equal(early.signal, signal)
  t.strictSame([signal.reason, late.signal.reason], [gone, gone])
})

t.test('a settled exchange does not abort any more', async t => {
  const { exchange } = exchangeOf(endpointOf().endpoint, 'x')
  const { signal } = exchange
  exchange.end('{}', 200)
  exchange.abort(gone)
  t.equal(signal.aborted, false)
})

t.test('a client that leaves aborts the call, unless it can come back for the answer in its session', async t => {
  const { endpoint } = endpointOf()
  const rows: [string, Parameters<typeof exchangeOf>[2], boolean][] = [
    ['a handshake revision without a session', {}, true],
    ['a session', { session: sessionOf() }, false],
    ['2026-07-28', { version: '2026-07-28' }, true],
    ['2026-07-28 beside a session', { version: '2026-07-28', session: sessionOf() }, true]
  ]
  for (const [what, options, aborts] of rows) {
    const { exchange, channel } = exchangeOf(endpoint, 'x', options)
    t.equal(channel.listeners, 0, `${what}: nobody listens before the signal is asked for`)
    const { signal } = exchange
    channel.leave()
    t.equal(signal.aborted, aborts, what)
    if (aborts) t.match(signal.reason, { name: 'AbortError', message: 'The client is gone' })
  }
})

t.test('who waits is in flight, in the endpoint and in its session, until it has an end', async t => {
  const ends: [string, (exchange: Exchange) => void][] = [
    ['an answer', exchange => exchange.end('{}', 200)],
    ['a cancellation', exchange => exchange.cancel(gone)],
    ['a conclusion', exchange => exchange.conclude()]
  ]
  for (const [what, end] of ends) {
    const { endpoint, calls } = endpointOf()
    const session = sessionOf()
    const { exchange } = exchangeOf(endpoint, 'x', { session })
    t.equal(calls.size, 0)
    exchange.wait()
    t.strictSame([calls.size, [...session.inFlight]], [1, [exchange]], what)
    end(exchange)
    t.strictSame([calls.size, session.inFlight.size], [0, 0], what)
  }
})

t.test('a handler that fails because it was told to stop is told apart from one that just fails', async t => {
  const { exchange } = exchangeOf(endpointOf().endpoint, 'x')
  const abortError = Object.assign(new Error('stopped'), { name: 'AbortError' })
  t.equal(exchange.stoppedBy(abortError), false, 'nobody told it to stop')
  exchange.abort(gone)
  const rows: [string, unknown, boolean][] = [
    ['the reason itself', gone, true],
    ['what fetch and timers throw', abortError, true],
    ['another error', new Error('x'), false],
    ['nothing', undefined, false]
  ]
  for (const [what, error, stopped] of rows) t.equal(exchange.stoppedBy(error), stopped, what)
})

t.test('what a client may not see is logged in full under the id that the client gets', async t => {
  const { endpoint, log } = endpointOf()
  const secret = new Error('pg://u:pw@db')
  const ids = [{ name: 'boom' }, { uri: 'mem://a' }, undefined].map(params => {
    return exchangeOf(endpoint, 'tools/call', params === undefined ? {} : { params }).exchange.report(secret)
  })
  t.equal(new Set(ids).size, 3, 'each error has its own id')
  t.match(log, [
    { level: 'error', fields: { err: secret, errorId: ids[0], method: 'tools/call', name: 'boom' } },
    { fields: { errorId: ids[1], name: 'mem://a' } },
    { fields: { errorId: ids[2], name: undefined } }
  ])
})

t.test('what a client is told too is a warning with the method and the name', async t => {
  const { endpoint, log } = endpointOf()
  exchangeOf(endpoint, 'tools/call', { params: { name: 'slow' } }).exchange.warn('too long', { ms: 5 })
  t.strictSame(log, [{ level: 'warn', fields: { ms: 5, method: 'tools/call', name: 'slow' }, message: 'too long' }])
})

t.test('over HTTP the error is logged by the request', async t => {
  const { endpoint, log } = endpointOf()
  const own: unknown[] = []
  const request = { log: { error: (fields: unknown) => own.push(fields) } } as never
  new Exchange(endpoint, served, { jsonrpc: '2.0', id: 1, method: 'x' }, new FakeChannel(), undefined, request).report(new Error('x'))
  t.strictSame([own.length, log.length], [1, 0])
})

t.test('the client is asked in the way of its revision, by one that is made once', async t => {
  const { endpoint } = endpointOf()
  const older = exchangeOf(endpoint, 'tools/call').exchange
  const newer = exchangeOf(endpoint, 'tools/call', { version: '2026-07-28' }).exchange
  t.ok(older.input instanceof Requests)
  t.ok(newer.input instanceof Rounds)
  const { input } = older
  t.strictSame([older.input === input, newer.input === newer.rounds], [true, true])
  t.not(older.nextId(), older.nextId())
})

t.test('a call that brings answers takes up the round before, where the revision has rounds', async t => {
  const opened: unknown[][] = []
  const endpoint = { ...endpointOf().endpoint, states: { open: async (...what: unknown[]) => { opened.push(what); return { own: 5 } } } } as unknown as Endpoint
  const resuming = (params: Record<string, unknown>, version: '2025-11-25' | '2026-07-28' = '2026-07-28') => {
    const { exchange } = exchangeOf(endpoint, 'tools/call', { version, params: { name: 'a', ...params } })
    return { exchange, opening: () => exchange.resume(exchange.message.params ?? {}) }
  }
  t.equal(resuming({ inputResponses: 5 }, '2025-11-25').opening(), undefined, 'elsewhere these members mean nothing')
  for (const params of [{ inputResponses: [] }, { inputResponses: 'x' }, { requestState: 5 }, { requestState: {} }]) t.match(thrown(resuming(params).opening), { code: -32602 }, JSON.stringify(params))
  for (const params of [{ inputResponses: {} }, { requestState: null, inputResponses: { a: {} } }]) {
    const { exchange, opening } = resuming(params)
    t.equal(opening(), undefined)
    t.ok(exchange.rounds instanceof Rounds)
  }
  const { exchange, opening } = resuming({ requestState: 'sealed' })
  await opening()
  t.strictSame([opened, exchange.rounds?.state], [[['sealed', exchange.bound()]], 5])
})

t.test('a state belongs to one method, one name and the arguments as they came', async t => {
  const { endpoint } = endpointOf()
  const bound = (method: string, params: Record<string, unknown>, raw?: object) => {
    const { exchange } = exchangeOf(endpoint, method, { params })
    exchange.raw = raw === undefined ? undefined : JSON.stringify(raw)
    return exchange.bound()
  }
  const args = { a: 1, b: [{ c: null, d: 2 }] }
  const one = bound('tools/call', { name: 'x', arguments: args })
  t.equal(bound('tools/call', { name: 'x', arguments: { b: [{ d: 2, c: null }], a: 1 } }), one, 'in any order')
  t.equal(bound('tools/call', { name: 'x', arguments: { ...args, filled: 'in' } }, { params: { arguments: args } }), one, 'before defaults')
  const others = [
    bound('prompts/get', { name: 'x', arguments: args }), bound('tools/call', { name: 'y', arguments: args }), bound('tools/call', { name: 'x' }),
    bound('tools/call', { name: 'x', arguments: { ...args, a: 2 } }), bound('tools/call', { name: 'x', arguments: { a: 1, b: [{ d: 2, c: null }, 3] } })
  ]
  t.equal(new Set([one, ...others]).size, 6)
  // Infinity is null when it is written again: two calls would have one digest.
  const wrong = exchangeOf(endpoint, 'tools/call', { params: { name: 'x' } }).exchange
  wrong.raw = '{"params":{"name":"x","arguments":{"a":[1,1e999]}}}'
  t.match(thrown(() => wrong.bound()), { code: -32602, message: /arguments\/a\/1 is a number that is too large/ })
})

t.test('a call that is over, or was told to stop, asks nothing any more', async t => {
  const { endpoint } = endpointOf()
  const question = roots() as unknown as Question
  for (const end of [(one: Exchange) => one.abort(new CallCancelled('changed my mind')), (one: Exchange) => one.end('{}', 200)]) {
    const session = new Session('s', 'http', servedOf('2025-11-25'), undefined, { roots: {} })
    const { exchange, channel } = exchangeOf(endpoint, 'tools/call', { session })
    end(exchange)
    await t.rejects(exchange.input.ask({ where: question }, {}), { name: 'AbortError' })
    t.strictSame(channel.sent, [])
  }
})

t.test('a caller is who the token says, else where the request comes from', async t => {
  const { endpoint } = endpointOf()
  const request = { ip: '203.0.113.9' } as FastifyRequest
  const from = (request?: FastifyRequest, auth?: AuthInfo) => new Exchange(endpoint, served, { jsonrpc: '2.0', id: 1, method: 'x' }, new FakeChannel(), undefined, request, auth)
  const ada = { subject: 'ada', issuer: 'https://a.example', clientId: 'app', scopes: [] } as unknown as AuthInfo
  t.equal(from(request, ada).caller, '["https://a.example","ada","app"]')
  t.equal(from(request).caller, '203.0.113.9')
  const forwarded = from()
  t.equal(forwarded.caller, undefined)
  forwarded.address = '203.0.113.7'
  t.equal(forwarded.caller, '203.0.113.7')
})

t.test('the signal tells at its first reading that the client has left', async t => {
  for (const [options, aborted] of [[{}, true], [{ version: '2026-07-28' }, true], [{ session: sessionOf() }, false]] as const) {
    const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'x', options)
    t.equal(exchange.abandoned, false)
    channel.leave()
    t.strictSame([exchange.abandoned, exchange.signal.aborted], [aborted, aborted])
    if (aborted) t.match(exchange.signal.reason, { name: 'AbortError', message: 'The client is gone' })
    exchange.leave()
    t.strictSame([exchange.settled, channel.closed], [true, 1])
  }
})

t.test('an error was caused by a stop wherever in its causes that stands, and may be its own cause', async t => {
  const { exchange } = exchangeOf(endpointOf().endpoint, 'x')
  const round: Error & { cause?: unknown } = new Error('round')
  round.cause = new Error('and round', { cause: round })
  const wrapped = new Error('outer', { cause: new Error('inner', { cause: gone }) })
  t.equal(exchange.stoppedBy(wrapped), false, 'nobody stopped it yet')
  exchange.abort(gone)
  t.strictSame([wrapped, gone, round, new Error('own'), undefined, 'x'].map(error => exchange.stoppedBy(error)), [true, true, false, false, false, false])
})

t.test('what comes late is logged with the name of what failed, unless it came of the stop', async t => {
  const { endpoint, log } = endpointOf()
  const { exchange } = exchangeOf(endpoint, 'tools/call', { params: { name: 'pay' } })
  exchange.abort(gone)
  for (const error of [gone, new CallTimeout(5), new Error('x', { cause: gone })]) exchange.late(error)
  t.strictSame(log, [])
  exchange.late(new Error('rollback failed'))
  t.match(log, [{ level: 'warn', fields: { err: { message: 'rollback failed' }, method: 'tools/call', name: 'pay' }, message: /after its call was over/ }])
})
