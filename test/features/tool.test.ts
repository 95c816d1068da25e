import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { image, result, text } from '../../lib/content.js'
import { entryOf, resultOf } from '../../lib/features/tool.js'
import type { EntryOptions } from '../../lib/features/tool.js'
import type { Tool, Validator } from '../../types/index.js'
import { schema } from '../support/results.js'
import { thrown } from '../support/thrown.js'

/** An app that shares schemas and keeps its warnings. */
function appOf (shared: Record<string, unknown> = {}) {
  const warnings: string[] = []
  const app = { getSchema: (id: string) => shared[id], log: { warn: (message: string) => warnings.push(message) } } as unknown as FastifyInstance
  return { app, warnings }
}

const options: EntryOptions = { shared: () => undefined, timeout: 1000, validator: undefined, started: false }
const handler = () => 'x'
const entry = (tool: Record<string, unknown>, more: Partial<EntryOptions> = {}, { app } = appOf()) => entryOf({ name: 'tool', handler, ...tool } as unknown as Tool, app, { ...options, ...more })
const made = (tool: Record<string, unknown>, value: unknown) => JSON.parse(JSON.stringify(resultOf(entry(tool), value)))
const numbers = { outputSchema: Type.Object({ n: Type.Integer() }) }

t.test('a name has 1 to 128 of the signs that the specification allows', async t => {
  for (const name of ['a', 'getUser', 'DATA_EXPORT_v2', 'admin.tools.list', 'x'.repeat(128), '-', '0']) t.equal(entry({ name }).name, name)
  for (const name of ['', 'x'.repeat(129), 'a b', 'a,b', 'a/b', 'ä', 'a\n', undefined, null, 5, {}]) t.match(thrown(() => entry({ name })), { code: 'MCP_ERR_TOOL_NAME' }, String(name))
})

t.test('a tool must have a handler', async t => {
  for (const handler of [undefined, null, 'x', {}]) t.match(thrown(() => entry({ handler })), { code: 'MCP_ERR_TOOL_DEFINITION', message: /"tool".*handler must be a function/ })
})

t.test('what is no tool, or says of itself what no client could read, is an error that says so', async t => {
  for (const tool of [undefined, null, 'x', 5, []]) t.match(thrown(() => entryOf(tool as unknown as Tool, appOf().app, options)), { code: 'MCP_ERR_TOOL_DEFINITION', message: /must be an object, as defineTool makes it/ }, String(tool))
  const rows: [object, RegExp][] = [
    [{ description: 3 }, /"tool": \/description must be string, got number 3/],
    [{ icons: 'x' }, /"tool": \/icons must be array/],
    [{ annotations: { readOnlyHint: 1 } }, /"tool": \/annotations\/readOnlyHint must be boolean/],
    [{ _meta: { big: 1n } }, /"tool": .*BigInt/]
  ]
  for (const [tool, message] of rows) t.match(thrown(() => entry(tool as Record<string, unknown>)), { code: 'MCP_ERR_TOOL_DEFINITION', message })
})

t.test('a timeout is that of the tool, else that of the server, and endless is 0', async t => {
  const rows: [unknown, number][] = [[undefined, 1000], [5, 5], [0, 0], [Infinity, 0], [0.5, 0.5]]
  for (const [timeout, expected] of rows) t.equal(entry({ timeout }).timeout, expected, String(timeout))
  t.equal(entry({}, { timeout: Infinity }).timeout, 0)
})

t.test('a timeout that is no time is an error', async t => {
  for (const timeout of [-1, NaN, '5', null, {}]) t.match(thrown(() => entry({ timeout })), { code: 'MCP_ERR_TOOL_DEFINITION', message: /timeout must be/ }, JSON.stringify(timeout))
  t.match(thrown(() => entry({ timeout: '5' })).message, /got "5"/)
})

t.test('the list shows what the tool says of itself, and nothing else', async t => {
  const said = { name: 'tool', title: 'T', description: 'd', inputSchema: schema, outputSchema: schema, annotations: { readOnlyHint: true }, icons: [{ src: 'a' }], _meta: { a: 1 } }
  t.strictSame(entry({ ...said, timeout: 5, secret: 'x' }).listed, said)
  t.strictSame(entry({}).listed, { name: 'tool', inputSchema: { type: 'object', properties: {} } })
})

t.test('arguments are an object in every revision', async t => {
  const rows: [unknown, unknown][] = [
    [undefined, { type: 'object', properties: {} }],
    [{ type: 'object' }, { type: 'object' }],
    [{ properties: { a: {} } }, { properties: { a: {} }, type: 'object' }],
    [{ anyOf: [schema, schema] }, { anyOf: [schema, schema], type: 'object' }],
    [{ $ref: '#/$defs/a', $defs: { a: schema } }, { $ref: '#/$defs/a', $defs: { a: schema }, type: 'object' }]
  ]
  for (const [inputSchema, shown] of rows) t.strictSame(entry({ inputSchema }).listed.inputSchema, shown, JSON.stringify(inputSchema))
  for (const inputSchema of [{ type: 'string' }, { type: ['object', 'null'] }, {}, { description: 'x' }]) {
    t.match(thrown(() => entry({ inputSchema })), { code: 'MCP_ERR_TOOL_SCHEMA', message: /"tool": inputSchema.*\/type must be "object"/ }, JSON.stringify(inputSchema))
  }
  t.match(thrown(() => entry({ inputSchema: null })), { code: 'MCP_ERR_TOOL_SCHEMA' }, 'null is no schema')
})

t.test('a schema that cannot be used is an error that names the tool, the schema and the place', async t => {
  const rows: [string, unknown][] = [['inputSchema', { type: 'object', properties: { a: { type: 'int' } } }], ['outputSchema', { properties: { a: { type: 'int' } } }]]
  for (const [which, wrong] of rows) t.match(thrown(() => entry({ [which]: wrong })), { code: 'MCP_ERR_TOOL_SCHEMA', message: RegExp(`"tool": ${which}.*/properties/a/type`) })
  t.match(thrown(() => entry({ inputSchema: Type.Object({ a: Type.Number({ 'x-mcp-header': 'A' }) }) })), { code: 'MCP_ERR_TOOL_SCHEMA', message: /x-mcp-header/ })
})

t.test('a schema of an output may be of any type', async t => {
  for (const outputSchema of [{ type: 'array' }, { type: 'string' }, {}, { type: 'null' }]) t.strictSame(entry({ outputSchema }).listed.outputSchema, outputSchema)
})

t.test('the schema of arguments does not rub off on that of results', async t => {
  const both = { anyOf: [{ type: 'object' }, { type: 'string' }] }
  const first = entry({ name: 'first', outputSchema: both })
  entry({ name: 'second', inputSchema: both })
  t.equal(first.checkOutput?.('text'), undefined)
  t.strictSame(entry({ outputSchema: both }).listed.outputSchema, both)
})

t.test('misspelt keywords are warned of with the place', async t => {
  const app = appOf()
  entry({ inputSchema: { type: 'object', requierd: ['a'], 'x-own': 1 } }, {}, app)
  t.match(app.warnings, [/"tool": inputSchema\/requierd/])
  t.equal(app.warnings.length, 1)
})

t.test('schemas that the app shares are those of the app that adds the tool', async t => {
  const inputSchema = { type: 'object', properties: { home: { $ref: 'address#' } } }
  const shown = (type: string) => entry({ inputSchema }, {}, appOf({ address: { $id: 'address', type } })).listed.inputSchema
  t.match(shown('string'), { $defs: { address: { type: 'string' } } })
  t.match(shown('number'), { $defs: { address: { type: 'number' } } }, 'another app, another address')
})

t.test('the same schema is compiled once, however often its tool is added', async t => {
  let compiled = 0
  const validator: Validator = { compile () { compiled++; return () => true } }
  for (let i = 0; i < 3; i++) entry({ inputSchema: schema }, { validator }).checkInput({})
  t.equal(compiled, 1)
})

t.test('arguments get their defaults, values do not', async t => {
  const of = Type.Object({ n: Type.Optional(Type.Integer({ default: 5 })) })
  const { checkInput, checkOutput } = entry({ inputSchema: of, outputSchema: Type.Object({ n: Type.Optional(Type.Integer({ default: 5 })) }) })
  const [args, value] = [{}, {}]
  t.strictSame([checkInput(args), checkOutput?.(value), args, value], [undefined, undefined, { n: 5 }, {}])
})

t.test('without an outputSchema a handler answers with text, content or a full result', async t => {
  const full = { content: [text('a')], isError: true, structuredContent: { n: 1 }, _meta: { a: 1 } }
  const rows: [string, unknown, unknown][] = [
    ['text', 'hi', { content: [{ type: 'text', text: 'hi' }] }],
    ['no text', '', { content: [{ type: 'text', text: '' }] }],
    ['nothing', undefined, { content: [] }],
    ['null', null, { content: [] }],
    ['one block', image('eA==', 'image/png'), { content: [{ type: 'image', data: 'eA==', mimeType: 'image/png' }] }],
    ['several blocks', [text('a'), text('b')], { content: [text('a'), text('b')] }],
    ['no blocks', [], { content: [] }],
    ['a full result', full, full],
    ['a branded result', result(full), full],
    ['a branded result without content', result({ isError: true }), { content: [], isError: true }],
    ['a branded result with data alone', result({ structuredContent: { n: 1 } }), { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } }]
  ]
  for (const [what, value, expected] of rows) t.strictSame(made({}, value), expected, what)
})

t.test('without an outputSchema anything else is an error that names the tool and what it may return', async t => {
  for (const value of [5, true, { n: 1 }, new Date(), ['a'], [1], [null]]) {
    t.match(thrown(() => resultOf(entry({}), value)), { name: 'TypeError', message: /"tool".*string, content or a full result/ }, JSON.stringify(value))
  }
})

t.test('content that no client could read is an error that names the tool and the place', async t => {
  const bad = { type: 'image', data: 'data:image/png;base64,YQ==', mimeType: 'image/png' }
  const rows: [Record<string, unknown>, unknown, RegExp][] = [
    [{}, bad, /content\[0\]\.data must be base64/],
    [{}, [text('a'), { type: 'img' }], /content\[1\]\.type must be one of text,/],
    [{}, { content: ['a'] }, /content\[0\] must be an object/],
    [{}, { content: [], isError: 'yes' }, /isError must be true or false, got "yes"/],
    [{}, { content: [], _meta: 5 }, /_meta must be an object, got 5/],
    [{}, result({ content: [bad] as never }), /content\[0\]\.data/],
    [{}, result({ content: 'a' as never }), /content must be an array/],
    [numbers, result({ structuredContent: { n: 1 }, content: [bad] as never }), /content\[0\]\.data/],
    [numbers, result({ isError: true, content: [bad] as never }), /content\[0\]\.data/]
  ]
  for (const [tool, value, message] of rows) t.match(thrown(() => resultOf(entry(tool), value)), { name: 'TypeError', message: RegExp(`"tool" returned what no client could read: ${message.source}`) }, JSON.stringify(value))
})

t.test('with an outputSchema the plain value is the structured content, and its JSON the text', async t => {
  const rows: [unknown, unknown][] = [
    [{ n: 5 }, { content: [{ type: 'text', text: '{"n":5}' }], structuredContent: { n: 5 } }],
    [result({ structuredContent: { n: 5 }, content: [text('five')], _meta: { a: 1 } }), { content: [text('five')], structuredContent: { n: 5 }, _meta: { a: 1 } }],
    [result({ isError: true, content: [text('no')] }), { content: [text('no')], isError: true }]
  ]
  for (const [value, expected] of rows) t.strictSame(made(numbers, value), expected)
  t.strictSame(made({ outputSchema: Type.Array(Type.String()) }, ['a']), { content: [{ type: 'text', text: '["a"]' }], structuredContent: ['a'] })
  t.strictSame(made({ outputSchema: Type.Object({ content: Type.Array(Type.String()) }) }, { content: ['a'] }).structuredContent, { content: ['a'] }, 'nothing is guessed from the shape')
  t.strictSame(made({ outputSchema: Type.Null() }, null), { content: [{ type: 'text', text: 'null' }], structuredContent: null })
})

t.test('a value that fits only as JSON is shown as JSON', async t => {
  const at = { outputSchema: Type.Object({ at: Type.String({ format: 'date-time' }) }) }
  t.strictSame(made(at, { at: new Date(0) }).structuredContent, { at: '1970-01-01T00:00:00.000Z' })
})

t.test('a value that does not fit is an error that names the tool and the problem', async t => {
  for (const value of [{ n: 'x' }, {}, undefined, null, 'text', { n: NaN }, result({ content: [] }), result({ structuredContent: { n: 'x' } })]) {
    t.match(thrown(() => resultOf(entry(numbers), value)), { name: 'TypeError', message: /"tool" returned what its outputSchema does not allow/ }, JSON.stringify(value))
  }
})

t.test('a header that repeats what is marked is warned of', async t => {
  const { app, warnings } = appOf()
  const marked = (more: object) => Type.Object({ key: Type.String({ 'x-mcp-header': 'Key', ...more }) })
  entry({ inputSchema: marked({}) }, {}, { app, warnings })
  t.strictSame(warnings, [])
  entry({ inputSchema: marked({ 'x-sensitive': true }) }, {}, { app, warnings })
  t.match(warnings, [/^Tool "tool": the header Mcp-Param-Key repeats what x-sensitive marks/])
})

t.test('a mark that is neither true nor false is refused', async t => {
  t.match(thrown(() => entry({ inputSchema: Type.Object({ key: Type.String({ 'x-sensitive': 'yes' }) }) })), { code: 'MCP_ERR_TOOL_SCHEMA', message: /"tool".*\/properties\/key\/x-sensitive must be true or false, got "yes"/ })
})
