import fc from 'fast-check'
import t from 'tap'
import { jsonOf } from '../../lib/revisions/json.js'

const said = (text: unknown) => ({ content: [{ type: 'text', text }] })

t.test('one block of text is written as JSON.stringify writes it, whatever the text', async t => {
  const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.nat(0xffff).map(code => String.fromCharCode(code)) }), fc.constantFrom('', '"', '\\', '\u0000', '\u007f', '\u2028', '\ud800', '\udc00x', '😀'))
  fc.assert(fc.property(texts, text => jsonOf(said(text)) === JSON.stringify(said(text))), { numRuns: 2_000 })
  t.equal(jsonOf(said('Hello, Ada!')), '{"content":[{"type":"text","text":"Hello, Ada!"}]}')
})

t.test('every other result is written as JSON.stringify writes it', async t => {
  const block = { type: 'text', text: 'x' }
  const results: [string, Record<string, unknown>][] = [
    ['nothing', {}],
    ['no block', { content: [] }],
    ['two blocks', { content: [block, block] }],
    ['another kind of block', { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] }],
    ['a block with more', { content: [{ ...block, annotations: { priority: 1 } }] }],
    ['a result with more', { content: [block], isError: true }],
    ['a result with false', { content: [block], isError: false }],
    ['a text that is none', said(7)],
    ['no text', said(undefined)],
    ['null for a block', { content: [null] }],
    ['content that is no array', { content: 'x' }],
    ['a result that writes itself', { content: [block], toJSON: () => ({ own: 1 }) }],
    ['a block that writes itself', { content: [Object.assign(Object.create({ toJSON: () => 'own' }), block)] }],
    ['members that JSON does not show', { content: [{ ...block, annotations: undefined, _meta: () => 0 }], structuredContent: undefined, isError: undefined, _meta: undefined }]
  ]
  for (const [what, result] of results) t.equal(jsonOf(result), JSON.stringify(result), what)
})
