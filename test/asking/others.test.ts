// Prompts and resources may ask as tools do (2026-07-28 basic/patterns/mrtr, Supported Requests); nothing else may.
import { Type } from '@sinclair/typebox'
import mcpPlugin from '../../lib/index.js'
import { build } from '../support/app.js'
import { elicit, inputRequired, join, named, Name } from './client.js'
import { everywhere } from './each.js'

const { definePrompt, defineResource } = mcpPlugin
const login = elicit('Login?', Name)

const prompts = () => [
  definePrompt({ name: 'greet', handler: async (args, ctx) => `Hello, ${(await ctx.elicit('Name?', Name)).content?.name} ${args.tone}` }),
  definePrompt({ name: 'explicit', handler: (_, ctx) => 'login' in ctx.answers ? `Hello, ${ctx.state}` : inputRequired({ questions: { login }, state: 'you' }) })
]

const resources = (listed: () => void) => [
  defineResource({ uri: 'mem://a', name: 'a', read: async (_, ctx) => `A of ${(await ctx.elicit('Name?', Name)).content?.name}` }),
  defineResource({ uri: 'mem://explicit', name: 'explicit', read: (_, ctx) => 'login' in ctx.answers ? `A of ${ctx.state}` : inputRequired({ questions: { login }, state: 'you' }) }),
  defineResource({
    uriTemplate: 'mem://item/{id}',
    name: 'item',
    read: async ({ id }, ctx) => `${id} of ${(await ctx.elicit('Name?', Name)).content?.name}`,
    list: async (ctx) => {
      listed()
      await ctx.elicit('Which?', Name)
      return [{ name: 'one', variables: { id: '1' } }]
    }
  })
]

everywhere('prompts and resources ask as tools do', async (t, _, mode) => {
  const server = await build(t, { bare: true, listen: mode.over !== 'stdio', options: { prompts: prompts(), resources: resources(() => {}) } })
  const client = await join(t, mode, server)
  const get = async (name: string, args: object) => (await client.request('prompts/get', { name, arguments: args }, () => named('Ada'))).reply.result.messages[0].content.text
  t.equal(await get('greet', { tone: 'x' }), 'Hello, Ada x')
  t.equal(await get('explicit', {}), 'Hello, you')
  const read = async (uri: string) => (await client.request('resources/read', { uri }, () => named('Ada'))).reply.result.contents[0].text
  t.equal(await read('mem://a'), 'A of Ada')
  t.equal(await read('mem://item/7'), '7 of Ada')
  t.equal(await read('mem://explicit'), 'A of you')
  if (!mode.rounds) return
  const { result: { requestState, inputRequests } } = await client.peer.request('resources/read', { uri: 'mem://item/7' })
  const inputResponses = { [Object.keys(inputRequests)[0] as string]: named('Ada') }
  t.match((await client.peer.request('resources/read', { uri: 'mem://item/8', requestState, inputResponses })).error, { code: -32602 }, 'a state belongs to its resource')
  const begun = await client.peer.request('prompts/get', { name: 'greet', arguments: { tone: 'x' } })
  t.match((await client.peer.request('prompts/get', { name: 'greet', arguments: { tone: 'y' }, requestState: begun.result.requestState, inputResponses })).error, { code: -32602 }, 'and to its arguments')
})

everywhere('what a client cannot be asked is an error of the protocol there', async (t, _, mode) => {
  const server = await build(t, { bare: true, listen: mode.over !== 'stdio', options: { prompts: prompts(), resources: resources(() => {}) } })
  const client = await join(t, mode, server, { capabilities: {} })
  for (const [method, params] of [['prompts/get', { name: 'greet' }], ['resources/read', { uri: 'mem://a' }]] as const) {
    const { error } = (await client.request(method, params, () => named('Ada'))).reply
    if (mode.rounds) t.match(error, { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } })
    else t.match(error, { code: -32603, message: /elicitation/ })
  }
})

everywhere('completion cannot ask either', async (t, _, mode) => {
  const asking = definePrompt({
    name: 'ask',
    argsSchema: Type.Object({ tone: Type.String() }),
    complete: { tone: async (_, { ctx }) => [(await ctx.elicit('Which?', Name)).action] },
    handler: () => 'x'
  })
  const server = await build(t, { bare: true, listen: mode.over !== 'stdio', options: { prompts: [asking] } })
  const client = await join(t, mode, server)
  const { reply } = await client.request('completion/complete', { ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'tone', value: '' } }, () => mode.rounds ? undefined : named('Ada'))
  if (mode.rounds) t.match(reply, { result: undefined, error: { code: -32603 } })
  else t.ok(reply.error !== undefined || reply.result.completion !== undefined)
})

everywhere('a list cannot ask: no revision from 2026-07-28 on has a place for that', async (t, _, mode) => {
  let listed = 0
  const server = await build(t, { bare: true, listen: mode.over !== 'stdio', options: { resources: resources(() => { listed++ }) } })
  const client = await join(t, mode, server)
  const { reply } = await client.request('resources/list', {}, () => mode.rounds ? undefined : named('Ada'))
  t.equal(listed, 1)
  if (mode.rounds) t.match(reply, { result: undefined, error: { code: -32603 } })
  else t.ok(reply.error !== undefined || reply.result.resources.length > 0)
})
