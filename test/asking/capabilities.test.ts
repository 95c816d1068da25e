// A client is never asked for what it has not declared, nor for what its revision has no words for.
import { Type } from '@sinclair/typebox'
import { allModes, defineTool, elicit, elicitUrl, named, Name, requestModes, roundModes, roots, said, sample } from './client.js'
import { each } from './each.js'
import mcpPlugin from '../../lib/index.js'

const { InputUnsupportedError } = mcpPlugin
const page = 'https://a.example/pay'
const toolUse = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }], maxTokens: 5, tools: [{ name: 'x', inputSchema: { type: 'object' } }] }

const tools = () => [
  defineTool({ name: 'form', handler: async (_, ctx) => (await ctx.elicit('Name?', Name)).action }),
  defineTool({ name: 'url', handler: async (_, ctx) => (await ctx.elicitUrl('Pay', page)).action }),
  defineTool({ name: 'sampling', handler: async (_, ctx) => (await ctx.sample('Hi')).model }),
  defineTool({ name: 'sampling.tools', handler: async (_, ctx) => (await ctx.sample(toolUse)).model }),
  defineTool({ name: 'roots', handler: async (_, ctx) => `${(await ctx.roots()).length}` })
]
const needs: Record<string, object> = {
  form: { elicitation: { form: {} } }, url: { elicitation: { url: {} } }, sampling: { sampling: {} }, 'sampling.tools': { sampling: { tools: {} } }, roots: { roots: {} }
}
const answers = (name: string) => name.startsWith('sampling') ? said('Ho') : name === 'roots' ? { roots: [] } : named('Ada')

/** What a client declares, and what it can then be asked. */
const declared: Array<[Record<string, unknown>, string[]]> = [
  [{}, []],
  [{ elicitation: {} }, ['form']],
  [{ elicitation: { form: {} } }, ['form']],
  [{ elicitation: { url: {} } }, ['url']],
  [{ elicitation: { form: {}, url: {} } }, ['form', 'url']],
  [{ sampling: {} }, ['sampling']],
  [{ sampling: { tools: {} } }, ['sampling', 'sampling.tools']],
  [{ roots: { listChanged: true } }, ['roots']]
]

for (const [capabilities, offered] of declared) {
  const title = `declared is ${JSON.stringify(capabilities)}`

  each(title, roundModes, async (t, open, { over }) => {
    const client = await open({ tools: tools(), capabilities })
    for (const [name, requiredCapabilities] of Object.entries(needs)) {
      const { reply, asked, text } = await client.call(name, () => answers(name))
      if (offered.includes(name)) {
        t.equal(asked.length, 1, `${name} is asked`)
        t.ok(['accept', 'm', '0'].includes(text), `${name}: ${text}`)
        continue
      }
      t.match(reply.error, { code: -32021, message: String, data: { requiredCapabilities } }, `${name} is -32021`)
      t.equal(reply.result, undefined)
      t.strictSame(asked, [])
      if (over === 'http') t.equal(reply.answer?.status, 400, 'HTTP 400')
    }
  })

  each(title, requestModes.filter(({ revision }) => revision === '2025-11-25'), async (t, open) => {
    const client = await open({ tools: tools(), capabilities })
    for (const name of Object.keys(needs)) {
      const { reply, asked, text, isError, notes } = await client.call(name, () => answers(name))
      if (offered.includes(name)) {
        t.equal(asked.length, 1, `${name} is asked`)
        t.ok(['accept', 'm', '0'].includes(text), `${name}: ${text}`)
        continue
      }
      t.equal(isError, true, `${name} is a result that the model reads`)
      t.match(text, name === 'form' || name === 'url' ? `elicitation.${name}` : name)
      t.equal(reply.error, undefined)
      t.strictSame([asked, notes], [[], []], 'and nothing was sent')
    }
  })
}

each('what the revision has no words for', allModes, async (t, open, { revision, over }) => {
  const client = await open({ tools: tools() })
  const can = { form: revision >= '2025-06-18', url: revision >= '2025-11-25', sampling: true, 'sampling.tools': revision >= '2025-11-25', roots: true }
  for (const [name, good] of Object.entries(can)) {
    const { asked, isError, text } = await client.call(name, () => answers(name))
    t.equal(isError, !good, `${name} in ${revision} over ${over}`)
    t.equal(asked.length, good ? 1 : 0)
    if (!good) t.match(text, new RegExp(`speaks ${revision}`))
  }
})

each('a choice of several in 2025-06-18', requestModes.filter(({ revision }) => revision === '2025-06-18'), async (t, open) => {
  const Tags = Type.Object({ tags: Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')])) })
  const client = await open({ tools: [defineTool({ name: 'tags', handler: async (_, ctx) => (await ctx.elicit('Tags?', Tags)).action })] })
  const { text, isError, asked } = await client.call('tags', () => named('x'))
  t.match([isError, asked.length, text], [true, 0, /choice of several.*"tags"/])
})

each('a page to open', allModes.filter(({ revision }) => revision >= '2025-11-25'), async (t, open, { revision }) => {
  const client = await open({ tools: tools() })
  for (const action of ['accept', 'decline', 'cancel']) {
    const { text, asked } = await client.call('url', () => ({ action }))
    t.equal(text, action)
    t.match(asked, [{ method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url: page } }])
    const { elicitationId } = asked[0]?.params
    if (revision === '2025-11-25') t.match(elicitationId, /./, 'with an id')
    else t.equal(elicitationId, undefined, 'without an id')
  }
})

each('the ids of pages are unique', requestModes.filter(({ revision }) => revision === '2025-11-25'), async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'pages', handler: async (_, ctx) => { await Promise.all([ctx.elicitUrl('A', page), ctx.elicitUrl('B', page)]); return 'done' } })] })
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push(...(await client.call('pages', () => ({ action: 'accept' }))).asked.map(({ params }) => params.elicitationId))
  t.equal(new Set(ids).size, 6, ids.join())
})

each('a handler that catches the error can do without', allModes, async (t, open) => {
  const errors: any[] = []
  const client = await open({
    capabilities: {},
    tools: [defineTool({
      name: 'maybe',
      handler: async (_, ctx) => {
        try {
          await ctx.sample('Hi')
        } catch (error) {
          if (!(error instanceof InputUnsupportedError)) throw error
          errors.push(error)
        }
        return 'without'
      }
    })]
  })
  const { text, asked, reply } = await client.call('maybe')
  t.equal(text, 'without')
  t.strictSame(asked, [])
  if (reply.answer !== undefined) t.equal(reply.answer.status, 200)
  t.match(errors, [{ name: 'InputUnsupportedError', capability: 'sampling' }])
})

each('and may ask something else instead', [...requestModes, ...roundModes], async (t, open) => {
  const client = await open({
    capabilities: { elicitation: {} },
    tools: [defineTool({
      name: 'either',
      handler: async (_, ctx) => {
        try {
          const { model } = await ctx.input({ first: elicit('First?', Name), model: sample('Hi') })
          return model.model
        } catch (error) {
          if (!(error instanceof InputUnsupportedError)) throw error
          return (await ctx.elicit('Name?', Name)).content?.name as string
        }
      }
    })]
  })
  const { text, asked } = await client.call('either', ({ params }) => params.message === 'Name?' ? named('Ada') : undefined)
  t.strictSame(asked.map(({ params }) => params.message), ['Name?'], 'of questions that go together, none is put where one cannot be')
  t.equal(text, 'Ada')
})

each('a missing capability after the stream has begun is its last message', roundModes, async (t, open, { over }) => {
  const client = await open({
    capabilities: {},
    tools: [defineTool({ name: 'late', handler: async (_, ctx) => { await ctx.progress(1); return (await ctx.roots()).join() } })]
  })
  const { reply } = await client.call('late', undefined, { meta: { progressToken: 1 } })
  t.match(reply.notes, [{ method: 'notifications/progress' }])
  t.match(reply.error, { code: -32021, data: { requiredCapabilities: { roots: {} } } })
  if (over === 'http') t.match([reply.answer?.status, reply.answer?.streams], [200, true])
})

each('a returned question is no different', [...requestModes, ...roundModes], async (t, open, { rounds }) => {
  const client = await open({
    capabilities: { sampling: {} },
    tools: [defineTool({ name: 'returns', handler: () => mcpPlugin.inputRequired({ questions: { a: elicitUrl('Pay', page), b: roots() } }) })]
  })
  const { reply, isError, asked } = await client.call('returns')
  t.strictSame(asked, [])
  if (rounds) t.match(reply.error, { code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } })
  else t.equal(isError, true)
})

each('-32021 names all that is missing', roundModes, async (t, open) => {
  const client = await open({
    capabilities: {},
    tools: [defineTool({ name: 'all', handler: async (_, ctx) => { await ctx.input({ a: elicit('A?', Name), b: sample('Hi') }); return 'done' } })]
  })
  const { reply } = await client.call('all')
  t.match(reply.error, { code: -32021, data: { requiredCapabilities: { elicitation: {}, sampling: {} } } })
})
