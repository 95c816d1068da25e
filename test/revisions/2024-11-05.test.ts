import t from 'tap'
import { revision20241105 as revision } from '../../lib/revisions/2024-11-05.js'
import { argument, blocks, but, call, contents, cutDown, identity, introduction, list, only, others, prompt, resource, template, tool } from '../support/results.js'

const written = (method: string, result: Record<string, unknown>) => JSON.parse(revision.encode(method, result, identity))
const plain = (from: Record<string, unknown>) => cutDown(but(from, '_meta'), 'annotations', 'audience', 'priority')
const content = [
  plain(blocks.text),
  plain(blocks.image),
  { type: 'text', text: '(audio/wav, which this revision of the protocol cannot carry)' },
  plain(blocks.resource),
  { type: 'text', text: 'A: mem://a' }
]

t.test('it is a handshake revision without batches, mirrored headers or statuses of its own', async t => {
  t.match(revision, { version: '2024-11-05', stateless: false, batches: false, mirrors: false, unknownMethod: 200, statuses: {}, badArguments: 'error', resourceNotFound: -32002 })
})

t.test('it has the requests and notifications of a client in its schema', async t => {
  t.strictSame([...revision.requests].sort(), [
    'completion/complete', 'initialize', 'logging/setLevel', 'ping', 'prompts/get', 'prompts/list', 'resources/list', 'resources/read',
    'resources/subscribe', 'resources/templates/list', 'resources/unsubscribe', 'tools/call', 'tools/list'
  ])
  t.strictSame([...revision.notifications].sort(), ['notifications/cancelled', 'notifications/initialized', 'notifications/progress', 'notifications/roots/list_changed'])
})

t.test('a tool has a name, a description and a schema for its arguments', async t => {
  t.strictSame(written('tools/list', list), { tools: [only(tool, 'name', 'description', 'inputSchema')], nextCursor: 'c' })
})

t.test('a call answers with text, images and resources; the rest is put into words', async t => {
  t.strictSame(written('tools/call', call), { content, isError: false, _meta: call._meta })
})

t.test('resources and prompts have no titles, icons or _meta', async t => {
  const expected: Record<string, unknown> = {
    'resources/list': { resources: [but(plain(resource), 'title', 'icons')], nextCursor: 'c' },
    'resources/templates/list': { resourceTemplates: [but(plain(template), 'title', 'icons')] },
    'resources/read': { contents: contents.map(one => but(one, '_meta')) },
    'prompts/list': { prompts: [{ name: 'review', description: 'd', arguments: [but(argument, 'title')] }] },
    'prompts/get': { description: 'd', messages: content.map(content => ({ role: 'user', content })) }
  }
  for (const [method, result] of Object.entries(others)) t.strictSame(written(method, result), expected[method], method)
  t.strictSame(written('prompts/list', { prompts: [only(prompt, 'name')] }), { prompts: [{ name: 'review' }] })
})

t.test('a server introduces itself with name and version', async t => {
  t.strictSame(written('initialize', introduction), {
    ...introduction,
    capabilities: { experimental: {}, logging: {}, prompts: {}, resources: {}, tools: { listChanged: true } },
    serverInfo: { name: 'unit', version: '1' }
  })
})
