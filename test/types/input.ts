// Asking the client.
import { Type } from '@sinclair/typebox'
import { defineTool, elicit, elicitUrl, inputRequired, InputRejectedError, InputRequired, InputUnsupportedError, NoStreamError, roots, sample } from 'fastify-mcp-plugin'
import type { Answers, ElicitAnswer, ElicitUrlAnswer, InputRequiredResult, McpOptions, Question, Root, SampleAnswer, SampleParams } from 'fastify-mcp-plugin'
import { expect, is } from './equal.js'
import type { Equal } from './equal.js'

const form = Type.Object({
  login: Type.String(),
  age: Type.Optional(Type.Integer()),
  role: Type.Union([Type.Literal('user'), Type.Literal('admin')]),
  tags: Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')]))
})
type Form = { age?: number, login: string, role: 'user' | 'admin', tags: ('a' | 'b')[] }

// What a question is answered with.
is<Question<ElicitAnswer<Form>>>()(elicit('Who?', form))
// @ts-expect-error a form is flat
elicit('Who?', Type.Object({ who: Type.Object({ name: Type.String() }) }))
// @ts-expect-error a form has fields
elicit('Who?', Type.String())
elicit('Who?', Type.Object({ all: Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')])), age: Type.Optional(Type.Integer()), sure: Type.Boolean() }))
is<Question<ElicitAnswer<Record<string, unknown>>>>()(elicit('Who?', { type: 'object', properties: { a: { type: 'string' } } }))
is<Question<ElicitUrlAnswer>>()(elicitUrl('Pay', 'https://a.example'))
is<Question<SampleAnswer>>()(sample('Hi'))
is<Question<Root[]>>()(roots())
expect<Equal<Answers<{ a: Question<1>, b: Question<'x'> }>, { a: 1, b: 'x' }>>()

defineTool({
  name: 'ask',
  async handler (args, ctx) {
    const answers = await ctx.input({ who: elicit('Who?', form), page: elicitUrl('Pay', 'https://a.example'), said: sample('Hi'), where: roots() })
    if (answers.who.action === 'accept') {
      is<string>()(answers.who.content.login)
      is<number | undefined>()(answers.who.content.age)
      is<'user' | 'admin'>()(answers.who.content.role)
      is<('a' | 'b')[]>()(answers.who.content.tags)
      // @ts-expect-error no such member
      String(answers.who.content.nope)
    } else {
      is<'decline' | 'cancel'>()(answers.who.action)
      is<undefined>()(answers.who.content)
    }
    is<'accept' | 'decline' | 'cancel'>()(answers.page.action)
    // @ts-expect-error a page gives nothing back
    String(answers.page.content)
    is<SampleAnswer>()(answers.said)
    is<Root[]>()(answers.where)
    // @ts-expect-error no such question
    String(answers.what)

    const who = await ctx.elicit('Who?', form, { singleUse: true })
    // @ts-expect-error only where the user agreed
    who.content.login.trim()
    is<string | undefined>()(who.content?.login)
    is<Record<string, unknown> | undefined>()((await ctx.elicit('Who?', { type: 'object', properties: {} })).content)
    is<ElicitUrlAnswer>()(await ctx.elicitUrl('Pay', 'https://a.example'))
    is<string>()((await ctx.sample('Hi', { singleUse: false })).model)
    is<string | undefined>()((await ctx.roots())[0]?.name)
    // @ts-expect-error a question, not a schema
    await ctx.input({ who: form })
    // @ts-expect-error a schema, not a question
    await ctx.elicit('Who?', elicit('Who?', form))
    // @ts-expect-error no such option
    await ctx.roots({ once: true })
    // @ts-expect-error a message comes first
    await ctx.elicit(form)
    return 'ok'
  }
})

// once: whatever the function gives.
defineTool({
  name: 'once',
  async handler (args, ctx) {
    is<number>()(await ctx.once('paid', async () => 1))
    is<string>()(await ctx.once('at', () => new Date().toISOString()))
    is<{ id: string }>()(await ctx.once('made', async () => ({ id: 'x' })))
    is<void>()(await ctx.once('sent', async () => {}))
    // @ts-expect-error a key comes first
    await ctx.once(async () => 1)
    // @ts-expect-error a function, not its value
    await ctx.once('now', 1)
    return 'ok'
  }
})

// Models.
const params: SampleParams = {
  messages: [
    { role: 'user', content: { type: 'text', text: 'Hi' } },
    { role: 'assistant', content: [{ type: 'text', text: 'Ho' }, { type: 'image', data: 'aa==', mimeType: 'image/png' }] },
    { role: 'user', content: { type: 'tool_result', toolUseId: '1', content: [] } }
  ],
  maxTokens: 5,
  tools: [{ name: 'x', inputSchema: { type: 'object' } }],
  toolChoice: { mode: 'auto' },
  systemPrompt: undefined
}
sample(params)
// @ts-expect-error the most tokens of the answer must be said
sample({ messages: [] })
// @ts-expect-error no such role
sample({ messages: [{ role: 'system', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 })
// @ts-expect-error no such context
sample({ messages: [], maxTokens: 5, includeContext: 'all' })
// @ts-expect-error a URL is a string
elicitUrl('Pay', new URL('https://a.example'))

// The explicit form, in both overloads.
is<InputRequiredResult>()(inputRequired({ questions: { who: elicit('Who?', form), where: roots() }, state: { step: 1 } }))
defineTool({
  name: 'explicit',
  handler (args, ctx) {
    is<unknown>()(ctx.state)
    is<unknown>()(ctx.answers.who)
    return 'who' in ctx.answers ? 'done' : inputRequired({ questions: { who: elicit('Who?', form) } })
  }
})
defineTool({
  name: 'explicit-output',
  outputSchema: Type.Object({ ok: Type.Boolean() }),
  async handler (args, ctx) {
    return 'who' in ctx.answers ? { ok: true } : inputRequired({ questions: { who: elicit('Who?', form) }, state: 1 })
  }
})
// @ts-expect-error made by inputRequired alone
defineTool({ name: 'unbranded', handler: () => ({ questions: { who: roots() } }) })
// @ts-expect-error questions, not schemas
inputRequired({ questions: { who: form } })
// @ts-expect-error there must be questions, if none
inputRequired({ state: 1 })

// Errors tell what went wrong.
function told (error: unknown): string {
  if (error instanceof InputUnsupportedError) return error.capability
  if (error instanceof InputRejectedError) return String(error.code?.toFixed())
  if (error instanceof NoStreamError || error instanceof InputRequired) return error.message
  throw error
}
told(new Error('x'))

// Options.
const keyed: McpOptions = { requestState: { keys: ['a'.repeat(44), new Uint8Array(32)], ttl: 1000 } }
// @ts-expect-error a key is bytes or text
const numbered: McpOptions = { requestState: { keys: [7] } }
export { keyed, numbered }
