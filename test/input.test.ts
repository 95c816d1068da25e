import { Type } from '@sinclair/typebox'
import t from 'tap'
import { InputRejectedError, InputUnsupportedError, NoStreamError } from '../lib/errors.js'
import { paramsOf, quiet, type Questions } from '../lib/input.js'
import { elicit, elicitUrl, roots, sample, type Question } from '../lib/question.js'
import { Session } from '../lib/session.js'
import type { Subscription } from '../lib/subscriptions.js'
import type { Revision as Version, Schema } from '../types/index.js'
import { endpointOf, exchangeOf, FakeChannel, servedOf } from './support/doubles.js'
import { turn, wait } from './support/time.js'

const made = (question: unknown) => question as Question
const name = made(elicit('Who?', Type.Object({ name: Type.String() }) as Schema))
const page = made(elicitUrl('Pay', 'https://a.example'))
const model = made(sample('Hi'))
const tools = made(sample({ messages: [], maxTokens: 1, tools: [] }))
const context = made(sample({ messages: [], maxTokens: 1, includeContext: 'allServers' }))
const where = made(roots())
const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
const accept = (content: object) => ({ action: 'accept', content })

interface CallOptions { version?: Version, capabilities?: object, session?: boolean, streams?: boolean }

/** A call in flight; `hear` is what the client was sent, wherever. */
function callOf ({ version = '2025-11-25', capabilities = everything, session: has = true, streams = true }: CallOptions = {}) {
  const { endpoint, log } = endpointOf()
  const channel = new FakeChannel()
  channel.streams = channel.connected = streams
  const session = has ? new Session('s-1', 'http', servedOf(version), undefined, capabilities as never) : undefined
  const { exchange } = exchangeOf(endpoint, 'tools/call', { version, channel, ...(session && { session }) })
  const elsewhere: any[] = []
  const stream = { wants: () => true, deliver () {}, end () {}, send: (text: string) => elsewhere.push(JSON.parse(text)) } as unknown as Subscription
  const ask = (questions: Questions) => exchange.input.ask(questions, {})
  const answer = (id: unknown, result: unknown) => session?.answer({ jsonrpc: '2.0', id: id as string, result })
  return { exchange, channel, session, stream, elsewhere, ask, answer, log, requests: exchange.input as any }
}

t.test('a client is asked for what it offers, and for nothing else', async t => {
  const rows: Array<[Question, object, boolean]> = [
    [name, {}, false], [name, { elicitation: {} }, true], [name, { elicitation: { form: {} } }, true], [name, { elicitation: { form: {}, url: {} } }, true],
    [name, { elicitation: { url: {} } }, false], [name, { elicitation: null }, false], [name, { elicitation: true }, false], [name, { sampling: {}, roots: {} }, false],
    [page, { elicitation: {} }, false], [page, { elicitation: { form: {} } }, false], [page, { elicitation: { url: {} } }, true], [page, { elicitation: { url: true } }, false],
    [model, {}, false], [model, { sampling: {} }, true], [model, { sampling: { tools: {} } }, true],
    [tools, { sampling: {} }, false], [tools, { sampling: { tools: {} } }, true], [tools, { sampling: { context: {} } }, false],
    [context, { sampling: {} }, false], [context, { sampling: { context: {} } }, true], [context, { sampling: { tools: {} } }, false],
    [where, {}, false], [where, { roots: {} }, true], [where, { roots: { listChanged: true } }, true]
  ]
  for (const version of ['2025-11-25', '2026-07-28'] as const) {
    for (const [question, capabilities, good] of rows) {
      const { exchange } = exchangeOf(endpointOf().endpoint, 'tools/call', { version, params: { _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities } }, session: new Session('s', 'http', servedOf(version), undefined, capabilities as never) })
      const title = `${version}: ${question.method} with ${JSON.stringify(capabilities)}`
      if (good) t.doesNotThrow(() => paramsOf(exchange, { one: question }), title)
      else t.throws(() => paramsOf(exchange, { one: question }), InputUnsupportedError, title)
    }
  }
})

t.test('the error says what is missing: as a protocol error from 2026-07-28 on, for whoever reads the result before', async t => {
  const thrown = (version: Version, question: Question) => {
    try { paramsOf(exchangeOf(endpointOf().endpoint, 'tools/call', { version }).exchange, { one: question }) } catch (error) { return error }
    return undefined
  }
  const rows: Array<[Question, string, string, object]> = [
    [name, 'elicitation', 'elicitation.form', { elicitation: { form: {} } }], [page, 'elicitation', 'elicitation.url', { elicitation: { url: {} } }],
    [model, 'sampling', 'sampling', { sampling: {} }], [tools, 'sampling', 'sampling.tools', { sampling: { tools: {} } }], [where, 'roots', 'roots', { roots: {} }]
  ]
  for (const [question, capability, words, requiredCapabilities] of rows) {
    const message = new RegExp(`not declared the capability ${words}$`)
    t.match(thrown('2026-07-28', question), { name: 'InputUnsupportedError', capability, code: -32021, data: { requiredCapabilities }, message, told: false })
    t.match(thrown('2025-11-25', question), { name: 'InputUnsupportedError', capability, data: undefined, message, told: true })
  }
  const both = (version: Version) => { try { paramsOf(exchangeOf(endpointOf().endpoint, 'tools/call', { version }).exchange, { a: page, b: tools, c: name, d: name }) } catch (error) { return error } }
  const message = 'The client has not declared the capability elicitation.url; The client has not declared the capability sampling.tools; The client has not declared the capability elicitation.form'
  t.match(both('2026-07-28'), { code: -32021, message, data: { requiredCapabilities: { elicitation: { url: {}, form: {} }, sampling: { tools: {} } } } }, 'all of it')
  t.match(both('2025-11-25'), { message, data: undefined })
  t.match(thrown('2025-03-26', name), { capability: 'elicitation', message: /2025-03-26.*no elicitation/, told: true })
})

t.test('a question is a request on the stream of the call', async t => {
  const { ask, answer, channel } = callOf()
  const answers = ask({ who: name })
  t.match(channel.messages, [{ jsonrpc: '2.0', id: String, method: 'elicitation/create', params: { message: 'Who?' } }])
  answer(channel.messages[0].id, accept({ name: 'Ada' }))
  t.strictSame(await answers, { who: accept({ name: 'Ada' }) })
})

t.test('several are asked at once and answered in any order', async t => {
  const { ask, answer, channel } = callOf()
  const answers = ask({ who: name, pay: page, said: model, where })
  t.strictSame(channel.messages.map(one => one.method), ['elicitation/create', 'elicitation/create', 'sampling/createMessage', 'roots/list'])
  t.equal(new Set(channel.messages.map(one => one.id)).size, 4)
  const said = { role: 'assistant', content: { type: 'text', text: 'Ho' }, model: 'm' }
  const results = [accept({ name: 'Ada' }), { action: 'decline' }, said, { roots: [{ uri: 'file:///a' }] }]
  for (const [i, { id }] of [...channel.messages.entries()].reverse()) answer(id, results[i])
  t.strictSame(await answers, { who: accept({ name: 'Ada' }), pay: { action: 'decline' }, said, where: [{ uri: 'file:///a' }] })
  t.strictSame(await ask({}), {}, 'no question, no waiting')
  t.strictSame(await callOf({ session: false }).ask({}), {}, 'and nowhere to go is no matter')
})

t.test('an answer that was not asked for is an error that says why', async t => {
  const { ask, answer, channel } = callOf()
  for (const wrong of [null, undefined, 'x', {}, { action: 'yes' }, accept({ name: 7 }), accept({})]) {
    const answers = ask({ who: name })
    answer(channel.messages.at(-1).id, wrong)
    await t.rejects(answers, InputRejectedError, JSON.stringify(wrong))
    await t.rejects(answers, { code: undefined, message: /elicitation\/create is not what was asked for: ./ })
  }
})

t.test('an error of the client is one with its code', async t => {
  const { ask, session, channel } = callOf()
  const answers = ask({ said: model })
  session?.answer({ jsonrpc: '2.0', id: channel.messages[0].id, error: { code: -1, message: 'User rejected sampling request' } })
  await t.rejects(answers, InputRejectedError)
  await t.rejects(answers, { code: -1, message: /sampling\/createMessage.*User rejected sampling request/ })
})

t.test('an error without a shape is an answer all the same', async t => {
  for (const error of [null, 'no', 7, [], {}]) {
    const { ask, session, channel } = callOf()
    const answers = ask({ said: model })
    t.doesNotThrow(() => session?.answer({ jsonrpc: '2.0', id: channel.messages[0].id, error: error as never }), JSON.stringify(error))
    const outcome = await Promise.race([answers.then(() => 'answered', (why: Error) => why.name), wait(50).then(() => 'nothing')])
    t.equal(outcome, 'InputRejectedError', JSON.stringify(error))
  }
})

t.test('an answer is taken once, and an unknown one not at all', async t => {
  const { ask, answer, channel } = callOf()
  const answers = ask({ who: name })
  const { id } = channel.messages[0]
  for (const other of ['ask-99', 1, '', `${id} `]) t.doesNotThrow(() => answer(other, accept({ name: 'Eve' })))
  answer(id, accept({ name: 'Ada' }))
  answer(id, accept({ name: 'Bob' }))
  t.strictSame(await answers, { who: accept({ name: 'Ada' }) })
})

t.test('where a call has no stream, its session\'s newest is asked on', async t => {
  const { ask, answer, channel, session, stream, elsewhere } = callOf({ streams: false })
  session?.attach({ ...stream, send: () => t.fail('the older stream') } as Subscription)
  session?.attach(stream)
  const answers = ask({ who: name })
  t.strictSame(channel.sent, [])
  t.match(elsewhere, [{ method: 'elicitation/create' }])
  answer(elsewhere[0].id, accept({ name: 'Ada' }))
  t.strictSame(await answers, { who: accept({ name: 'Ada' }) })
})

t.test('where that has none either, there is nowhere to ask', async t => {
  const { ask, channel } = callOf({ streams: false })
  await t.rejects(ask({ who: name }), NoStreamError)
  await t.rejects(ask({ who: name }), { name: 'NoStreamError', message: /GET stream/ })
  t.strictSame(channel.sent, [])
})

t.test('a call without a session can never be asked', async t => {
  const { ask, channel } = callOf({ session: false })
  await t.rejects(ask({ who: name }), { name: 'NoStreamError', message: /without a session/ })
  t.strictSame(channel.sent, [])
})

t.test('of several questions none is sent where one cannot be', async t => {
  const { ask, channel } = callOf({ capabilities: { elicitation: {} } })
  await t.rejects(ask({ who: name, said: model }), InputUnsupportedError)
  t.strictSame(channel.sent, [])
})

t.test('the end of the call takes open questions back, before the answer', async t => {
  const { ask, answer, channel, exchange } = callOf()
  const open = ask({ who: name, where })
  const { id } = channel.messages[1]
  answer(channel.messages[0].id, accept({ name: 'Ada' }))
  await turn()
  t.strictSame(channel.ended, [])
  exchange.end('{"done":true}', 200)
  t.match(channel.messages.slice(2), [{ method: 'notifications/cancelled', params: { requestId: id, reason: String } }], 'the one that is open')
  await t.rejects(open, { name: 'AbortError', message: 'The call is over' })
  t.doesNotThrow(() => answer(id, { roots: [] }), 'a late answer is no error')
  await t.rejects(ask({ who: name }), { name: 'AbortError' })
  t.equal(channel.messages.length, 3, 'and nothing more is asked')
})

t.test('what aborts the call takes them back, with its reason', async t => {
  const { ask, channel, exchange } = callOf()
  const open = ask({ who: name })
  const reason = new Error('too slow')
  exchange.abort(reason)
  await t.rejects(open, reason)
  t.match(channel.messages.at(-1), { method: 'notifications/cancelled', params: { requestId: channel.messages[0].id } })
  exchange.end('{}', 200)
  t.equal(channel.sent.length, 2, 'once')
})

t.test('a question that nobody awaits rejects unheard', async t => {
  const heard: unknown[] = []
  const listen = (error: unknown) => { heard.push(error) }
  process.on('unhandledRejection', listen)
  const { ask, exchange } = callOf()
  ask({ who: name, where })
  callOf({ capabilities: {} }).ask({ who: name })
  quiet(Promise.reject(new Error('x')))
  exchange.end('{}', 200)
  await wait(20)
  process.off('unhandledRejection', listen)
  t.strictSame(heard, [])
})

t.test('once runs once for each key, in the same call', async t => {
  const { requests } = callOf()
  let runs = 0
  const both = await Promise.all([requests.once('a', () => ++runs), requests.once('a', async () => ++runs)])
  t.strictSame([...both, await requests.once('a', () => ++runs), await requests.once('b', () => ++runs)], [1, 1, 1, 2])
  t.equal(await requests.once('nothing', () => { runs++ }), undefined)
  await requests.once('nothing', () => { runs++ })
  t.equal(runs, 3)
  await t.rejects(requests.once('broken', () => { throw new Error('sync') }), /sync/)
  t.equal(await requests.once('broken', () => 'mended'), 'mended', 'what failed was not done')
})

t.test('questions that a handler returns: their answers, and the state that went with them', async t => {
  const { requests, answer, channel } = callOf()
  t.strictSame([requests.answers, requests.state], [{}, undefined])
  const done = requests.require({ who: name }, { step: 1 })
  answer(channel.messages[0].id, accept({ name: 'Ada' }))
  await done
  t.strictSame([requests.answers, requests.state], [{ who: accept({ name: 'Ada' }) }, { step: 1 }])
})

t.test('a handler that returns questions for ever is stopped', async t => {
  const { requests } = callOf()
  let times = 0
  const again = async (): Promise<void> => {
    await requests.require({}, undefined)
    if (++times < 1000) await again()
  }
  await t.rejects(again(), /returned questions 20 times/)
  t.equal(times, 20)
})

t.test('many questions at once are no leak', async t => {
  const warnings: string[] = []
  const listen = (warning: Error) => { warnings.push(warning.name) }
  process.on('warning', listen)
  const { ask, exchange } = callOf()
  for (let i = 0; i < 50; i++) ask({ who: name })
  exchange.end('{}', 200)
  await wait(20)
  process.off('warning', listen)
  t.strictSame(warnings, [])
})
