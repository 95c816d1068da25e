import t from 'tap'
import { revision20250618 as revision } from '../../lib/revisions/2025-06-18.js'
import { blocks, but, call, identity, introduction, list, only, others, prompt, resource, template, tool } from '../support/results.js'

const written = (method: string, result: Record<string, unknown>) => JSON.parse(revision.encode(method, result, identity))

t.test('it has no batches any more', async t => {
  t.match(revision, { version: '2025-06-18', stateless: false, batches: false, mirrors: false, unknownMethod: 200, badArguments: 'error' })
})

t.test('a tool has a title, a schema of its results and _meta', async t => {
  t.strictSame(written('tools/list', list), { tools: [but(tool, 'icons')], nextCursor: 'c' })
  t.strictSame(written('tools/list', { tools: [{ ...tool, annotations: undefined }] }).tools[0].annotations, undefined, 'the title stands nowhere else')
})

t.test('a schema of results, and structured content, must be an object', async t => {
  for (const outputSchema of [{ type: 'array' }, { type: 'string' }, {}, { anyOf: [{ type: 'object' }] }]) {
    t.equal(written('tools/list', { tools: [{ ...tool, outputSchema }] }).tools[0].outputSchema, undefined, JSON.stringify(outputSchema))
  }
  for (const structuredContent of [[1], 'x', 5, null, true]) t.notOk('structuredContent' in written('tools/call', { ...call, structuredContent }), JSON.stringify(structuredContent))
})

t.test('a call answers with structured content and links', async t => {
  t.strictSame(written('tools/call', call), { ...call, content: [...Object.values(but(blocks, 'link')), but(blocks.link, 'icons')] })
})

t.test('resources and prompts have everything but icons', async t => {
  const expected: Record<string, unknown> = {
    'resources/list': { resources: [but(resource, 'icons')], nextCursor: 'c' },
    'resources/templates/list': { resourceTemplates: [but(template, 'icons')] },
    'resources/read': but(others['resources/read'] ?? {}, 'ttlMs', 'cacheScope'),
    'prompts/list': { prompts: [but(prompt, 'icons')] },
    'prompts/get': { description: 'd', messages: Object.values(blocks).map(block => ({ role: 'user', content: but(block, 'icons') })) }
  }
  for (const [method, result] of Object.entries(others)) t.strictSame(written(method, result), expected[method], method)
})

t.test('a server introduces itself with a title', async t => {
  t.strictSame(written('initialize', introduction), {
    ...introduction,
    capabilities: but(introduction.capabilities, 'extensions'),
    serverInfo: only(introduction.serverInfo, 'name', 'version', 'title')
  })
})
