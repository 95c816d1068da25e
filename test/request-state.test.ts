import { createHash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { RequestStates, type State } from '../lib/request-state.js'
import { MemoryStore } from '../lib/stores/memory.js'
import type { Store } from '../types/index.js'
import { endpointOf, exchangeOf } from './support/doubles.js'

const MINUTE = 60_000
const key = randomBytes(32)
const other = randomBytes(32)
const statesOf = (keys = [key], ttl = MINUTE) => new RequestStates({ keys, ttl })
const stateOf = (more: Partial<State> = {}): State => ({ bound: 'here', asked: {}, answers: {}, once: {}, ...more })
const full = stateOf({
  asked: { login: 'digest-1' },
  answers: { name: { digest: 'digest-2', answer: { action: 'accept', content: { name: 'Ada Lovelace' } } } },
  once: { token: 'hunter2-secret' },
  own: { step: 3 }
})
const bytesOf = (segment: string) => Buffer.from(segment, 'base64url')
/** The same error for whatever is wrong, so that nobody learns how far a forgery got. */
const refusal = { code: -32602, message: 'Invalid params: requestState is not valid here, or its time is over; make the call again without it', data: undefined }

t.test('what is sealed is opened again', async t => {
  const states = statesOf()
  t.match(await states.open(await states.seal(full), 'here'), full)
})

t.test('a state cannot be read, nor compared with another', async t => {
  const states = statesOf()
  const [one, two] = [await states.seal(full), await states.seal(full)]
  const segments = one.split('.')
  t.equal(segments.length, 5, 'a JWE in its compact form')
  const shown = [one, ...segments.map(segment => bytesOf(segment).toString('latin1'))].join('\n')
  for (const word of ['hunter2', 'Ada', 'Lovelace', 'login', 'token', 'digest', 'here', 'bound']) t.notOk(shown.includes(word), word)
  t.not(one, two)
  t.not(segments[2], two.split('.')[2], 'another initialisation vector each time')
  const header = JSON.parse(bytesOf(segments[0] as string).toString())
  t.strictSame(Object.keys(header).sort(), ['alg', 'enc', 'kid'])
  t.match(header, { alg: 'dir', enc: 'A256GCM' })
  for (const told of [key.toString('base64url'), createHash('sha256').update(key).digest('base64url')]) t.notOk(told.startsWith(header.kid), 'the id of a key is nothing of the key')
})

t.test('any flipped bit is refused', async t => {
  const states = statesOf()
  const sealed = await states.seal(full)
  const segments = sealed.split('.')
  const places = segments.flatMap((segment, i) => bytesOf(segment).length === 0 ? [] : [{ i, bits: bytesOf(segment).length * 8 }])
  await fc.assert(fc.asyncProperty(fc.constantFrom(...places), fc.nat(), async ({ i, bits }, n) => {
    const bytes = bytesOf(segments[i] as string)
    const bit = n % bits
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7))
    const forged = segments.map((segment, at) => at === i ? bytes.toString('base64url') : segment).join('.')
    await t.rejects(states.open(forged, 'here'), refusal)
  }), { numRuns: 200 })
})

t.test('any other character is refused', async t => {
  const states = statesOf()
  const sealed = await states.seal(full)
  await fc.assert(fc.asyncProperty(fc.nat(sealed.length - 1), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), async (at, character) => {
    fc.pre(sealed[at] !== character)
    await t.rejects(states.open(sealed.slice(0, at) + character + sealed.slice(at + 1), 'here'), refusal)
  }), { numRuns: 200 })
})

t.test('any truncation is refused, at either end', async t => {
  const states = statesOf()
  const sealed = await states.seal(full)
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: sealed.length }), async n => {
    await t.rejects(states.open(sealed.slice(0, -n), 'here'), refusal)
    await t.rejects(states.open(sealed.slice(n), 'here'), refusal)
  }), { numRuns: 100 })
})

t.test('any text before, after or inside is refused', async t => {
  const states = statesOf()
  const sealed = await states.seal(full)
  const piece = fc.oneof(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme', minLength: 1 }), fc.constantFrom('.', '=', '==', ' ', '\n', '\0', 'A', '.A', '-', '_'))
  await fc.assert(fc.asyncProperty(piece, fc.nat(sealed.length), async (text, at) => {
    await t.rejects(states.open(sealed + text, 'here'), refusal)
    await t.rejects(states.open(text + sealed, 'here'), refusal)
    await t.rejects(states.open(sealed.slice(0, at) + text + sealed.slice(at), 'here'), refusal)
  }), { numRuns: 100 })
})

t.test('another spelling of the same bytes is refused', async t => {
  const states = statesOf()
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  let spellings = 0
  for (const padding of ['', 'x', 'xx']) { // so that the ciphertext ends in each way that base64 knows
    const segments = (await states.seal(stateOf({ once: { padding } }))).split('.')
    for (const [i, segment] of segments.entries()) {
      const same = [...alphabet].map(last => segment.slice(0, -1) + last).filter(one => one !== segment && bytesOf(one).equals(bytesOf(segment)))
      const others = [...same, segment + '=', segment + '==', segment + ' ', segment.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat(-segment.length & 3)]
      for (const spelling of new Set(others)) {
        if (spelling === segment) continue
        spellings++
        await t.rejects(states.open(segments.map((one, at) => at === i ? spelling : one).join('.'), 'here'), refusal)
      }
    }
  }
  t.ok(spellings > 60, `${spellings} spellings`)
})

t.test('parts of two states do not make a third', async t => {
  const states = statesOf()
  const [one, two] = [(await states.seal(full)).split('.'), (await states.seal(stateOf({ once: { token: 'other' } }))).split('.')]
  for (const i of [2, 3, 4]) await t.rejects(states.open(one.map((segment, at) => at === i ? two[i] : segment).join('.'), 'here'), refusal)
})

t.test('what is no state at all is refused', async t => {
  const states = statesOf()
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const texts = ['', '.', '....', 'a.b.c.d.e', `${none}....`, `${none}.e30.`, JSON.stringify(full), Buffer.from(JSON.stringify(full)).toString('base64'), 'x'.repeat(100_000)]
  for (const text of texts) await t.rejects(states.open(text, 'here'), refusal, text.slice(0, 20))
})

t.test('a state of another key is refused', async t => {
  const sealed = await statesOf([other]).seal(full)
  await t.rejects(statesOf([key]).open(sealed, 'here'), refusal)
  await t.rejects(statesOf([]).open(await statesOf([]).seal(full), 'here'), refusal, 'without keys, each process has one of its own')
})

t.test('keys are rotated: the first seals, all of them open', async t => {
  const old = statesOf([other])
  const both = statesOf([key, other])
  const fresh = statesOf([key])
  t.match(await both.open(await old.seal(full), 'here'), full, 'what the old key sealed is opened')
  const sealed = await both.seal(full)
  t.match(await fresh.open(sealed, 'here'), full, 'the new one seals')
  await t.rejects(old.open(sealed, 'here'), refusal)
  await t.rejects(fresh.open(await old.seal(full), 'here'), refusal, 'a key that is gone opens nothing')
})

t.test('a state lasts for its time', async t => {
  const states = statesOf([key], 1000)
  const now = Date.now()
  const clock = t.intercept(Date, 'now', { value: () => now, configurable: true, writable: true })
  const sealed = await states.seal(full)
  for (const [ms, good] of [[0, true], [999, true], [1000, false], [1001, false], [86_400_000, false]] as const) {
    clock.restore()
    t.intercept(Date, 'now', { value: () => now + ms, configurable: true, writable: true })
    if (good) await t.resolves(states.open(sealed, 'here'), `after ${ms} ms`)
    else await t.rejects(states.open(sealed, 'here'), refusal, `after ${ms} ms`)
  }
})

t.test('a state belongs to what it was made for', async t => {
  const states = statesOf()
  const sealed = await states.seal(full)
  for (const bound of ['', 'there', 'here ', 'Here']) await t.rejects(states.open(sealed, bound), refusal, bound)
})

t.test('a state that counts once is opened once', async t => {
  const states = statesOf()
  const sealed = await states.seal(stateOf({ single: 'a' }))
  const twin = await states.seal(stateOf({ single: 'b' }))
  await t.rejects(states.open(sealed, 'there'), refusal, 'a try elsewhere')
  await t.resolves(states.open(sealed, 'here'), 'does not use it up')
  for (let i = 0; i < 3; i++) await t.rejects(states.open(sealed, 'here'), refusal)
  await t.resolves(states.open(twin, 'here'), 'another one is not affected')
  const many = await states.seal(stateOf({ single: 'c' }))
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => states.open(many, 'here')))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'nor at the same time')
})

t.test('what was used is remembered for as long as it could be used again', async t => {
  const states = statesOf([key], 1000)
  const now = Date.now()
  let later = 0
  t.intercept(Date, 'now', { value: () => now + later, configurable: true, writable: true })
  const [one, two] = [await states.seal(stateOf({ single: 'a' })), await states.seal(stateOf({ single: 'b' }))]
  await states.open(one, 'here')
  later = 999
  await t.resolves(states.open(two, 'here'))
  await t.rejects(states.open(one, 'here'), refusal)
  later = 1500
  const three = await states.seal(stateOf({ single: 'c' }))
  await t.resolves(states.open(three, 'here'))
  for (const used of [one, three]) await t.rejects(states.open(used, 'here'), refusal)
})

t.test('any other state can be opened again: the client may have lost the answer', async t => {
  const states = statesOf()
  const sealed = await states.seal(full)
  for (let i = 0; i < 3; i++) await t.resolves(states.open(sealed, 'here'))
})

t.test('whether a state is brought for the first time is known, as long as it lasts', async t => {
  const states = statesOf()
  const [one, two] = [await states.seal(full), await states.seal(full)]
  t.strictSame([await states.first(one), await states.first(one), await states.first(two)], [true, false, true])
  const away = { swap: async () => { throw new Error('away') } } as unknown as Store
  t.equal(await new RequestStates({ keys: [key], ttl: MINUTE }, away).first(one), false, 'nobody can say')
})

t.test('there is a limit of 16 KiB, and the error names what takes up most', async t => {
  const states = statesOf()
  const answer = (length: number) => ({ digest: 'd', answer: { action: 'accept', content: { text: 'x'.repeat(length) } } })
  await t.resolves(states.seal(stateOf({ once: { a: 'x'.repeat(16_000) } })))
  const large: Array<[Partial<State>, string]> = [
    [{ once: { small: 'x', report: 'x'.repeat(16_384) } }, 'once("report")'],
    [{ once: { report: 'x'.repeat(9_000) }, answers: { letter: answer(10_000) } }, 'the answer to "letter"'],
    [{ once: { report: 'x'.repeat(12_000) }, answers: { letter: answer(5_000) } }, 'once("report")'],
    [{ once: { nothing: undefined, report: 'x'.repeat(17_000) } }, 'once("report")']
  ]
  for (const [state, name] of large) await t.rejects(states.seal(stateOf(state)), { message: new RegExp(`16384.*${name.replace(/[()]/g, '\\$&')}`) }, name)
})

t.test('questions alone can be too many', async t => {
  await t.rejects(statesOf().seal(stateOf({ asked: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`question-${i}`, 'digest-of-16-char'])) })), { message: /16384.*list of questions/ })
})

t.test('the state that a handler returned counts, and is named as such', async t => {
  const large = stateOf({ own: 'x'.repeat(17_000), once: { a: 1 } })
  for (const message of [/16384.* state/, /^(?!.*once\("a"\))/]) await t.rejects(statesOf().seal(large), { message })
})

t.test('the limit is one of bytes, as it says', async t => {
  await t.rejects(statesOf().seal(stateOf({ once: { a: '世'.repeat(8_000) } })), { message: /16384/ })
})

// What a state is bound to: Exchange.bound()

const { endpoint } = endpointOf()
const boundOf = (method: string, params: Record<string, unknown>, raw: Record<string, unknown> = params) => {
  const { exchange } = exchangeOf(endpoint, method, { params, version: '2026-07-28' })
  exchange.raw = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: raw })
  return exchange.bound()
}
const call = (name: string, args: unknown, more: object = {}) => boundOf('tools/call', { name, arguments: args, ...more })

t.test('a state is bound to method, target and arguments', async t => {
  const all = [
    call('pay', { amount: 1 }), call('pay', { amount: 2 }), call('pay', { amount: '1' }), call('pay', { sum: 1 }), call('pay', { amount: 1, to: 'x' }), call('pay', {}),
    call('pay2', { amount: 1 }), boundOf('prompts/get', { name: 'pay', arguments: { amount: 1 } }), boundOf('resources/read', { uri: 'mem://a' }), boundOf('resources/read', { uri: 'mem://b' })
  ]
  t.equal(new Set(all).size, all.length)
})

t.test('the order of the arguments is nothing, at any depth; that of an array is', async t => {
  const reversed = (value: any): any => Array.isArray(value)
    ? value.map(reversed)
    : typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).reverse().map(([name, one]) => [name, reversed(one)])) : value
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), args => call('a', args) === call('a', reversed(args))))
  t.not(call('a', { list: [1, 2] }), call('a', { list: [2, 1] }))
})

t.test('other arguments are other arguments, whatever they look like', async t => {
  const pairs: Array<[unknown, unknown]> = [[{}, []], [{ a: 1 }, [['a', 1]]], [{ a: {} }, { a: [] }], [{ a: null }, {}], [1, '1'], ['', null], [[1], 1]]
  for (const [one, two] of pairs) t.not(call('a', { x: one }), call('a', { x: two }), `${JSON.stringify(one)} and ${JSON.stringify(two)}`)
})

t.test('defaults that the schema fills in, and what else the call carries, do not change the binding', async t => {
  const plain = call('a', { city: 'Rome' })
  t.equal(boundOf('tools/call', { name: 'a', arguments: { city: 'Rome', limit: 10 } }, { name: 'a', arguments: { city: 'Rome' } }), plain)
  t.equal(call('a', { city: 'Rome' }, { _meta: { progressToken: 7 }, requestState: 'x', inputResponses: { y: {} } }), plain)
  t.equal(boundOf('tools/call', { name: 'a' }), call('a', null), 'no arguments and null are the same')
})

t.test('a state that is too long is not even looked at', async t => {
  const states = statesOf()
  const before = performance.now()
  for (const text of ['.'.repeat(1_000_000), 'a'.repeat(1_000_000), 'ab.'.repeat(300_000)]) await t.rejects(states.open(text, 'here'), refusal)
  t.ok(performance.now() - before < 300, `${performance.now() - before} ms`)
})

t.test('an answer that is too large is for its client to know, what the author keeps is not', async t => {
  const answer = { digest: 'd', answer: { action: 'accept', content: { text: 'x'.repeat(17_000) } } }
  await t.rejects(statesOf().seal(stateOf({ answers: { letter: answer } })), { code: -32602, message: /the answer to "letter"/ })
  const error = await statesOf().seal(stateOf({ once: { report: 'x'.repeat(17_000) } })).catch(error => error)
  t.equal(error.code, undefined)
})

t.test('a state of another process is told of once, where it could have been opened there alone', async t => {
  let told = 0
  const foreign = () => { told++ }
  const one = new RequestStates({ keys: [], ttl: MINUTE }, undefined, foreign)
  const other = new RequestStates({ keys: [], ttl: MINUTE })
  const bound = 'here'
  const sealed = await other.seal(stateOf())
  for (let i = 0; i < 3; i++) await t.rejects(one.open(sealed, bound), { code: -32602 })
  t.equal(told, 1)
  await t.rejects(new RequestStates({ keys: [randomBytes(32)], ttl: MINUTE }, undefined, foreign).open(sealed, bound), { code: -32602 })
  await t.rejects(new RequestStates({ keys: [], ttl: MINUTE }, undefined, foreign).open(sealed.slice(0, -4), bound), { code: -32602 })
  await t.rejects(new RequestStates({ keys: [], ttl: MINUTE }, undefined, foreign).open('x', bound), { code: -32602 })
  t.equal(told, 1, 'a key that was given is asked of nobody; what is no state is none of another process')
})

t.test('one that was used does not count again when the store of the processes has lost it', async t => {
  let store = new MemoryStore()
  const away = async () => { throw new Error('away') }
  const shared = { get: store.get.bind(store), swap: (...args: Parameters<Store['swap']>) => store.swap(...args) } as Store
  const states = new RequestStates({ keys: [key], ttl: MINUTE }, shared)
  const [one, two] = [await states.seal(stateOf({ single: 'a' })), await states.seal(stateOf({ single: 'b' }))]
  await t.resolves(states.open(one, 'here'))
  store = new MemoryStore()
  await t.rejects(states.open(one, 'here'), refusal)
  const back = t.intercept(shared, 'swap', { value: away })
  await t.rejects(states.open(two, 'here'), { message: /cannot be reached/ })
  back.restore()
  await t.resolves(states.open(two, 'here'), 'what could not be used was not')
})
