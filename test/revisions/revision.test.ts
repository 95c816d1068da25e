import t from 'tap'
import { more, plus, without } from '../../lib/revisions/revision.js'
import type { Words } from '../../lib/revisions/revision.js'
import { revisionOf } from '../support/doubles.js'

const before = new Set(['a', 'b'])
const words: Words = {
  ...revisionOf('2024-11-05').words,
  tool: ['name'],
  implementation: ['name'],
  capabilities: ['tools'],
  content: ['text'],
  block: ['type'],
  resource: ['uri'],
  contents: ['uri'],
  prompt: ['name'],
  argument: ['name'],
  annotations: [],
  structured: 'none'
}

t.test('names are added and taken away, and the revision before keeps its own', async t => {
  t.strictSame([...plus(before, 'c', 'a')], ['a', 'b', 'c'])
  t.strictSame([...without(before, 'b', 'x')], ['a'])
  t.strictSame([...before], ['a', 'b'])
})

t.test('words are added noun by noun, and the revision before keeps its own', async t => {
  t.strictSame(more(words, { tool: ['title'], block: ['text'] }), { ...words, tool: ['name', 'title'], block: ['type', 'text'] })
  t.strictSame(more(words, { structured: 'object' }), { ...words, structured: 'object' })
  t.strictSame(more(words, {}), words)
  t.strictSame(words.tool, ['name'])
})
