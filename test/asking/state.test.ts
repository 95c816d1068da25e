// What a call of 2026-07-28 brings back from the round before: answers, and the state that makes them count.
import { randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { Test } from 'tap'
import { wait } from '../support/time.js'
import { accept, defineTool, elicit, inputRequired, join, modeOf, named, Name, open, roundModes, type Client } from './client.js'
import { alone, each } from './each.js'

const http = modeOf('2026-07-28', 'http')

/** Tools that count how often they were run, and how often they were paid. */
function counting () {
  const count = { runs: 0, paid: 0, drawn: 0 }
  const Sure = Type.Object({ sure: Type.Boolean() })
  const inputSchema = Type.Object({ amount: Type.Integer(), note: Type.Optional(Type.Unknown()), currency: Type.String({ default: 'EUR' }) })
  const pay = (name: string, singleUse: boolean, further = false) => defineTool({
    name,
    inputSchema,
    handler: async ({ amount, currency }, ctx) => {
      count.runs++
      const { sure } = await ctx.input({ sure: elicit('Sure?', Sure) }, { singleUse })
      if (further) await ctx.input({ note: elicit('Note?', Name) })
      if (sure.content?.sure !== true) return 'not paid'
      count.paid++
      return `paid ${amount} ${currency}`
    }
  })
  const draw = defineTool({
    name: 'draw',
    handler: async (_, ctx) => {
      const token = await ctx.once('token', () => ++count.drawn)
      const { a } = await ctx.input({ a: elicit('A?', Name) })
      const again = await ctx.once('token', () => ++count.drawn)
      const { b } = await ctx.input({ b: elicit('B?', Name) })
      return [token, again, a.content?.name, b.content?.name].join()
    }
  })
  const charge = defineTool({
    name: 'charge',
    handler: async (_, ctx) => {
      await ctx.once('charge', async () => { count.paid++ })
      return (await ctx.elicit('Name?', Name)).action
    }
  })
  return { count, tools: [pay('pay', false), pay('pay_once', true), pay('pay_once_then', true, true), pay('pay_other', false), draw, charge] }
}

const sure = accept({ sure: true })
const again = async (client: Client, name: string, args: unknown, more: object) => await client.peer.request('tools/call', { name, ...(args === undefined ? {} : { arguments: args }), ...more })
const begin = async (client: Client, name: string, args?: unknown) => (await again(client, name, args, {})).result
const bad = { code: -32602, message: /requestState/ }

each('intact, the state makes the answer count', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const { requestState } = await begin(client, 'pay', { amount: 5 })
  const { result } = await again(client, 'pay', { amount: 5 }, { requestState, inputResponses: { sure } })
  t.match(result, { content: [{ text: 'paid 5 EUR' }] })
  t.match(count, { runs: 2, paid: 1 })
})

each('tampered with, it is an error and no handler runs', roundModes, async (t, open, { over }) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const { requestState } = await begin(client, 'pay', { amount: 5 })
  const foreign = (await begin(client, 'pay_other', { amount: 5 })).requestState
  const before = count.runs
  const last = requestState.at(-1)
  const forged = ['', 'x', 'null', requestState.slice(0, -1), requestState + 'A', requestState.slice(1), requestState.replace(/.$/, last === 'A' ? 'B' : 'A'), requestState.toUpperCase(), Buffer.from('{"sure":true}').toString('base64url'), foreign]
  for (const [i, one] of forged.entries()) {
    const { error, answer } = await again(client, 'pay', { amount: 5 }, { requestState: one, inputResponses: { sure } })
    t.match(error, bad, `${i}`)
    if (over === 'http') t.equal(answer?.status, 200)
  }
  for (const one of [7, true, {}, [requestState]]) t.match((await again(client, 'pay', { amount: 5 }, { requestState: one, inputResponses: { sure } })).error, { code: -32602 }, JSON.stringify(one))
  t.match(count, { runs: before, paid: 0 })
})

each('it belongs to the arguments it was given for, however they are written', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const args = { amount: 5, note: { b: [1, {}], a: 'x' } }
  const { requestState } = await begin(client, 'pay', args)
  const round = { requestState, inputResponses: { sure } }
  const others = [{ ...args, amount: 500 }, { amount: 5 }, { ...args, more: 1 }, { ...args, currency: 'EUR' }, { ...args, note: { b: [{}, 1], a: 'x' } }]
  for (const other of others) t.match((await again(client, 'pay', other, round)).error, bad, JSON.stringify(other))
  t.match((await again(client, 'pay_other', args, round)).error, bad, 'another tool')
  t.equal(count.paid, 0)
  t.match((await again(client, 'pay', { note: { a: 'x', b: [1, {}] }, amount: 5 }, round)).result, { content: [{ text: 'paid 5 EUR' }] }, 'another order')
})

each('a look-alike of the arguments is refused', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const { requestState } = await begin(client, 'pay', { amount: 5, note: [] })
  t.match((await again(client, 'pay', { amount: 5, note: {} }, { requestState, inputResponses: { sure } })).error, bad)
  t.equal(count.paid, 0)
})

each('answers without a state count where no harm can come of it', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  t.match((await again(client, 'pay', { amount: 5 }, { inputResponses: { sure } })).result, { content: [{ text: 'paid 5 EUR' }] })
  t.match((await again(client, 'pay', { amount: 5 }, { inputResponses: { sure: accept({ sure: 'yes' }) } })).result, { resultType: 'input_required' }, 'if they fit')
  t.match((await again(client, 'pay_once', { amount: 5 }, { inputResponses: { sure } })).result, { resultType: 'input_required' }, 'not for what counts once')
  t.match((await again(client, 'draw', undefined, { inputResponses: { a: named('Ada'), b: named('Bob') } })).result, { resultType: 'input_required', inputRequests: { a: {} } }, 'not after once')
  t.match(count, { paid: 1 })
})

each('answers must be an object by their keys; null is as if there were none', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const { requestState } = await begin(client, 'pay', { amount: 5 })
  const before = count.runs
  for (const inputResponses of [[], [sure], 'x', 7, true]) {
    t.match((await again(client, 'pay', { amount: 5 }, { requestState, inputResponses })).error, { code: -32602, message: /inputResponses/ }, JSON.stringify(inputResponses))
    t.match((await again(client, 'pay', { amount: 5 }, { inputResponses })).error, { code: -32602, message: /inputResponses/ })
  }
  t.equal(count.runs, before)
  t.match((await again(client, 'pay', { amount: 5 }, { inputResponses: null, requestState: null })).result, { resultType: 'input_required' })
  t.match((await again(client, 'pay', { amount: 5 }, { inputResponses: { sure }, requestState: null })).result, { content: [{ text: 'paid 5 EUR' }] })
})

each('once keeps its value, and its function runs once', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const { text, rounds } = await client.call('draw', ({ key }) => named(key as string))
  t.equal(text, '1,1,a,b')
  t.match([count.drawn, rounds], [1, 3])
  t.equal((await client.call('draw', ({ key }) => named(key as string))).text, '2,2,a,b', 'in each call')
})

each('once runs once, also where it gives nothing back', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  t.equal((await client.call('charge', () => named('Ada'))).text, 'accept')
  t.equal(count.paid, 1)
})

each('a state can be used again, since answers get lost; one that counts once cannot', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const many = await begin(client, 'pay', { amount: 5 })
  for (let i = 0; i < 2; i++) t.match((await again(client, 'pay', { amount: 5 }, { requestState: many.requestState, inputResponses: { sure } })).result, { content: [{ text: /paid/ }] })
  const { requestState } = await begin(client, 'pay_once', { amount: 5 })
  const replies = await Promise.all(Array.from({ length: 5 }, () => again(client, 'pay_once', { amount: 5 }, { requestState, inputResponses: { sure } })))
  t.equal(replies.filter(({ result }) => result?.content !== undefined).length, 1)
  t.match(replies.filter(({ error }) => error !== undefined), Array(4).fill({ error: bad }))
  t.equal(count.paid, 3)
})

each('what counts once counts once, however many questions follow', roundModes, async (t, open) => {
  const { count, tools } = counting()
  const client = await open({ tools })
  const { requestState } = await begin(client, 'pay_once_then', { amount: 5 })
  const second = (await again(client, 'pay_once_then', { amount: 5 }, { requestState, inputResponses: { sure } })).result
  t.strictSame(Object.keys(second.inputRequests), ['note'])
  const last = { requestState: second.requestState, inputResponses: { note: named('x') } }
  t.match((await again(client, 'pay_once_then', { amount: 5 }, last)).result, { content: [{ text: /paid/ }] })
  t.match((await again(client, 'pay_once_then', { amount: 5 }, last)).error, bad)
  t.equal(count.paid, 1)
})

each('a state is good for its time', roundModes, async (t, open) => {
  const { tools } = counting()
  const client = await open({ tools, options: { requestState: { ttl: 50 } } })
  const { requestState } = await begin(client, 'pay', { amount: 5 })
  await wait(80)
  t.match((await again(client, 'pay', { amount: 5 }, { requestState, inputResponses: { sure } })).error, bad)
})

/** Two processes, as it were: two apps with keys of their own. */
async function pair (t: Test, one: Array<string | Buffer> | undefined, two: Array<string | Buffer> | undefined) {
  const client = async (keys?: Array<string | Buffer>) => await open(t, http, { tools: counting().tools, options: keys === undefined ? {} : { requestState: { keys } } })
  const [first, second] = [await client(one), await client(two)]
  const { requestState } = await begin(first, 'pay', { amount: 5 })
  return await again(second, 'pay', { amount: 5 }, { requestState, inputResponses: { sure } })
}

alone('processes with the same keys serve each other\'s rounds, and keys can be rotated', async t => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)]
  t.match(await pair(t, [old], [old.toString('base64')]), { result: { content: [{ text: 'paid 5 EUR' }] } }, 'the same key, as bytes and as text')
  t.match(await pair(t, [old], [fresh, old]), { result: { content: [{ text: 'paid 5 EUR' }] } }, 'an old key opens')
  t.match(await pair(t, [fresh, old], [old]), { error: bad }, 'the first key seals')
  t.match(await pair(t, [old], [fresh]), { error: bad })
  t.match(await pair(t, undefined, undefined), { error: bad }, 'without keys, each has its own')
})

each('a state that grows too large is an error that the log explains', roundModes, async (t, open) => {
  const large = 'x'.repeat(20_000)
  const client = await open({
    tools: [
      defineTool({ name: 'once', handler: async (_, ctx) => { await ctx.once('report', () => large); return (await ctx.elicit('Name?', Name)).action } }),
      defineTool({ name: 'state', handler: () => inputRequired({ questions: { a: elicit('A?', Name) }, state: { report: large } }) }),
      defineTool({ name: 'json', handler: async (_, ctx) => { await ctx.once('number', () => 1n); return (await ctx.elicit('Name?', Name)).action } })
    ]
  })
  for (const [name, why] of [['once', /once\("report"\)/], ['state', /16384/], ['json', /BigInt/]] as const) {
    const { isError, text } = await client.call(name, () => named('Ada'))
    t.match([isError, text], [true, /failed unexpectedly/], name)
    t.match(client.server.log.filter(({ level }) => level === 50).at(-1), { err: { message: why } })
  }
})

each('the time of a tool runs in each round', roundModes, async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'slow', timeout: 300, handler: async (_, ctx) => { await ctx.elicit('Name?', Name); await wait(1500); return 'done' } })] })
  t.match(await client.call('slow', () => named('Ada')), { isError: true, text: /longer than 300 ms/ })
})

alone('a client that leaves in the second round cancels it', async t => {
  let reason: unknown
  const client = await open(t, http, { tools: [defineTool({ name: 'slow', handler: async (_, ctx) => { await ctx.elicit('Name?', Name); ctx.signal.addEventListener('abort', () => { reason = ctx.signal.reason.name }); await wait(600); return 'done' } })] })
  const { inputRequests, requestState } = await begin(client, 'slow')
  const other = await join(t, http, client.server)
  const call = other.peer.start('tools/call', { name: 'slow', requestState, inputResponses: { [Object.keys(inputRequests)[0] as string]: named('Ada') } })
  await wait(200)
  call.abort()
  await wait(300)
  t.equal(reason, 'AbortError')
})

alone('a call that is cancelled before its state was opened runs no handler', async t => {
  const { count, tools } = counting()
  const client = await open(t, modeOf('2026-07-28', 'stdio'), { tools })
  const { requestState } = await begin(client, 'pay', { amount: 5 })
  const call = client.peer.start('tools/call', { name: 'pay', arguments: { amount: 5 }, requestState, inputResponses: { sure } })
  await client.peer.notify('notifications/cancelled', { requestId: call.id })
  await wait(200)
  t.match(count, { runs: 1, paid: 0 })
})
