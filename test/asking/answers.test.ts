// What a client may answer, and what becomes of it.
import { Type } from '@sinclair/typebox'
import { accept, allModes, byMessage, defineTool, elicit, named, Name, roots, said, sample } from './client.js'
import { each, everywhere } from './each.js'

const greet = () => defineTool({
  name: 'greet',
  handler: async (_, ctx) => {
    const { action, content } = await ctx.elicit('Name?', Name)
    return action === 'accept' ? `Hello, ${content.name}!` : action
  }
})

everywhere('a form that is accepted, declined and cancelled', async (t, open) => {
  const client = await open({ tools: [greet()] })
  const { text, asked, rounds } = await client.call('greet', () => named('Ada'))
  t.equal(text, 'Hello, Ada!')
  t.match(asked, [{ method: 'elicitation/create', params: { message: 'Name?', requestedSchema: { properties: { name: { type: 'string', minLength: 1 } }, required: ['name'] } } }])
  t.equal(rounds, client.mode.rounds ? 2 : 1)
  t.equal((await client.call('greet', () => ({ action: 'decline' }))).text, 'decline')
  t.equal((await client.call('greet', () => ({ action: 'cancel', content: { name: 7 } }))).text, 'cancel')
  t.strictSame(client.server.log.filter(({ level }) => Number(level) >= 40), [], 'and the log has nothing to complain of')
})

each('a model, and roots', allModes, async (t, open) => {
  const client = await open({
    tools: [
      defineTool({ name: 'model', handler: async (_, ctx) => { const { content, model } = await ctx.sample('Hi'); return `${model}: ${(content as { text: string }).text}` } }),
      defineTool({ name: 'where', handler: async (_, ctx) => (await ctx.roots()).map(({ uri, name }) => `${uri} ${name}`).join() })
    ]
  })
  const model = await client.call('model', () => said('Ho'))
  t.equal(model.text, 'm: Ho')
  t.match(model.asked, [{ method: 'sampling/createMessage', params: { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 1000 } }])
  const where = await client.call('where', () => ({ roots: [{ uri: 'file:///a', name: 'A' }, { uri: 'file:///b' }] }))
  t.equal(where.text, 'file:///a A,file:///b undefined')
  t.match(where.asked, [{ method: 'roots/list' }])
})

everywhere('several questions in one round', async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'several',
      handler: async (_, ctx) => {
        const { who, colour, model, where } = await ctx.input({ who: elicit('Name?', Name), colour: elicit('Colour?', Type.Object({ colour: Type.Union([Type.Literal('red'), Type.Literal('blue')]) })), model: sample('Hi'), where: roots() })
        return [who.content?.name, colour.content?.colour, model.model, where.length].join()
      }
    })]
  })
  const answer = byMessage({ 'Name?': named('Ada'), 'Colour?': accept({ colour: 'blue' }), 'sampling/createMessage': said('x'), 'roots/list': { roots: [] } })
  const { text, asked, rounds } = await client.call('several', answer)
  t.equal(text, 'Ada,blue,m,0')
  t.equal(asked.length, 4)
  if (!client.mode.rounds) return
  t.equal(rounds, 2)
  t.strictSame(asked.map(({ key }) => key), ['who', 'colour', 'model', 'where'], 'under the names that the author gave them')
})

const dialogue = (...messages: string[]) => defineTool({
  name: 'dialogue',
  handler: async (_, ctx) => {
    const answers: string[] = []
    for (const message of messages) answers.push((await ctx.elicit(message, Name)).content?.name ?? 'none')
    return answers.join()
  }
})

everywhere('several rounds, each for what is new', async (t, open) => {
  const client = await open({ tools: [dialogue('One?', 'Two?', 'Three?', 'One?')] })
  let n = 0
  const { text, asked, rounds } = await client.call('dialogue', () => named(`n${++n}`))
  t.equal(text, 'n1,n2,n3,n4')
  t.strictSame(asked.map(({ params }) => params.message), ['One?', 'Two?', 'Three?', 'One?'], 'the same question twice is two questions')
  t.equal(rounds, client.mode.rounds ? 5 : 1)
})

everywhere('keys that nobody asked for are ignored', async (t, open) => {
  const client = await open({ tools: [greet()] })
  if (!client.mode.rounds) {
    await client.tell('ask-77', named('Eve'))
    t.equal((await client.call('greet', () => named('Ada'))).text, 'Hello, Ada!')
    return
  }
  const { result } = await client.peer.call('greet')
  const [key] = Object.keys(result.inputRequests)
  const inputResponses = { other: named('Eve'), [key as string]: named('Ada'), constructor: null, hasOwnProperty: 7 }
  const reply = await client.peer.request('tools/call', { name: 'greet', inputResponses, requestState: result.requestState })
  t.match(reply.result, { content: [{ text: 'Hello, Ada!' }] })
})

everywhere('an answer of the wrong shape', async (t, open) => {
  const wrong = [null, {}, { action: 'yes' }, accept({}), accept({ name: '' }), accept({ name: 7 }), [], 'Ada']
  const client = await open({ tools: [greet()] })
  if (client.mode.rounds) {
    const { text, asked } = await client.call('greet', (_, nth) => wrong[nth - 1] === undefined ? named('Ada') : wrong[nth - 1])
    t.equal(text, 'Hello, Ada!', 'is asked for again')
    t.equal(asked.length, wrong.length + 1)
    t.equal(new Set(asked.map(({ key }) => key)).size, 1, 'under the same key')
    return
  }
  for (const answer of wrong) {
    const { text, isError, asked } = await client.call('greet', () => answer)
    t.equal(isError, true, `is an error: ${JSON.stringify(answer)}`)
    t.match(text, /not what was asked for/)
    t.equal(asked.length, 1)
  }
})

everywhere('what the handler makes of an answer that does not fit', async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'careful',
      handler: async (_, ctx) => {
        try {
          return (await ctx.elicit('Name?', Name)).action
        } catch (error) {
          return `${(error as Error).name} ${(error as { code?: number }).code}`
        }
      }
    })]
  })
  const { text } = await client.call('careful', (_, nth) => nth === 1 ? accept({ name: 7 }) : named('Ada'))
  t.equal(text, client.mode.rounds ? 'accept' : 'InputRejectedError undefined')
})

everywhere('what is missing is asked for again, what was given is not', async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'both',
      handler: async (_, ctx) => {
        const { a, b } = await ctx.input({ a: elicit('A?', Name), b: elicit('B?', Name) })
        return `${a.content?.name},${b.content?.name}`
      }
    })]
  })
  if (!client.mode.rounds) return
  let times = 0
  const { text, asked, rounds } = await client.call('both', ({ key }) => key === 'b' && ++times < 2 ? undefined : named(key as string))
  t.equal(text, 'a,b')
  t.strictSame(asked.map(({ key }) => key), ['a', 'b', 'b'])
  t.equal(rounds, 3)
  const { result: { requestState } } = await client.peer.call('both')
  for (const inputResponses of [{}, null, undefined]) {
    const { result } = await client.peer.request('tools/call', { name: 'both', requestState, ...(inputResponses !== undefined && { inputResponses }) })
    t.strictSame(Object.keys(result.inputRequests), ['a', 'b'], `with ${JSON.stringify(inputResponses)}`)
  }
})

everywhere('a question that changed between rounds is asked again', async (t, open) => {
  let price = 10
  const client = await open({
    tools: [defineTool({
      name: 'buy',
      handler: async (_, ctx) => {
        const { deal } = await ctx.input({ deal: elicit(`Pay ${price}?`, Type.Object({ ok: Type.Boolean() })) })
        return `paid ${price} ${deal.content?.ok}`
      }
    })]
  })
  const { text, asked } = await client.call('buy', (_, nth) => {
    if (nth === 1) price = 99
    return accept({ ok: nth > 1 })
  })
  t.equal(text, client.mode.rounds ? 'paid 99 true' : 'paid 99 false')
  t.strictSame(asked.map(({ params }) => params.message), client.mode.rounds ? ['Pay 10?', 'Pay 99?'] : ['Pay 10?'], 'no answer is taken for another question')
})

everywhere('the answer has the defaults of the form, and those of the arguments', async (t, open) => {
  const client = await open({
    tools: [defineTool({
      name: 'print',
      inputSchema: Type.Object({ pages: Type.Integer({ default: 3 }) }),
      handler: async ({ pages }, ctx) => {
        const { content } = await ctx.elicit('How?', Type.Object({ copies: Type.Integer({ default: 1 }), colour: Type.Boolean({ default: false }) }))
        return JSON.stringify({ pages, ...content })
      }
    })]
  })
  for (const args of [{}, { pages: 3 }, undefined]) {
    const { text } = await client.call('print', () => accept({ colour: true }), { args })
    t.strictSame(JSON.parse(text), { pages: 3, copies: 1, colour: true }, JSON.stringify(args))
  }
})

everywhere('without any capability, a handler that asks nothing is not affected', async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'plain', handler: (_, ctx) => JSON.stringify([ctx.answers, ctx.state]) })], capabilities: {} })
  t.equal((await client.call('plain')).text, '[{},null]')
})
