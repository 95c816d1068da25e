import t from 'tap'
import { cut } from '../../lib/revisions/cut.js'
import type { Words } from '../../lib/revisions/revision.js'
import { revisionOf } from '../support/doubles.js'

const words: Words = {
  ...revisionOf('2024-11-05').words,
  tool: ['name', 'annotations', 'outputSchema'],
  implementation: ['name'],
  capabilities: ['tools'],
  content: ['text', 'resource'],
  block: ['type', 'text', 'resource', 'annotations'],
  resource: ['uri', 'uriTemplate', 'name', 'annotations'],
  contents: ['uri', 'text'],
  prompt: ['name', 'arguments'],
  argument: ['name', 'required'],
  annotations: ['priority'],
  structured: 'object'
}
const oneBlock = (block: Record<string, unknown>, all = words) => (cut(all, 'tools/call', { content: [block] }).content as unknown[])[0]
const oneTool = (tool: Record<string, unknown>, all = words) => (cut(all, 'tools/list', { tools: [{ name: 'a', ...tool }] }).tools as any[])[0]

t.test('what a block has no word for is left out', async t => {
  t.strictSame(oneBlock({ type: 'text', text: 'a', icons: [] }), { type: 'text', text: 'a' })
})

t.test('a kind of content that is not there is put into words', async t => {
  const rows: [Record<string, unknown>, string][] = [
    [{ type: 'resource_link', uri: 'mem://a', name: 'a' }, 'a: mem://a'],
    [{ type: 'resource_link', uri: 'mem://a', name: 'a', title: 'A' }, 'A: mem://a'],
    [{ type: 'audio', data: 'eA==', mimeType: 'audio/wav' }, '(audio/wav, which this revision of the protocol cannot carry)'],
    [{ type: 'video' }, '(video, which this revision of the protocol cannot carry)']
  ]
  for (const [block, text] of rows) t.strictSame(oneBlock(block), { type: 'text', text }, text)
})

t.test('a result without content is left as it is', async t => {
  t.strictSame(cut(words, 'tools/call', { isError: true }), { isError: true })
})

t.test('structured content is shown as far as the revision can', async t => {
  const rows: [Words['structured'], unknown, boolean][] = [
    ['none', {}, false], ['none', [], false], ['object', {}, true], ['object', [], false], ['object', null, false], ['any', [], true], ['any', null, true]
  ]
  for (const [structured, structuredContent, shown] of rows) {
    const all = { ...words, structured }
    t.equal('structuredContent' in cut(all, 'tools/call', { structuredContent, content: [] }), shown, `${structured} ${JSON.stringify(structuredContent)}`)
  }
  t.strictSame(oneTool({ outputSchema: { type: 'array' } }, { ...words, structured: 'any' }).outputSchema, { type: 'array' })
})

t.test('a title stands among the annotations where a tool has no place for it but for those', async t => {
  t.strictSame(oneTool({ title: 'T' }), { name: 'a', annotations: { title: 'T' } })
  t.strictSame(oneTool({ title: 'T', annotations: { title: 'own', readOnlyHint: true } }).annotations, { title: 'own', readOnlyHint: true })
  t.strictSame(oneTool({ title: 'T' }, { ...words, tool: ['name', 'title', 'annotations'] }), { name: 'a', title: 'T' })
  t.strictSame(oneTool({ title: 'T' }, { ...words, tool: ['name'] }), { name: 'a' })
})

t.test('what every result of later revisions has is taken out of every result', async t => {
  const later = { resultType: 'complete', ttlMs: 1, cacheScope: 'public' }
  t.strictSame(cut(words, 'resources/read', { contents: [], ...later }), { contents: [] })
  t.strictSame(cut(words, 'completion/complete', { completion: {}, ...later }), { completion: {} })
  t.strictSame(cut(words, 'tools/list', { tools: [], ...later }), { tools: [] })
})

t.test('resources and templates are shown with the words there are, and so are their annotations', async t => {
  const resource = { uri: 'mem://a', name: 'a', title: 'A', icons: [], annotations: { priority: 1, lastModified: 'x' } }
  t.strictSame(cut(words, 'resources/list', { resources: [resource, { uri: 'mem://b', name: 'b' }], nextCursor: 'c' }), {
    resources: [{ uri: 'mem://a', name: 'a', annotations: { priority: 1 } }, { uri: 'mem://b', name: 'b' }], nextCursor: 'c'
  })
  t.strictSame(cut(words, 'resources/templates/list', { resourceTemplates: [{ uriTemplate: 'mem://{a}', name: 'a', _meta: {} }] }), {
    resourceTemplates: [{ uriTemplate: 'mem://{a}', name: 'a' }]
  })
})

t.test('what a resource holds is shown with the words there are, on its own and within a block', async t => {
  const held = { uri: 'mem://a', text: 'x', _meta: {} }
  t.strictSame(cut(words, 'resources/read', { contents: [held], _meta: {} }), { contents: [{ uri: 'mem://a', text: 'x' }], _meta: {} })
  t.strictSame(oneBlock({ type: 'resource', resource: held, annotations: { lastModified: 'x' } }), { type: 'resource', resource: { uri: 'mem://a', text: 'x' }, annotations: {} })
})

t.test('prompts are shown with the words there are, and so are their arguments', async t => {
  const prompt = { name: 'a', title: 'A', arguments: [{ name: 'x', title: 'X', required: true }] }
  t.strictSame(cut(words, 'prompts/list', { prompts: [prompt, { name: 'b' }] }), { prompts: [{ name: 'a', arguments: [{ name: 'x', required: true }] }, { name: 'b' }] })
})

t.test('messages of a prompt are cut like other content', async t => {
  const messages = [{ role: 'user', content: { type: 'audio', data: 'eA==', mimeType: 'audio/wav' } }, { role: 'assistant', content: { type: 'text', text: 'a', _meta: {} } }]
  t.strictSame(cut(words, 'prompts/get', { description: 'd', messages }), {
    description: 'd',
    messages: [
      { role: 'user', content: { type: 'text', text: '(audio/wav, which this revision of the protocol cannot carry)' } },
      { role: 'assistant', content: { type: 'text', text: 'a' } }
    ]
  })
})

t.test('an introduction keeps the words it has', async t => {
  const result = { protocolVersion: 'x', capabilities: { tools: {}, tasks: {} }, serverInfo: { name: 'a', title: 'A' }, instructions: undefined }
  t.match(cut(words, 'initialize', result), { protocolVersion: 'x', capabilities: { tools: {}, tasks: undefined }, serverInfo: { name: 'a', title: undefined } })
})

t.test('the result itself is not changed: other revisions are made from it too', async t => {
  const frozen = Object.freeze({ content: Object.freeze([Object.freeze({ type: 'audio', data: '' })]), structuredContent: Object.freeze([]) })
  t.doesNotThrow(() => cut(words, 'tools/call', frozen as never))
  const tool = Object.freeze({ name: 'a', title: 'T', annotations: Object.freeze({}) })
  t.doesNotThrow(() => cut(words, 'tools/list', { tools: [tool] }))
})
