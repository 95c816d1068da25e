import t from 'tap'
import { revision20241105 } from '../../lib/revisions/2024-11-05.js'
import { revision20250326 as revision } from '../../lib/revisions/2025-03-26.js'
import { blocks, but, call, cutDown, identity, introduction, list, only, others, tool } from '../support/results.js'

const written = (method: string, result: Record<string, unknown>) => JSON.parse(revision.encode(method, result, identity))

t.test('it brings batches, and keeps the methods of the revision before', async t => {
  t.match(revision, { version: '2025-03-26', stateless: false, batches: true, mirrors: false, unknownMethod: 200, badArguments: 'error' })
  t.strictSame([...revision.requests], [...revision20241105.requests])
})

t.test('a tool has annotations, where its title stands too', async t => {
  const annotations = { title: 'Echo', readOnlyHint: true }
  t.strictSame(written('tools/list', list), { tools: [{ ...only(tool, 'name', 'description', 'inputSchema'), annotations }], nextCursor: 'c' })
  const titled = { ...tool, annotations: { title: 'Own' } }
  t.equal(written('tools/list', { tools: [titled] }).tools[0].annotations.title, 'Own')
})

t.test('a call answers with audio too', async t => {
  const { text, image, audio, resource } = blocks
  t.strictSame(written('tools/call', call), {
    content: [...[text, image, audio, resource].map(block => cutDown(but(block, '_meta'), 'annotations', 'audience', 'priority')), { type: 'text', text: 'A: mem://a' }],
    isError: false,
    _meta: call._meta
  })
})

t.test('resources and prompts are what they were before, but for audio', async t => {
  for (const [method, result] of Object.entries(others)) {
    if (method !== 'prompts/get') t.strictSame(written(method, result), JSON.parse(revision20241105.encode(method, result, identity)), method)
  }
  t.equal(written('prompts/get', others['prompts/get'] ?? {}).messages[2].content.type, 'audio')
})

t.test('a server can announce completions', async t => {
  t.strictSame(written('initialize', introduction), {
    ...introduction,
    capabilities: but(introduction.capabilities, 'extensions'),
    serverInfo: { name: 'unit', version: '1' }
  })
})
