// The explicit form: a handler that returns its questions, and runs again with ctx.answers and ctx.state.
import { Type } from '@sinclair/typebox'
import type { StdioPeer } from '../support/stdio.js'
import { accept, allModes, byMessage, defineTool, elicit, inputRequired, named, Name, requestModes, roots, roundModes, said, sample } from './client.js'
import { each, everywhere } from './each.js'

const login = elicit('Login?', Name)
const code = elicit('Code?', Type.Object({ code: Type.Integer() }))

everywhere('questions, their answers and a state', async (t, open) => {
  const seen: unknown[] = []
  const client = await open({
    tools: [defineTool({
      name: 'sign_in',
      inputSchema: Type.Object({ site: Type.String() }),
      handler: async ({ site }, ctx) => {
        const state = ctx.state as { step: string, name?: string } | undefined
        seen.push(state)
        const { login: first, code: second } = ctx.answers as Record<string, { content?: Record<string, unknown> } | undefined>
        if (state === undefined) return inputRequired({ questions: { login }, state: { step: 'login' } })
        if (state.step === 'login') return inputRequired({ questions: { code }, state: { step: 'code', name: first?.content?.name } })
        return `${state.name} ${second?.content?.code} at ${site} (${first === undefined})`
      }
    })]
  })
  const answer = byMessage({ 'Login?': named('Ada'), 'Code?': accept({ code: 42 }) })
  const { text, asked, rounds } = await client.call('sign_in', answer, { args: { site: 'a' } })
  t.equal(text, 'Ada 42 at a (true)')
  t.strictSame(asked.map(({ params }) => params.message), ['Login?', 'Code?'])
  t.strictSame(seen, [undefined, { step: 'login' }, { step: 'code', name: 'Ada' }])
  if (client.mode.rounds) t.equal(rounds, 3)
})

everywhere('the handler need not be asynchronous', async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'sync', handler: (_, ctx) => 'login' in ctx.answers ? JSON.stringify(ctx.answers) : inputRequired({ questions: { login } }) })] })
  t.strictSame(JSON.parse((await client.call('sync', () => named('Ada'))).text), { login: named('Ada') })
})

everywhere('nor without an outputSchema', async (t, open) => {
  const client = await open({
    tools: [defineTool({ name: 'typed', outputSchema: Type.Object({ ok: Type.Boolean() }), handler: async (_, ctx) => 'login' in ctx.answers ? { ok: true } : inputRequired({ questions: { login } }) })]
  })
  const { text, reply } = await client.call('typed', () => named('Ada'))
  t.strictSame(JSON.parse(text), { ok: true })
  if (client.mode.revision >= '2025-06-18') t.strictSame(reply.result.structuredContent, { ok: true })
})

each('questions of every kind', allModes.filter(({ over }) => over !== 'http-sse'), async (t, open, { revision }) => {
  const questions = { model: sample('Hi'), where: roots(), ...(revision >= '2025-06-18' && { login }) }
  const client = await open({ tools: [defineTool({ name: 'all', handler: (_, ctx) => 'model' in ctx.answers ? JSON.stringify(ctx.answers) : inputRequired({ questions }) })] })
  const { text, asked } = await client.call('all', ({ method }) => method === 'roots/list' ? { roots: [{ uri: 'file:///a' }] } : method === 'elicitation/create' ? { action: 'decline' } : said('Ho'))
  t.equal(asked.length, Object.keys(questions).length)
  t.strictSame(JSON.parse(text), { model: said('Ho'), where: [{ uri: 'file:///a' }], ...(revision >= '2025-06-18' && { login: { action: 'decline' } }) })
})

each('what does not fit, or is missing, is not among the answers', roundModes, async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'again',
      handler: (_, ctx) => {
        const missing = Object.entries({ login, code }).filter(([key]) => !(key in ctx.answers))
        return missing.length === 0 ? 'done' : inputRequired({ questions: Object.fromEntries(missing) })
      }
    })]
  })
  const { result } = await client.peer.call('again')
  const round = { name: 'again', requestState: result.requestState, inputResponses: { login: named('Ada'), code: accept({ code: 'x' }), other: named('Eve') } }
  const second = (await client.peer.request('tools/call', round)).result
  t.strictSame(Object.keys(second.inputRequests), ['code'])
})

each('an answer that does not fit is an error before 2026-07-28', requestModes, async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'sync', handler: (_, ctx) => 'code' in ctx.answers ? 'done' : inputRequired({ questions: { code } }) })] })
  t.match(await client.call('sync', () => accept({ code: 'x' })), { isError: true, text: /not what was asked for/ })
})

each('answers without the state of the question are none', roundModes, async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'sync', handler: (_, ctx) => 'login' in ctx.answers ? 'done' : inputRequired({ questions: { login } }) })] })
  const { result } = await client.peer.request('tools/call', { name: 'sync', inputResponses: { login: named('Eve') } })
  t.equal(result.resultType, 'input_required')
})

everywhere('once works with it as well', async (t, open) => {
  let drawn = 0
  const client = await open({
    tools: [defineTool({
      name: 'draw',
      handler: async (_, ctx) => {
        const token = await ctx.once('token', () => ++drawn)
        return 'login' in ctx.answers ? `${token}` : inputRequired({ questions: { login } })
      }
    })]
  })
  t.equal((await client.call('draw', () => named('Ada'))).text, '1')
  t.equal(drawn, 1)
})

everywhere('both forms in one handler', async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'mixed',
      handler: async (_, ctx) => {
        const { content } = await ctx.elicit('Who?', Name)
        if (!('code' in ctx.answers)) return inputRequired({ questions: { code }, state: content?.name })
        return `${content?.name} ${ctx.state} ${JSON.stringify(ctx.answers.code)}`
      }
    })]
  })
  const { text } = await client.call('mixed', byMessage({ 'Who?': named('Ada'), 'Code?': accept({ code: 1 }) }))
  t.equal(text, `Ada Ada ${JSON.stringify(accept({ code: 1 }))}`)
})

everywhere('a state is anything that JSON can carry', async (t, open) => {
  const states = [null, 0, '', false, [], { a: { b: [null, 'ü'] } }]
  for (const state of states) {
    const client = await open({ tools: [defineTool({ name: 'keep', handler: (_, ctx) => 'login' in ctx.answers ? JSON.stringify(ctx.state) : inputRequired({ questions: { login }, state }) })] })
    t.strictSame(JSON.parse((await client.call('keep', () => named('Ada'))).text), state)
  }
})

each('a handler that asks for ever is stopped where no client has a say in it', requestModes, async (t, open) => {
  let runs = 0
  const client = await open({ tools: [defineTool({ name: 'ever', handler: () => { runs++; return inputRequired({ questions: { login } }) } })] })
  const { isError, text, asked } = await client.call('ever', () => named('Ada'))
  t.match([isError, text], [true, /failed unexpectedly/])
  t.strictSame([runs, asked.length], [21, 20])
  t.match(client.server.log.filter(({ level }) => level === 50), [{ err: { message: /returned questions 20 times/ } }])
})

each('where each round is a call of its own, the client decides', roundModes, async (t, open) => {
  let runs = 0
  const client = await open({ tools: [defineTool({ name: 'ever', handler: () => { runs++; return inputRequired({ questions: { login } }) } })] })
  const { reply, asked } = await client.call('ever', (_, nth) => nth < 30 ? named('Ada') : undefined)
  t.equal(reply.result.resultType, 'input_required')
  t.strictSame([runs, asked.length], [30, 30])
})

each('a state without questions is retried at once', [...requestModes, ...roundModes], async (t, open, { rounds }) => {
  const client = await open({ tools: [defineTool({ name: 'step', handler: (_, ctx) => ctx.state === undefined ? inputRequired({ questions: {}, state: 1 }) : `step ${ctx.state}` })] })
  if (!rounds) {
    t.equal((await client.call('step')).text, 'step 1')
    return
  }
  const { result } = await client.peer.call('step')
  t.equal(result.resultType, 'input_required')
  t.match((await client.peer.request('tools/call', { name: 'step', requestState: result.requestState })).result, { content: [{ text: 'step 1' }] })
})

each('the time of the tool is that of the whole call, where it is one', requestModes, async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'slow', timeout: 700, handler: async () => { await new Promise(resolve => setTimeout(resolve, 250)); return inputRequired({ questions: { login } }) } })] })
  const before = Date.now()
  t.match(await client.call('slow', () => named('Ada')), { isError: true, text: /longer than 700 ms/ })
  t.ok(Date.now() - before < 3000)
})

for (const name of ['sync', 'async']) {
  each(`the question of ${name} code is written before stdio ends with its input`, roundModes.filter(({ over }) => over === 'stdio'), async (t, open) => {
    const client = await open({
      tools: [
        defineTool({ name: 'sync', handler: () => inputRequired({ questions: { login } }) }),
        defineTool({ name: 'async', handler: async (_, ctx) => (await ctx.elicit('Login?', Name)).action })
      ]
    })
    const peer = client.peer as StdioPeer
    const { inbox } = peer.start('tools/call', { name })
    peer.input.end()
    await peer.done
    t.match(inbox.messages.filter(one => one.result !== undefined), [{ result: { resultType: 'input_required' } }])
  })
}
