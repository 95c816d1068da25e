// What handlers do around a question: await it or not, loop, race, catch, clean up.
import { turn, until, wait } from '../support/time.js'
import { accept, defineTool, elicit, inputRequired, named, Name, roundModes } from './client.js'
import { each, everywhere } from './each.js'

everywhere('a question that nobody awaits', async (t, open) => {
  const tools = [
    defineTool({ name: 'sync', handler (_, ctx) { ctx.elicit('Name?', Name); return 'done' } }),
    defineTool({ name: 'async', async handler (_, ctx) { ctx.input({ a: elicit('A?', Name) }); ctx.roots(); return 'done' } }),
    defineTool({ name: 'late', async handler (_, ctx) { ctx.elicit('Name?', Name); await wait(30); return 'done' } })
  ]
  const client = await open({ tools })
  for (const { name } of tools) {
    const { text, asked } = await client.call(name, ({ method }) => method === 'roots/list' ? { roots: [] } : named('Ada'))
    t.equal(text, 'done', name)
    t.equal(asked.length, name === 'async' ? 2 : 1)
  }
})

everywhere('questions asked in a handler that fails', async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'fails', handler (_, ctx) { ctx.elicit('Name?', Name); throw new Error('no') } })] })
  const { text, isError, asked } = await client.call('fails', () => named('Ada'))
  t.equal(asked.length, 1)
  t.match([isError, text], [true, /failed unexpectedly/])
})

for (const [title, ask] of [
  ['by ctx.elicit', async (ctx: any) => await ctx.elicit('A number?', Name)],
  ['by ctx.input, under a key of its own', async (ctx: any) => (await ctx.input({ number: elicit('A number?', Name) })).number]
] as const) {
  everywhere(`a loop that asks until the answer is valid, ${title}`, async (t, open) => {
    let turns = 0
    const client = await open({
      tools: [defineTool({
        name: 'until',
        handler: async (_, ctx) => {
          for (let i = 1; i < 1000; i++) {
            turns++
            const { content } = await ask(ctx)
            if (/^\d+$/.test(content.name)) return `${content.name} after ${i}`
          }
          return 'a loop without an end'
        }
      })]
    })
    const { text, asked } = await client.call('until', (_, nth) => named(nth < 4 ? 'x'.repeat(nth) : '42'))
    t.equal(text, '42 after 4')
    t.equal(asked.length, 4)
    t.ok(turns <= 14, `${turns} turns of the loop: it never runs on without an answer`)
  })
}

const two = { a: ['A?', named('Ada')], b: ['B?', named('Bob')] } as const
const both = ({ params }: { params: any }) => params.message === 'A?' ? two.a[1] : two.b[1]

for (const way of ['all', 'allSettled', 'race', 'any'] as const) {
  everywhere(`Promise.${way} of questions`, async (t, open) => {
    const client = await open({
      tools: [defineTool({
        name: 'both',
        handler: async (_, ctx) => {
          const questions = [ctx.elicit('A?', Name), ctx.elicit('B?', Name)]
          const answers: any = await (Promise as any)[way](questions)
          const name = (one: any) => (one.value ?? one).content.name
          return Array.isArray(answers) ? answers.map(name).join() : name(answers)
        }
      })]
    })
    const { text, asked, rounds } = await client.call('both', both)
    t.strictSame(asked.map(({ params }) => params.message), ['A?', 'B?'])
    t.equal(text, way === 'all' || way === 'allSettled' ? 'Ada,Bob' : 'Ada')
    if (client.mode.rounds) t.equal(rounds, 2, 'one round for both')
  })
}

everywhere('a race with a clock', async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'hurry',
      handler: async (_, ctx) => {
        const clock = wait(30).then(() => 'too late')
        return await Promise.race([ctx.elicit('Name?', Name).then(({ content }) => `Hello, ${content?.name}`), clock])
      }
    })]
  })
  const talk = await client.call('hurry')
  if (client.mode.rounds) {
    t.equal(talk.reply.result.resultType, 'input_required', 'the call ends with the question, however long the answer takes')
    t.equal((await client.call('hurry', () => named('Ada'))).text, 'Hello, Ada')
    return
  }
  t.equal(talk.text, 'too late')
  t.match(talk.notes, [{ method: 'notifications/cancelled', params: { requestId: talk.asked[0]?.id } }], 'the question is taken back')
})

everywhere('a fallback in catch does not take the place of the question', async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'fallback',
      handler: async (_, ctx) => {
        try { return (await ctx.elicit('Name?', Name)).content?.name as string } catch { return 'fallback' }
      }
    })]
  })
  t.equal((await client.call('fallback', () => named('Ada'))).text, 'Ada')
})

everywhere('a handler that asks on after it has caught the end of its call', async (t, open) => {
  let caught = 0
  let past = 0
  const client = await open({
    tools: [defineTool({
      name: 'stubborn',
      handler: async (_, ctx) => {
        const first = await ctx.elicit('A?', Name).catch(() => { caught++ })
        const second = await ctx.elicit('B?', Name)
        past++
        return `${first?.content?.name} ${second.content?.name}`
      }
    })]
  })
  const { text, asked } = await client.call('stubborn', both)
  t.equal(text, 'Ada Bob')
  t.strictSame(asked.map(({ params }) => params.message), ['A?', 'B?'])
  t.strictSame([caught, past], [client.mode.rounds ? 1 : 0, 1], 'what comes after the end waits for ever')
})

everywhere('finally blocks run, and may still tell of progress', async (t, open) => {
  const steps: string[] = []
  const client = await open({
    tools: [defineTool({
      name: 'tidy',
      handler: async (_, ctx) => {
        try {
          steps.push('begin')
          await ctx.progress(1)
          return (await ctx.elicit('Name?', Name)).content?.name as string
        } finally {
          await turn()
          await ctx.progress(2)
          await ctx.message('info', 'tidied up')
          steps.push('end')
        }
      }
    })]
  })
  const { text, notes } = await client.call('tidy', () => named('Ada'), { meta: { progressToken: 1 } })
  t.equal(text, 'Ada')
  t.strictSame(steps, client.mode.rounds ? ['begin', 'end', 'begin', 'end'] : ['begin', 'end'])
  t.strictSame(notes.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params.progress), [1, 2])
})

each('a handler that takes long after its question is not waited for', roundModes, async (t, open) => {
  let ended = 0
  const client = await open({
    tools: [defineTool({
      name: 'slow',
      handler: async (_, ctx) => {
        try { return (await ctx.elicit('Name?', Name)).content?.name as string } finally {
          await wait(ctx.signal.aborted ? 1500 : 0)
          ended++
        }
      }
    })]
  })
  const before = Date.now()
  const { result } = await client.peer.call('slow')
  t.equal(result.resultType, 'input_required')
  t.ok(Date.now() - before < 1400, 'the question went out before the handler was through')
  t.equal(ended, 0)
  t.equal((await client.call('slow', () => named('Ada'))).text, 'Ada')
  t.ok(await until(() => ended === 3), 'and it ends in its own time')
})

everywhere('what the handler gives back after its question is nothing', async (t, open) => {
  const client = await open({
    tools: [
      defineTool({ name: 'throws', handler: async (_, ctx) => { try { await ctx.elicit('Name?', Name) } catch { throw new Error('another') } return 'fine' } }),
      defineTool({ name: 'nonsense', handler: async (_, ctx) => { try { await ctx.elicit('Name?', Name) } catch { return 7 as never } return 'fine' } }),
      defineTool({ name: 'asks', handler: async (_, ctx) => { try { await ctx.elicit('Name?', Name) } catch { return inputRequired({ questions: { b: elicit('B?', Name) } }) } return 'fine' } })
    ]
  })
  for (const name of ['throws', 'nonsense', 'asks']) {
    const { text, asked } = await client.call(name, () => named('Ada'))
    t.equal(text, 'fine', name)
    t.equal(asked.length, 1, name)
  }
  t.notMatch(client.server.log, [{ level: 50 }], 'nothing of it is logged as an error')
})

everywhere('the signal says why it aborts', async (t, open) => {
  const reasons: unknown[] = []
  const client = await open({
    tools: [defineTool({
      name: 'watch',
      handler: async (_, ctx) => {
        ctx.signal.addEventListener('abort', () => { reasons.push(ctx.signal.reason.name) })
        return (await ctx.elicit('Name?', Name)).action
      }
    })]
  })
  t.equal((await client.call('watch', () => accept({ name: 'Ada' }))).text, 'accept')
  t.strictSame(reasons, client.mode.rounds ? ['InputRequired'] : [])
})
