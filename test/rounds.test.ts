import { Type } from '@sinclair/typebox'
import t from 'tap'
import { InputRequired, InputUnsupportedError } from '../lib/errors.js'
import { elicit, roots, sample, type Question } from '../lib/question.js'
import type { Schema } from '../types/index.js'
import { pending, resultOf, round, stateIn } from './asking/round.js'
import { turn, until, wait } from './support/time.js'

const form = (message: string, schema: unknown = Type.Object({ name: Type.String() })) => elicit(message, schema as Schema) as unknown as Question
const [a, b, c] = [form('a?'), form('b?'), form('c?')] as [Question, Question, Question]
const model = sample('Hi') as unknown as Question
const where = roots() as unknown as Question
const named = (name: string) => ({ action: 'accept', content: { name } })

t.test('an unanswered question ends the call, in a later turn of the loop', async t => {
  const { ask, rounds, exchange } = await round()
  t.equal(rounds.required, false)
  const { signal } = exchange
  let rejected = false
  const asked = ask({ a })
  asked.catch(() => { rejected = true })
  t.equal(rounds.required, true)
  t.ok(signal.reason instanceof InputRequired, 'the signal says so at once')
  for (let i = 0; i < 100; i++) await Promise.resolve()
  t.equal(rejected, false, 'a loop that asks again and again cannot keep the others waiting')
  await t.rejects(asked, { name: 'InputRequired' })
})

t.test('the result that asks', async t => {
  const one = await round()
  one.ask({ a, where })
  const { resultType, inputRequests, requestState } = await resultOf(t, one)
  t.equal(resultType, 'input_required')
  t.strictSame(inputRequests, { a: { method: a.method, params: a.params }, where: { method: 'roots/list', params: {} } })
  t.type(requestState, 'string')
})

t.test('with the answers the call goes on', async t => {
  const one = await round()
  one.ask({ a, where })
  const two = await round(await resultOf(t, one), { a: named('Ada'), where: { roots: [{ uri: 'file:///a' }] } })
  t.strictSame(await two.ask({ a, where }), { a: named('Ada'), where: [{ uri: 'file:///a' }] })
  t.equal(two.rounds.required, false)
  t.equal(two.exchange.signal.aborted, false)
  t.strictSame(await two.ask({}), {}, 'no question, no round')
})

t.test('a call goes on where it answers what was open; any other begins anew', async t => {
  const goesOn = async (before: { requestState: string } | undefined, responses: Record<string, unknown>) => (await round(before, responses)).rounds.goesOn
  t.equal(await goesOn(undefined, { a: named('Ada') }), false, 'the first')
  const one = await round()
  one.ask({ a, b })
  const first = await resultOf(t, one)
  t.strictSame([await goesOn(first, {}), await goesOn(first, { c: named('Eve'), toString: named('Eve') }), await goesOn(first, { b: named('Bob') })], [false, false, true])
  const two = await round(first, { a: named('Ada') })
  two.ask({ a, b })
  const second = await resultOf(t, two)
  t.strictSame([await goesOn(second, { a: named('Ada') }), await goesOn(second, { b: named('Bob') })], [false, true], 'what was answered is not open any more')
})

t.test('a round that takes no answer leaves nothing to go on from', async t => {
  const open = async (before?: { requestState: string }, responses = {}) => {
    const one = await round(before, responses)
    one.ask({ a })
    return await resultOf(t, one)
  }
  const goesOn = async (before: { requestState: string }) => (await round(before, { a: named('Ada') })).rounds.goesOn
  const wrong = await open(await open(), { a: named(7 as never) })
  t.equal(await goesOn(wrong), false, 'its answer did not fit')
  t.equal(await goesOn(await open(wrong, { a: named(7 as never) })), true, 'the call that begins anew there can go on')
  t.equal(await goesOn(await open(await open())), true)
  const own = async (before?: { requestState: string }, responses = {}) => {
    const one = await round(before, responses)
    one.rounds.require({ a }, 1)
    return await resultOf(t, one)
  }
  t.equal(await goesOn(await own(await own(), { a: 'x' })), false, 'also where the handler returned its questions')
  t.equal(await goesOn(await own(await own(), { a: named('Ada') })), true)
})

t.test('an answer that counts once is good for the rounds that go on, and used up for others', async t => {
  const first = async () => {
    const one = await round()
    one.ask({ a }, true)
    const two = await round(await resultOf(t, one), { a: named('Ada') })
    await two.rounds.once('charge', () => 1)
    await two.ask({ a }, true)
    two.ask({ b })
    return await resultOf(t, two)
  }
  const asked = async (before: { requestState: string }, responses: Record<string, unknown>, singleUse = true) => {
    const one = await round(before, responses)
    one.ask({ a }, singleUse)
    if (!one.rounds.required) one.ask({ b })
    return one.rounds.required ? await resultOf(t, one) : { keys: [] }
  }
  t.strictSame((await asked(await first(), { b: named('Bob') })).keys, [])
  t.strictSame((await asked(await first(), {}, false)).keys, ['b'], 'one that may be used again comes back')
  for (const responses of [{}, { c: named('Eve') }, { a: named('Eve') }]) t.strictSame((await asked(await first(), responses)).keys, ['a'], JSON.stringify(responses))
  const wrong = await asked(await first(), { b: 'x' })
  t.strictSame(wrong.keys, ['b'])
  const anew = await asked(wrong, { b: named('Bob') })
  t.strictSame(anew.keys, ['a'], 'after a round that took no answer it is used up too')
  const given = await asked(anew, { a: named('Ada') })
  t.strictSame(given.keys, ['b'], 'and may be given again')
  t.strictSame((await stateIn(given)).once, { charge: 1 }, 'what was done once stays done')
})

t.test('earlier answers come back at once, the client sends each but once', async t => {
  const one = await round()
  one.ask({ a })
  const two = await round(await resultOf(t, one), { a: named('Ada') })
  await two.ask({ a })
  two.ask({ b })
  const second = await resultOf(t, two)
  t.strictSame(second.keys, ['b'])
  const three = await round(second, { b: named('Bob') })
  t.strictSame([await three.ask({ a }), await three.ask({ b })], [{ a: named('Ada') }, { b: named('Bob') }])
})

t.test('what was not answered, or not as asked, is asked again; what was is kept', async t => {
  for (const wrong of [undefined, null, 'x', {}, [], { action: 'yes' }, { action: 'accept', content: { name: 7 } }]) {
    const one = await round()
    one.ask({ a, b })
    const two = await round(await resultOf(t, one), { a: named('Ada'), unknown: named('Eve'), ...(wrong === undefined ? {} : { b: wrong }) })
    two.ask({ a, b })
    const second = await resultOf(t, two)
    t.strictSame(second.keys, ['b'], JSON.stringify(wrong))
    const three = await round(second, { b: named('Bob') })
    t.strictSame(await three.ask({ a, b }), { a: named('Ada'), b: named('Bob') })
  }
})

t.test('an answer to a question that has changed is dropped', async t => {
  const one = await round()
  one.ask({ a })
  const two = await round(await resultOf(t, one), { a: named('Ada') })
  two.ask({ a: b })
  const second = await resultOf(t, two)
  t.match(second.inputRequests, { a: { params: { message: 'b?' } } })
  const three = await round(second, { a: named('Bob') })
  t.strictSame(await three.ask({ a: b }), { a: named('Bob') })
})

t.test('an answer to what was never asked is none', async t => {
  const one = await round()
  one.ask({ a })
  const two = await round(await resultOf(t, one), { a: named('Ada'), b: named('Eve'), constructor: named('Eve'), toString: named('Eve') })
  await two.ask({ a })
  two.ask({ b, constructor: c, toString: c })
  t.strictSame((await resultOf(t, two)).keys, ['b', 'constructor', 'toString'])
})

t.test('answers without a state count, but not where they could do harm', async t => {
  const given = { a: named('Ada') }
  t.strictSame(await (await round(undefined, given)).ask({ a }), given)
  const wrong = await round(undefined, { a: { action: 'accept', content: {} } })
  wrong.ask({ a })
  t.equal(wrong.rounds.required, true, 'if they fit')
  const single = await round(undefined, given)
  single.ask({ a }, true)
  t.equal(single.rounds.required, true, 'not for what counts once')
  const once = await round(undefined, given)
  await once.rounds.once('token', () => 1)
  once.ask({ a })
  t.equal(once.rounds.required, true, 'not after once')
})

t.test('questions of one turn are one round', async t => {
  const one = await round()
  one.ask({ a })
  one.ask({ b })
  await Promise.resolve()
  one.ask({ c })
  t.strictSame((await resultOf(t, one)).keys, ['a', 'b', 'c'])
})

t.test('after that turn nothing is answered any more', async t => {
  const one = await round()
  one.ask({ a })
  await turn()
  let runs = 0
  t.equal(await pending(one.ask({ b })), 'pending')
  t.equal(await pending(one.rounds.once('x', () => { runs++ })), 'pending')
  t.equal(runs, 0)
  t.strictSame((await resultOf(t, one)).keys, ['a'])
})

t.test('a handler that does not end has 100 ms', async t => {
  const one = await round()
  const before = Date.now()
  one.ask({ a })
  one.ask({ b })
  t.ok(await until(() => one.due.length > 0))
  t.ok(Date.now() - before >= 95)
  t.strictSame(one.due, [one.exchange], 'once')
})

t.test('once keeps its value for the rounds that follow', async t => {
  let runs = 0
  const make = () => ({ token: ++runs })
  const one = await round()
  t.strictSame([await one.rounds.once('x', make), await one.rounds.once('x', make)], [{ token: 1 }, { token: 1 }])
  await one.rounds.once('none', () => null)
  one.ask({ a })
  const two = await round(await resultOf(t, one), { a: named('Ada') })
  t.strictSame(await two.rounds.once('x', make), { token: 1 })
  t.equal(await two.rounds.once('none', make), null)
  await two.ask({ a })
  two.ask({ b })
  const three = await round(await resultOf(t, two), { b: named('Bob') })
  t.strictSame(await three.rounds.once('x', make), { token: 1 })
  t.strictSame(await three.rounds.once('y', make), { token: 2 }, 'another key is another value')
  await t.rejects(three.rounds.once('z', async () => { throw new Error('no') }), /no/)
  t.equal(await three.rounds.once('z', () => 'yes'), 'yes', 'what failed was not done')
})

t.test('once runs once, also where it gives nothing back', async t => {
  let runs = 0
  const pay = async () => { runs++ }
  const one = await round()
  await one.rounds.once('pay', pay)
  one.ask({ a })
  const two = await round(await resultOf(t, one), { a: named('Ada') })
  await two.rounds.once('pay', pay)
  t.equal(runs, 1)
})

t.test('once runs once, also where two ask for it at the same time', async t => {
  let runs = 0
  const pay = async () => { await turn(); return ++runs }
  const one = await round()
  t.strictSame(await Promise.all([one.rounds.once('pay', pay), one.rounds.once('pay', pay)]), [1, 1])
  t.equal(runs, 1)
})

t.test('once that is under way when the question goes out is waited for', async t => {
  let runs = 0
  const pay = async () => { await wait(50); return ++runs }
  const one = await round()
  one.rounds.once('pay', pay)
  one.ask({ a })
  const two = await round(await resultOf(t, one), { a: named('Ada') })
  t.equal(await two.rounds.once('pay', pay), 1)
  t.equal(runs, 1)
})

t.test('a state with an answer that counts once, counts once', async t => {
  const one = await round()
  one.ask({ a }, true)
  const first = await resultOf(t, one)
  const two = await round(first, { a: named('Ada') })
  await t.rejects(round(first, { a: named('Ada') }), { code: -32602 })
  await two.ask({ a }, true)
  two.ask({ b })
  const second = await resultOf(t, two)
  t.type((await stateIn(second)).single, 'string', 'the next state, which carries the answer, does too')
})

t.test('what the client cannot be asked ends nothing: the handler may do without', async t => {
  const one = await round()
  await t.rejects(one.ask({ model }), InputUnsupportedError)
  t.equal(one.rounds.required, false)
  one.ask({ a })
  t.strictSame((await resultOf(t, one)).keys, ['a'])
})

t.test('of several questions none is asked where one cannot be', async t => {
  const one = await round()
  await t.rejects(one.ask({ b, model }), InputUnsupportedError)
  one.ask({ a })
  t.strictSame((await resultOf(t, one)).keys, ['a'])
})

t.test('the same key twice in one run is a second question, as in the handshake revisions', async t => {
  const one = await round()
  one.ask({ a })
  const two = await round(await resultOf(t, one), { a: named('wrong') })
  t.strictSame(await two.ask({ a }), { a: named('wrong') })
  t.equal(await pending(two.ask({ a })), 'settled')
  t.equal(two.rounds.required, true, 'and not answered with what the first was')
})

t.test('questions that a handler returns: in the next run it has their answers, and its state', async t => {
  const one = await round()
  t.strictSame([one.rounds.answers, one.rounds.state], [{}, undefined])
  one.rounds.require({ a, where }, { step: 1, at: [null] })
  t.equal(one.rounds.required, true)
  const first = await resultOf(t, one)
  t.strictSame(first.keys, ['a', 'where'])
  const two = await round(first, { a: named('Ada'), where: { roots: 7 }, b: named('Eve') })
  t.strictSame([two.rounds.answers, two.rounds.state], [{ a: named('Ada') }, { step: 1, at: [null] }], 'those that fit, and no others')
  two.rounds.require({ b }, undefined)
  const three = await round(await resultOf(t, two), { a: named('Eve'), b: named('Bob') })
  t.strictSame([three.rounds.answers, three.rounds.state], [{ b: named('Bob') }, undefined], 'of the last ones alone')
  t.strictSame((await round(first, { where: { roots: [] } })).rounds.answers, { where: [] }, 'what is missing is not there')
  t.throws(() => three.rounds.require({ model }, undefined), InputUnsupportedError)
})

t.test('a handler may return a state without questions', async t => {
  const one = await round()
  one.rounds.require({}, 'later')
  const two = await round(await resultOf(t, one))
  t.equal(two.rounds.state, 'later')
})
