import t from 'tap'
import { assistant, audio, embedded, image, inputRequired, isInputRequired, isResult, resourceLink, result, text, user } from '../lib/content.js'
import { thrown } from './support/thrown.js'
import { checkDefinition } from './support/wire.js'

const bytes = Buffer.from([0, 1, 250, 251, 252])
const window = new Uint8Array(new Uint8Array([9, 9, 0, 1, 250, 251, 252, 9]).buffer, 2, 5)
const extra = { annotations: { audience: ['user'], priority: 0.5 }, _meta: { 'com.example/a': 1 } } as const

t.test('each helper makes a block of its kind, as the newest schema wants it', async t => {
  const rows: [string, unknown, unknown][] = [
    ['text', text('hi'), { type: 'text', text: 'hi' }],
    ['text with extras', text('hi', extra), { type: 'text', text: 'hi', ...extra }],
    ['image', image(bytes, 'image/png'), { type: 'image', data: 'AAH6+/w=', mimeType: 'image/png' }],
    ['image with extras', image(bytes, 'image/png', extra), { type: 'image', data: 'AAH6+/w=', mimeType: 'image/png', ...extra }],
    ['audio', audio(bytes, 'audio/wav', extra), { type: 'audio', data: 'AAH6+/w=', mimeType: 'audio/wav', ...extra }],
    ['resource link', resourceLink({ uri: 'mem://a', name: 'a', size: 3 }), { type: 'resource_link', uri: 'mem://a', name: 'a', size: 3 }],
    ['embedded text', embedded({ uri: 'mem://a', mimeType: 'text/plain', text: 'x' }), { type: 'resource', resource: { uri: 'mem://a', mimeType: 'text/plain', text: 'x' } }],
    ['embedded bytes', embedded({ uri: 'mem://a', blob: bytes }, extra), { type: 'resource', resource: { uri: 'mem://a', blob: 'AAH6+/w=' }, ...extra }]
  ]
  for (const [what, block, expected] of rows) {
    t.strictSame(JSON.parse(JSON.stringify(block)), expected, what)
    t.strictSame(checkDefinition('2026-07-28', 'ContentBlock', JSON.parse(JSON.stringify(block))), [], `${what} on the wire`)
  }
})

t.test('bytes may come as a Buffer, a Uint8Array, a part of one, or base64', async t => {
  const forms = { Buffer: bytes, Uint8Array: new Uint8Array(bytes), 'part of a buffer': window, base64: 'AAH6+/w=' }
  for (const [what, data] of Object.entries(forms)) {
    t.equal(image(data, 'image/png').data, 'AAH6+/w=', what)
    t.match(embedded({ uri: 'a', blob: data }), { resource: { blob: 'AAH6+/w=' } }, what)
  }
})

t.test('text is left as it is given', async t => {
  for (const given of ['', ' padded ', '<b>&amp;', '\u0000\ud83d\ude00']) t.equal(text(given).text, given)
})

t.test('only what result() made is a result', async t => {
  const parts = { content: [text('a')], structuredContent: { n: 1 }, isError: false, _meta: { a: 1 } }
  t.equal(isResult(result(parts)), true)
  t.strictSame(JSON.parse(JSON.stringify(result(parts))), parts, 'the mark is not on the wire')
  for (const other of [parts, { ...parts }, {}, [], null, undefined, 'a', () => {}]) t.equal(isResult(other), false)
})

t.test('a result of another copy of the package is one too', async t => {
  t.equal(isResult({ content: [], [Symbol.for('fastify-mcp-plugin.result')]: true }), true)
})

t.test('a message is somebody\'s, and holds a text or one piece of content', async t => {
  t.strictSame(user('hi'), { role: 'user', content: { type: 'text', text: 'hi' } })
  t.strictSame(assistant(image('eA==', 'image/png')), { role: 'assistant', content: { type: 'image', data: 'eA==', mimeType: 'image/png' } })
  for (const revision of ['2024-11-05', '2025-11-25', '2026-07-28'] as const) t.strictSame(checkDefinition(revision, 'PromptMessage', user('hi')), [])
})

t.test('only what inputRequired() made asks, and a result does not', async t => {
  const asking = inputRequired({ questions: {}, state: 5 })
  t.match(asking, { questions: {}, state: 5 })
  t.strictSame([isInputRequired(asking), isResult(asking), isInputRequired(result({}))], [true, false, false])
  for (const other of [{ questions: {}, state: 5 }, null, undefined, 'a', []]) t.equal(isInputRequired(other), false)
})

t.test('what no content or question can be made of is an error that says so', async t => {
  for (const bad of [{}, null, undefined, 5, [1]]) {
    for (const make of [() => image(bad as never, 'a/b'), () => audio(bad as never, 'a/b'), () => embedded({ uri: 'a:b', blob: bad as never })]) {
      if (bad === undefined && String(make).includes('embedded')) continue // then there is no blob
      t.match(thrown(make), { code: 'MCP_ERR_CONTENT', message: /bytes are a Buffer, another Uint8Array or base64, got/ }, String(bad))
    }
  }
  for (const bad of [null, undefined, 'x']) t.match(thrown(() => embedded(bad as never)), { code: 'MCP_ERR_CONTENT', message: /embedded\(\) takes/ })
  for (const bad of ['Your login?', { method: 'elicitation/create', params: {} }, null]) t.match(thrown(() => inputRequired({ questions: { login: bad } } as never)), { code: 'MCP_ERR_INPUT', message: /"login" is no question; make it with elicit/ })
  for (const bad of [undefined, {}, { questions: {} }, { questions: null, state: 1 }, { state: 1 }]) t.match(thrown(() => inputRequired(bad as never)), { code: 'MCP_ERR_INPUT', message: /inputRequired\(\) needs/ }, JSON.stringify(bad))
})
