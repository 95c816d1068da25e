// A server of its own process: for what would end or freeze it, and for clients that start it. HTTP, or stdio where STDIO is 1.
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import mcpPlugin, { defineTool, elicit, inputRequired } from 'fastify-mcp-plugin'

const Name = Type.Object({ name: Type.String() })
const valid = (name) => /^\d+$/.test(name ?? '')

const tools = [
  defineTool({ name: 'roots', handler: async (_, ctx) => `${(await ctx.roots()).length}` }),
  defineTool({
    name: 'by_elicit',
    handler: async (_, ctx) => {
      for (;;) {
        const { content } = await ctx.elicit('A number?', Name)
        if (valid(content?.name)) return content.name
      }
    }
  }),
  defineTool({
    name: 'by_input',
    handler: async (_, ctx) => {
      for (;;) {
        const { number } = await ctx.input({ number: elicit('A number?', Name) })
        if (valid(number.content?.name)) return number.content.name
      }
    }
  }),
  defineTool({
    name: 'catching',
    handler: async (_, ctx) => {
      for (;;) {
        try {
          const { content } = await ctx.elicit('A number?', Name)
          if (valid(content?.name)) return content.name
        } catch {}
      }
    }
  }),
  defineTool({
    name: 'careless',
    handler (_, ctx) {
      ctx.elicit('A number?', Name)
      ctx.input({ a: elicit('A?', Name), b: elicit('B?', Name) })
      ctx.sample('Hi')
      ctx.roots()
      ctx.elicitUrl('Pay', 'https://a.example')
      ctx.elicit('No form', Type.Object({ a: Type.Object({}) }))
      ctx.elicitUrl('No page', 'nope')
      ctx.once('x', () => { throw new Error('no') })
      return 'done'
    }
  }),
  defineTool({ name: 'page', handler: async (_, ctx) => (await ctx.elicitUrl('Pay', 'https://a.example/pay')).action }),
  defineTool({
    name: 'returned',
    handler (_, { answers, state }) {
      if (answers.number === undefined) return inputRequired({ questions: { number: elicit('A number?', Name) }, state: { step: 1 } })
      return `${answers.number.content.name}, step ${state.step}`
    }
  }),
  defineTool({ name: 'alive', handler: () => 'alive' })
]

const app = Fastify()
await app.register(mcpPlugin, { tools })
if (process.env.STDIO === '1') {
  await app.mcp.stdio()
} else {
  process.once('SIGTERM', () => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  console.log(JSON.stringify({ url: `http://127.0.0.1:${app.server.address().port}/mcp` }))
}
