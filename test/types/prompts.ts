// Prompts, their arguments and their messages.
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { assistant, definePrompt, image, inputRequired, resourceLink, user } from 'fastify-mcp-plugin'
import type { Context, McpOptions, Prompt, PromptArgs, PromptMessage, PromptReturn } from 'fastify-mcp-plugin'
import { expect, is } from './equal.js'
import type { Equal } from './equal.js'

const argsSchema = Type.Object({
  who: Type.String({ title: 'Who', description: 'Who is greeted' }),
  tone: Type.Optional(Type.Union([Type.Literal('formal'), Type.Literal('funny')]))
})

const full = definePrompt({
  name: 'full',
  title: 'Full',
  description: 'Has everything.',
  icons: [{ src: 'https://a.example/i.png' }],
  _meta: { 'a.example/b': 1 },
  argsSchema,
  complete: { who: ['you'], tone: async (value, { arguments: args, ctx }) => { is<string>()(value); is<{ readonly [name: string]: string }>()(args); is<Context>()(ctx); return ['formal'] } },
  handler ({ who, tone }, ctx) {
    is<FastifyInstance>()(this)
    is<string>()(who)
    is<'formal' | 'funny' | undefined>()(tone)
    is<Context>()(ctx)
    return [user(who), assistant('Yes?')]
  }
})
is<Prompt>()(full)
is<Prompt>()(definePrompt({ name: 'bare', handler: args => { is<Record<string, string>>()(args); return 'ok' } }))
definePrompt({ name: 'plain', argsSchema: { type: 'object', properties: { a: { type: 'string' } } }, complete: { a: ['b'] }, handler: args => { is<Record<string, string>>()(args); return args.a ?? '' } })
expect<Equal<PromptArgs<typeof argsSchema>, { who: string, tone?: 'formal' | 'funny' }>>()

is<PromptMessage>()(user('text'))
is<PromptMessage>()(user(image('aGk=', 'image/png')))
is<PromptMessage>()(assistant(resourceLink({ uri: 'a:b', name: 'a' })))
const returns: PromptReturn[] = [
  'text', user('a'), [user('a'), assistant('b')], { messages: [user('a')], description: 'd', _meta: {} },
  { role: 'user', content: { type: 'text', text: 'a' } }, inputRequired({ questions: {} })
]
// @ts-expect-error no such role
const role: PromptReturn = { role: 'system', content: { type: 'text', text: 'a' } }
// @ts-expect-error content is a block
const content: PromptReturn = { role: 'user', content: 'a' }
// @ts-expect-error strings are no messages
const strings: PromptReturn = ['a']

// @ts-expect-error arguments are strings
definePrompt({ name: 'x', argsSchema: Type.Object({ count: Type.Number() }), handler: () => 'ok' })
// @ts-expect-error arguments are named
definePrompt({ name: 'x', argsSchema: Type.String(), handler: () => 'ok' })
definePrompt({ name: 'x', argsSchema: Type.Object({}), handler: () => 'ok' })
// @ts-expect-error no such argument
definePrompt({ name: 'x', argsSchema, handler: ({ nope }) => String(nope) })
// @ts-expect-error it may be missing
definePrompt({ name: 'x', argsSchema, handler: ({ tone }) => tone.length })
// @ts-expect-error no such argument to complete
definePrompt({ name: 'x', argsSchema, complete: { nope: [] }, handler: () => 'ok' })
// @ts-expect-error a handler is needed
definePrompt({ name: 'x' })
// @ts-expect-error a name is needed
definePrompt({ handler: () => 'ok' })
// @ts-expect-error it must return something
definePrompt({ name: 'x', handler: () => {} })
// @ts-expect-error no such member
definePrompt({ name: 'x', arguments: [], handler: () => 'ok' })
// @ts-expect-error only definePrompt makes a prompt
const made: Prompt = { name: 'x', handler: () => 'ok' }

const prompts: Prompt[] = [full]
const options: McpOptions = { prompts }
const app = Fastify()
is<void>()(app.mcp.prompts.add(full))
app.mcp.prompts.add({ name: 'x', argsSchema, handler: ({ who }) => { is<string>()(who); return who } })
// @ts-expect-error no such argument
app.mcp.prompts.add({ name: 'x', argsSchema, handler: ({ nope }) => String(nope) })
is<boolean>()(app.mcp.prompts.remove('a'))
is<boolean>()(app.mcp.prompts.enable('a'))
is<boolean>()(app.mcp.prompts.disable('a'))
is<boolean>()(app.mcp.prompts.has('a'))
expect<Equal<keyof FastifyInstance['mcp']['prompts'], 'add' | 'remove' | 'enable' | 'disable' | 'has'>>()

export { content, made, options, returns, role, strings }
