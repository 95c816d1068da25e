// A tool that asks its user first: the same in every revision and over every transport.
import { Type } from '@sinclair/typebox'
import type { Tool } from '../../types/index.js'
import type { Peer } from '../support/stdio.js'
import { until, wait } from '../support/time.js'
import { ToolError } from '../support/app.js'
import { accept, allModes, defineTool, elicit, formModes, inputRequired, modeOf, named, Name, roundModes, type Answer, type Client } from './client.js'
import { alone, each, everywhere } from './each.js'
import { open } from './client.js'

const yes = accept({ confirm: true })
const inputSchema = Type.Object({ to: Type.String(), cents: Type.Integer({ default: 100 }) })

/** Tools that keep what they were run with. */
function payments () {
  const paid: unknown[] = []
  const texts: unknown[] = []
  const pay = (name: string, more: Partial<Tool> = {}, handler?: Tool['handler']) => defineTool({
    name,
    title: 'Transfer',
    inputSchema,
    annotations: { destructiveHint: true },
    confirm: true,
    handler (args, ctx) {
      paid.push(args)
      return handler === undefined ? `paid ${args.cents}` : handler.call(ctx.app, args, ctx) as string
    },
    ...more as object
  })
  return {
    paid,
    texts,
    tools: [
      pay('pay'),
      pay('pay_text', { confirm: 'Pay now?' }),
      pay('pay_fn', { confirm: ((args: { to: string }, ctx: { app: unknown }) => { texts.push(ctx.app); return `Pay ${args.to} at ${texts.length} (${Math.random()})?` }) as never }),
      pay('pay_more', {}, async (_, ctx) => `${(await ctx.elicit('Note?', Name)).content?.name}`),
      pay('pay_same', {}, async (_, ctx) => (await ctx.elicit('Run Transfer?\n\nto: "Ada"\ncents: 100', Type.Object({ confirm: Type.Boolean({ title: 'Confirm' }) }))).action),
      pay('pay_returned', {}, (_, { answers }) => answers.confirm === undefined ? inputRequired({ questions: { confirm: elicit('Note?', Name) } }) : 'noted'),
      pay('pay_bad', { confirm: (() => 7) as never }),
      pay('pay_no', { confirm: () => { throw new ToolError('not at night') } })
    ]
  }
}

const args = { to: 'Ada' }

everywhere('the user is asked, and the tool runs once they have said yes', async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  const { text, asked } = await client.call('pay', () => yes, { args })
  t.equal(text, 'paid 100')
  t.match(asked, [{ method: 'elicitation/create', params: { message: 'Run Transfer?\n\nto: "Ada"\ncents: 100', requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] } } }])
  t.strictSame(paid, [{ to: 'Ada', cents: 100 }])
  t.match(await client.call('pay_text', () => yes, { args }), { text: 'paid 100', asked: [{ params: { message: 'Pay now?' } }] })
})

everywhere('without a yes it does not run, and the model reads why', async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  for (const answer of [accept({ confirm: false }), accept({}), accept(), accept({ sure: true }), { action: 'decline' }, { action: 'cancel' }]) {
    t.match(await client.call('pay', () => answer, { args }), { isError: true, text: 'The user did not confirm: the tool "pay" was not run.' }, JSON.stringify(answer))
  }
  t.strictSame(paid, [])
})

everywhere('an answer that is none is no yes', async (t, open, { rounds }) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  for (const answer of [accept({ confirm: 'yes' }), accept({ confirm: 1 })]) {
    // Rounds ask again.
    const reply = await client.call('pay', (_, nth) => nth === 1 ? answer : { action: 'decline' }, { args })
    t.match(reply, { isError: true, text: rounds ? /did not confirm/ : /^The user did not confirm: the tool "pay" was not run\. .*not what was asked/ }, JSON.stringify(answer))
  }
  t.strictSame(paid, [])
})

everywhere('arguments that do not fit ask nobody', async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  const { asked, reply } = await client.call('pay', () => yes, { args: { to: 5 } })
  t.strictSame([asked, paid], [[], []])
  t.match(JSON.stringify(reply.result ?? reply.error), /to must be string/)
})

everywhere('it is asked once for each call, whatever the handler asks besides', async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  const answers: Answer = ({ params }) => params.message === 'Note?' ? named('thanks') : yes
  const more = await client.call('pay_more', answers, { args })
  t.equal(more.text, 'thanks')
  t.equal(more.asked.filter(({ params }) => params.message !== 'Note?').length, 1)
  const returned = await client.call('pay_returned', answers, { args })
  t.equal(returned.text, 'noted')
  t.strictSame(returned.asked.map(({ params }) => params.message.split('\n')[0]), ['Run Transfer?', 'Note?'])
  const same = await client.call('pay_same', (_, nth) => nth === 1 ? yes : { action: 'decline' }, { args })
  t.match([same.text, same.asked.length], ['decline', 2], 'the same question of the handler is another one')
  t.equal(paid.length, 6 - (client.mode.rounds ? 0 : 2), 'the handler itself starts again as ever')
  await client.call('pay', () => yes, { args })
  t.equal((await client.call('pay', () => yes, { args })).asked.length, 1, 'the next call is asked again')
})

everywhere('a function says it, once for each call', async (t, open) => {
  const { texts, tools } = payments()
  const client = await open({ tools })
  t.match(await client.call('pay_fn', () => yes, { args }), { text: 'paid 100', asked: [{ params: { message: /^Pay Ada at 1 / } }] })
  t.strictSame([texts.length, texts[0] === client.server.app], [1, true], 'also where its text is never the same')
})

everywhere('a function that says nothing is a fault of the server', async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  t.match(await client.call('pay_bad', () => yes, { args }), { isError: true, text: /failed unexpectedly/, asked: [] })
  t.match(client.server.log.filter(({ level }) => level === 50).at(-1), { err: { message: /confirm of the tool "pay_bad" must return/ } })
  t.strictSame(paid, [])
})

each('who cannot be asked is refused', allModes, async (t, open, { rounds }) => {
  const { paid, tools } = payments()
  const client = await open({ tools, capabilities: {} })
  const { reply, text } = await client.call('pay', () => yes, { args })
  const said = /The user cannot be asked: the tool "pay" was not run\. The client .*elicitation/
  if (rounds) t.match(reply.error, { code: -32021, message: said, data: { requiredCapabilities: { elicitation: {} } } })
  else t.match([reply.result?.isError, text], [true, said])
  t.strictSame(paid, [])
})

/** What hooks hear of one call. */
function heardOf ({ app }: Client['server']) {
  const heard: unknown[] = []
  for (const name of ['onCall', 'onResult', 'onError'] as const) app.mcp.addHook(name, ((event: { outcome?: string }) => { heard.push([name, ...(event.outcome === undefined ? [] : [event.outcome])]) }) as never)
  return heard
}

each('who cannot be asked, or says no in whatever way, is denied: the handler was never called', allModes, async (t, open, mode) => {
  const { paid, tools } = payments()
  const unable = await open({ tools, capabilities: {} })
  const heard = heardOf(unable.server)
  await unable.call('pay', () => yes, { args })
  t.strictSame(heard, [['onError', 'denied']])
  if (!formModes.includes(mode)) return
  const client = await open({ tools })
  const told = heardOf(client.server)
  const answers: Answer[] = [() => ({ action: 'decline' }), () => accept({}), ...(mode.rounds ? [] : [() => accept({ confirm: 'yes' }), () => ({ error: { code: -32000, message: 'the window broke' } })])]
  for (const answer of answers) {
    const { text } = await client.call('pay', answer, { args })
    t.match(text, /^The user did not confirm: the tool "pay" was not run\./)
    t.strictSame(told.splice(0), [...(mode.rounds ? [['onResult', 'asked']] : []), ['onError', 'denied']])
  }
  await client.call('pay_bad', () => yes, { args })
  t.strictSame(told.splice(0), [['onError', 'error']])
  await client.call('pay_no', () => yes, { args })
  t.strictSame(told.splice(0), [['onError', 'denied']])
  await client.call('pay', () => yes, { args })
  t.strictSame(told.splice(0), [...(mode.rounds ? [['onResult', 'asked']] : []), ['onCall'], ['onResult', 'ok']])
  t.equal(paid.length, 1)
})

each('where the revision has no forms, nobody can be asked', allModes.filter(mode => !formModes.includes(mode)), async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  t.match(await client.call('pay', () => yes, { args }), { isError: true, text: /2025-06-18/ })
  t.strictSame(paid, [])
})

each('a confirmation cannot be sent again', roundModes, async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  const again = async (name: string, more: object, given: object = args) => await client.peer.request('tools/call', { name, arguments: given, ...more })
  for (const [name, times] of [['pay', 1], ['pay_more', 1]] as const) {
    const { result } = await again(name, {})
    const key = Object.keys(result.inputRequests)[0] as string
    const round = { requestState: result.requestState, inputResponses: { [key]: yes } }
    t.match((await again(name, round, { to: 'Eve' })).error, { code: -32602 }, `${name}: for other arguments`)
    t.match((await again(name, { inputResponses: round.inputResponses })).result, { resultType: 'input_required' }, `${name}: without a state`)
    const before = paid.length
    t.ok((await again(name, round)).result)
    for (let i = 0; i < 3; i++) t.match((await again(name, round)).error, { code: -32602, message: /requestState/ }, `${name}: once more`)
    t.equal(paid.length, before + times)
  }
})

alone('the time that the user takes is not that of the tool', async t => {
  const slow = defineTool({ name: 'slow', timeout: 150, confirm: true, inputSchema: Type.Object({ ms: Type.Integer() }), handler: async ({ ms }) => { await wait(ms); return 'done' } })
  const client = await open(t, modeOf('2025-11-25', 'http'), { tools: [slow] })
  const late = async (ms: number) => {
    const call = client.peer.start('tools/call', { name: 'slow', arguments: { ms } })
    const question = await call.inbox.first('a question', one => one.method === 'elicitation/create')
    await wait(400)
    await client.tell(question.id, yes)
    return (await call.reply).result
  }
  t.match(await late(0), { content: [{ text: 'done' }] })
  t.match(await late(2000), { isError: true, content: [{ text: /longer than 150 ms/ }] }, 'which it has from then on')
})

each('a yes starts the handler once; again only with an answer to what it asks', roundModes, async (t, open) => {
  let runs = 0
  const more = defineTool({ name: 'more', confirm: true, handler: async (_, ctx) => { runs++; return (await ctx.elicit('Note?', Name)).action } })
  const client = await open({ tools: [more] })
  const send = async (before?: any, answer?: unknown) => {
    const [key = ''] = Object.keys(before?.inputRequests ?? {})
    const { result } = await client.peer.request('tools/call', { name: 'more', ...(before !== undefined && { requestState: before.requestState, ...(answer !== undefined && { inputResponses: { [key]: answer } }) }) })
    const [asked] = Object.values(result.inputRequests ?? {}) as any[]
    return { ...result, asked: asked?.params.message }
  }
  const begun = async () => {
    runs = 0
    const one = await send(await send(), yes)
    t.strictSame([one.asked, runs], ['Note?', 1])
    return one
  }
  t.match(await send(await begun(), named('x')), { content: [{ text: 'accept' }] })
  t.equal(runs, 2, 'the answer')
  let last = await begun()
  for (let i = 0; i < 3; i++) {
    last = await send(last)
    t.equal(last.asked, 'Run more?', 'whoever answers nothing is asked for another yes')
  }
  t.equal(runs, 1)
  t.equal((await send(last, yes)).asked, 'Note?')
  last = await begun()
  for (let i = 0; i < 5; i++) last = await send(last, 'x')
  t.equal(runs, 2, 'and so is who answers wrongly')
  t.equal(last.asked, 'Run more?')
})

everywhere('the arguments that are asked about are those the tool runs with', async (t, open) => {
  const { paid, tools } = payments()
  const client = await open({ tools })
  const junk = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`option${i}`, 'default']))
  const { asked } = await client.call('pay', () => yes, { args: { 'to: "Bob"': '', ...junk, cents: 5, to: 'Ada' } })
  t.match(asked[0]?.params.message, /^Run Transfer\?\n\nto: "Ada"\ncents: 5\n"to: \\"Bob\\"": ""\n"option0": "default"\n[^]*\n… and 11 more$/)
  t.equal(paid.length, 1)
})

each('a number that would be shown as none is refused', [modeOf('2025-11-25', 'stdio'), modeOf('2026-07-28', 'stdio')], async (t, open, { rounds }) => {
  let runs = 0
  const client = await open({ tools: [defineTool({ name: 'any', confirm: true, handler: () => `${++runs}` })] })
  const peer = client.peer as Peer & { write (text: string): Promise<unknown> }
  const { write } = peer
  peer.write = text => write.call(peer, text.replace('"too much"', '1e999'))
  const send = async (limit: unknown, more = {}) => {
    const { result, error } = await peer.request('tools/call', { name: 'any', arguments: { limit }, ...more })
    return result ?? error
  }
  const refused = /limit is a number that is too large/
  t.match(await send('too much'), { isError: true, content: [{ text: refused }] })
  if (rounds) {
    const { requestState, inputRequests } = await send(null)
    const given = { requestState, inputResponses: { [Object.keys(inputRequests)[0] as string]: yes } }
    t.match(await send('too much', given), { code: -32602, message: refused }, 'also with the yes for another')
    t.equal(runs, 0)
    t.match(await send(null, given), { content: [{ text: '1' }] })
  }
})

alone('a user has as long as for any question', async t => {
  let runs = 0
  const tool = defineTool({ name: 'run', confirm: true, handler: () => `${++runs}` })
  const client = await open(t, modeOf('2025-11-25', 'http'), { tools: [tool], options: { requestState: { ttl: 200 } } })
  const heard = heardOf(client.server)
  t.match(await client.call('run', () => undefined), { isError: true, text: 'The user did not answer within 200 ms: the tool "run" was not run.' })
  t.equal(runs, 0)
  t.strictSame(heard, [['onError', 'denied']])
  t.match(client.server.log.filter(({ level }) => Number(level) >= 40), [{ msg: 'The user did not answer within 200 ms: the tool "run" was not run.', ms: 200, name: 'run' }])
})

alone('a server that closes while a user is asked says that the tool was not run', async t => {
  const tools = [defineTool({ name: 'run', confirm: true, handler: () => 'ran' }), defineTool({ name: 'ran', handler: () => new Promise<string>(() => {}) })]
  const client = await open(t, modeOf('2025-11-25', 'http'), { tools, options: { closeTimeout: 50 } })
  const calls = tools.map(({ name }) => client.peer.start('tools/call', { name }))
  await calls[0]?.inbox.first('a question', one => one.method === 'elicitation/create')
  t.ok(await until(() => client.server.app.mcp.stats().calls === 2))
  await client.server.app.close()
  const texts = await Promise.all(calls.map(async ({ reply }) => (await reply).result?.content[0].text))
  t.strictSame(texts, ['The tool "run" was not run.', 'The tool "ran" was stopped.'])
})

alone('a call that is cancelled while its user is asked does not run', async t => {
  let runs = 0
  const client: Client = await open(t, modeOf('2025-11-25', 'stdio'), { tools: [defineTool({ name: 'run', confirm: true, handler: () => `${++runs}` })] })
  const call = client.peer.start('tools/call', { name: 'run' })
  const question = await call.inbox.first('a question', one => one.method === 'elicitation/create')
  await client.peer.notify('notifications/cancelled', { requestId: call.id })
  await client.tell(question.id, yes)
  t.ok(await until(() => client.server.app.mcp.stats().calls === 0))
  await wait(50)
  t.equal(runs, 0)
})
