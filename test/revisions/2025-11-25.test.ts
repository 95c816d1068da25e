import t from 'tap'
import { revision20251125 as revision } from '../../lib/revisions/2025-11-25.js'
import { but, call, identity, introduction, list, others, tool } from '../support/results.js'

const written = (method: string, result: Record<string, unknown>) => JSON.parse(revision.encode(method, result, identity))

t.test('bad arguments are a result of the call', async t => {
  t.match(revision, { version: '2025-11-25', stateless: false, batches: false, mirrors: false, unknownMethod: 200, badArguments: 'result' })
})

t.test('a tool has icons', async t => {
  t.strictSame(written('tools/list', list), { tools: [tool], nextCursor: 'c' })
})

t.test('a schema of results that is no object is not shown', async t => {
  t.equal(written('tools/list', { tools: [{ ...tool, outputSchema: { type: 'array' } }] }).tools[0].outputSchema, undefined)
})

t.test('a call answers with every kind of content', async t => {
  t.strictSame(written('tools/call', call), call)
  t.strictSame(written('tools/call', but(call, 'structuredContent')), but(call, 'structuredContent'))
})

t.test('structured content that is no object is left out, and its text stays', async t => {
  for (const structuredContent of [[1], 'x', 5, null, false]) {
    t.strictSame(written('tools/call', { ...call, structuredContent }), but(call, 'structuredContent'), JSON.stringify(structuredContent))
  }
})

t.test('resources and prompts have everything', async t => {
  for (const [method, result] of Object.entries(others)) t.strictSame(written(method, result), but(result, 'ttlMs', 'cacheScope'), method)
})

t.test('a server introduces itself in full', async t => {
  t.strictSame(written('initialize', introduction), { ...introduction, capabilities: but(introduction.capabilities, 'extensions') })
})
