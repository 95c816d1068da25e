// Section 4: tools whose schemas are unusual.
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import mcpPlugin from '../../lib/index.js'
import { build, defineTool } from '../support/app.js'
import { said } from '../support/audit.js'
import { legacy, modern } from '../support/http.js'
import { revisions } from '../support/wire.js'

t.test('BB-032 a schema that cannot be used is refused when the tool is added, by its name', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(mcpPlugin)
  const bad: Array<[string, object]> = [
    ['Type.String()', { inputSchema: Type.String() }],
    ['Type.Array()', { inputSchema: Type.Array(Type.String()) }],
    ['null', { inputSchema: null }],
    ['a string', { inputSchema: 'object' }],
    ['an empty object', { inputSchema: {} }],
    ['an unknown type', { inputSchema: { type: 'object', properties: { a: { type: 'text' } } } }],
    ['a pattern that is none', { inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } } }],
    ['required of the wrong kind', { inputSchema: { type: 'object', required: 'a' } }],
    ['a $ref to nowhere', { inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } }],
    ['a $ref to the network', { inputSchema: { type: 'object', properties: { a: { $ref: 'https://a.example/schema.json' } } } }],
    ['an unknown dialect', { inputSchema: { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' } }],
    ['an output that is null', { outputSchema: null }],
    ['an output with an unknown type', { outputSchema: { type: 'map' } }]
  ]
  for (const [title, schemas] of bad) {
    t.throws(() => app.mcp.tools.add({ name: 'named_tool', ...schemas, handler: () => 'x' } as never), { code: 'MCP_ERR_TOOL_SCHEMA', message: /named_tool/ }, title)
    t.notOk(app.mcp.tools.has('named_tool'))
  }
  const late = Fastify()
  t.teardown(() => late.close())
  late.register(mcpPlugin, { tools: [defineTool({ name: 'named_tool', inputSchema: { type: 'string' }, handler: () => 'x' })] })
  await t.rejects(async () => { await late.ready() }, /named_tool/, 'or when the app starts')
})

const A = Type.Object({ a: Type.String() })
const B = Type.Object({ b: Type.String() })
const show = (args: unknown) => JSON.stringify(args)

t.test('BB-032 every list can be read by every client', async t => {
  const tools = [
    defineTool({ name: 'union', inputSchema: Type.Union([A, B]), handler: show }),
    defineTool({ name: 'intersect', inputSchema: Type.Intersect([A, B]), handler: show }),
    defineTool({ name: 'recursive', inputSchema: Type.Object({ node: Type.Recursive(Self => Type.Object({ next: Type.Optional(Self) })) }), handler: show }),
    defineTool({ name: 'tuple', inputSchema: Type.Object({ pair: Type.Tuple([Type.String(), Type.Integer()]) }), handler: show }),
    defineTool({ name: 'empty', inputSchema: Type.Object({}), handler: show }),
    defineTool({ name: 'none', handler: show }),
    defineTool({ name: 'array', outputSchema: Type.Array(Type.String()), handler: () => ['x', 'y'] }),
    defineTool({ name: 'either', outputSchema: Type.Union([A, B]), handler: () => ({ b: 'x' }) }),
    defineTool({ name: 'draft07', inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }] } } }, handler: show })
  ]
  const { url } = await build(t, { bare: true, options: { tools } })
  for (const revision of revisions) {
    const stateless = revision === '2026-07-28'
    const client = stateless ? modern(url, { t }) : await legacy(url, revision, { t })
    const { result } = await client.request('tools/list') // each message is held against the schema of its revision
    t.equal(result.tools.length, tools.length, revision)
    for (const { name, inputSchema, outputSchema } of result.tools) {
      t.equal(inputSchema.type, 'object', `${revision} ${name}`)
      if (outputSchema !== undefined && !stateless) t.equal(outputSchema.type, 'object', `${revision} ${name}`)
    }
    const array = result.tools.find((tool: { name: string }) => tool.name === 'array')
    t.equal('outputSchema' in array, stateless, `${revision}: an array is shown to those who have a word for it`)
    const called = await client.call('array')
    t.strictSame(JSON.parse(said(called)), ['x', 'y'])
    t.equal('structuredContent' in called.result, stateless)
  }
  const client = await legacy(url, '2025-11-25', { t })
  const table: Array<[string, unknown, boolean]> = [
    ['union', { a: 'x' }, true], ['union', { b: 'x' }, true], ['union', {}, false], ['intersect', { a: 'x', b: 'y' }, true], ['intersect', { a: 'x' }, false],
    ['recursive', { node: { next: { next: {} } } }, true], ['recursive', { node: { next: 7 } }, false], ['tuple', { pair: ['x', 1] }, true],
    ['tuple', { pair: ['x', 'y'] }, false], ['tuple', { pair: ['x', 1, 2] }, false], ['none', { any: 1 }, true], ['draft07', { a: ['x'] }, true], ['draft07', { a: [1] }, false]
  ]
  for (const [name, args, good] of table) {
    const reply = await client.call(name, args)
    t.equal(reply.result.isError ?? false, !good, `${name} ${JSON.stringify(args)}`)
    if (good) t.equal(said(reply), JSON.stringify(args))
  }
})

t.test('BB-032 tools whose schemas have the same $id do not meet', async t => {
  const shaped = (type: string) => ({ $id: 'shape', type: 'object', $defs: { v: { type } }, properties: { v: { $ref: 'shape#/$defs/v' } }, required: ['v'] })
  const pointing = (type: string) => ({ $id: 'other', type: 'object', $defs: { v: { $id: 'value', type } }, properties: { v: { $ref: 'value' } }, required: ['v'] })
  const tools = ['string', 'integer'].flatMap(type => [
    defineTool({ name: `shape_${type}`, inputSchema: shaped(type), handler: show }),
    defineTool({ name: `value_${type}`, inputSchema: pointing(type), outputSchema: shaped(type), handler: args => args })
  ])
  const { url, app } = await build(t, { bare: true, options: { tools } })
  app.mcp.tools.add({ name: 'shape_late', inputSchema: shaped('boolean'), handler: show })
  const client = await legacy(url, '2025-11-25', { t })
  const values: Record<string, unknown> = { string: 'x', integer: 1, late: true }
  for (const { name } of (await client.request('tools/list')).result.tools) {
    for (const [type, v] of Object.entries(values)) {
      if (name === 'value_late' || (name.startsWith('value') && type === 'late')) continue
      const { result } = await client.call(name, { v })
      t.equal(result.isError ?? false, !name.endsWith(type), `${name} ${JSON.stringify(v)}`)
    }
  }
})

t.test('BB-032 schemas of the app are brought along', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.addSchema({ $id: 'City', type: 'object', properties: { name: { type: 'string' }, twin: { $ref: 'City#' } }, required: ['name'] })
  await app.register(mcpPlugin)
  app.mcp.tools.add({ name: 'visit', inputSchema: { type: 'object', properties: { city: { $ref: 'City#' } }, required: ['city'] }, handler: show })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = await legacy(`http://127.0.0.1:${(app.server.address() as import('node:net').AddressInfo).port}/mcp`, '2025-11-25', { t })
  const { inputSchema } = (await client.request('tools/list')).result.tools[0]
  t.notMatch(JSON.stringify(inputSchema), /"\$ref":"(?!#)/, 'whoever reads the list finds everything in it')
  t.equal((await client.call('visit', { city: { name: 'x', twin: { name: 'y' } } })).result.isError ?? false, false)
  t.equal((await client.call('visit', { city: { name: 'x', twin: {} } })).result.isError, true)
})
