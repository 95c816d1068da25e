// Section 4: what a tool is called with.
import { Type } from '@sinclair/typebox'
import t from 'tap'
import mcpPlugin from '../../lib/index.js'
import { build, defineTool } from '../support/app.js'
import { refused, said } from '../support/audit.js'
import { HttpPeer, legacy, modern } from '../support/http.js'
import { legacyDialect, metaKey, type Peer } from '../support/stdio.js'
import { host } from './host.js'

const INVALID = -32602

t.test('BB-023 params and arguments that are absent, null, or of the wrong kind', async t => {
  const server = await build(t)
  const clients: Array<[string, Peer]> = [['2025-06-18', await legacy(server.url, '2025-06-18', { t })], ['2026-07-28', modern(server.url, { t })]]
  for (const [revision, client] of clients) {
    for (const [name, text] of [['noargs', 'ok'], ['opt', '{}']] as const) {
      for (const args of [undefined, null, {}]) t.equal(said(await client.call(name, args)), text, `${revision} ${name} ${args}`)
      for (const args of [[], 'x', 7, true, [{}]]) t.match((await client.call(name, args)).error, { code: INVALID }, `${revision} ${name} ${JSON.stringify(args)}`)
    }
    const missing = await client.call('add')
    if (revision === '2025-06-18') t.match(missing.error, { code: INVALID, message: /\/a\b/ })
    else t.match(missing.result, { isError: true, content: [{ text: /\/a\b/ }] })
    for (const params of [{}, { name: 7 }, { name: null }]) t.match((await client.request('tools/call', params)).error, { code: INVALID }, `${revision} tools/call ${JSON.stringify(params)}`)
  }
  const bare = new HttpPeer(t, server.url, legacyDialect('2025-06-18'))
  const ask = async (method: string, params: unknown) => (await bare.post({ jsonrpc: '2.0', id: 1, method, params })).json
  for (const method of ['tools/list', 'ping']) {
    for (const params of [undefined, null, {}]) t.match(await ask(method, params), { id: 1, result: {} }, `${method} ${params}`)
    for (const params of [[], 'x', 7, false]) t.match(await ask(method, params), { id: 1, error: { code: INVALID } }, `${method} ${JSON.stringify(params)}`)
  }
  for (const params of [undefined, null]) t.match(await ask('tools/call', params), { id: 1, error: { code: INVALID } }, `tools/call ${params}`)
})

t.test('BB-024 cursors', async t => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const server = await build(t, { bare: true, options: { pageSize: 2, tools: names.map(name => defineTool({ name, handler: () => name })) } })
  for (const client of [await legacy(server.url, '2025-06-18', { t }), modern(server.url, { t })]) {
    const page = async (cursor?: unknown) => await client.request('tools/list', cursor === undefined ? {} : { cursor })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { result } = await page(cursor)
      seen.push(...result.tools.map((tool: { name: string }) => tool.name))
      cursor = result.nextCursor
      if (cursor === undefined) t.notOk('nextCursor' in result, 'the last page has no cursor at all')
      else t.ok(cursor !== '')
    } while (cursor !== undefined)
    t.strictSame(seen, names, 'each once')

    const { nextCursor } = (await page()).result
    for (const wrong of ['bogus', '', 7, {}, [], true, nextCursor + 'x', nextCursor.slice(1), Buffer.from('2').toString('base64')]) {
      t.match((await page(wrong)).error, { code: INVALID }, JSON.stringify(wrong))
    }
    t.match((await page(null)).result.tools, [{ name: 'a' }, { name: 'b' }], 'null is none')

    server.app.mcp.tools.disable('c')
    const after = await page(nextCursor)
    if (after.error === undefined) t.strictSame(after.result.tools.map((tool: { name: string }) => tool.name), ['d', 'e'])
    else t.equal(after.error.code, INVALID, 'the list that the cursor was for is not there any more')
    server.app.mcp.tools.enable('c')
  }
})

t.test('BB-025 arguments reach the handler as they were sent', async t => {
  const properties = { n: Type.Number(), tags: Type.Optional(Type.Array(Type.String())), flag: Type.Optional(Type.Boolean()) }
  const tools = [
    defineTool({ name: 'strict', inputSchema: Type.Object(properties, { additionalProperties: false }), handler: args => JSON.stringify(args) }),
    defineTool({ name: 'loose', inputSchema: Type.Object(properties), handler: args => JSON.stringify(args) }),
    defineTool({ name: 'union', inputSchema: Type.Object({ v: Type.Union([Type.Integer(), Type.Boolean(), Type.Null()]) }), handler: args => JSON.stringify(args) })
  ]
  // The validator of the host is as obliging as it can be.
  const { base } = await host(t, async app => {
    app.setValidatorCompiler(() => value => ({ value: { ...value, obliged: true } }))
    await app.register(mcpPlugin, { tools })
  }, { ajv: { customOptions: { coerceTypes: 'array', removeAdditional: 'all', useDefaults: true } } })
  const client = await legacy(`${base}/mcp`, '2025-11-25', { t })
  const table: Array<[string, Record<string, unknown>, string | RegExp]> = [
    ['loose', { n: 5, toolCallId: 'call_1', nested: { a: [1] } }, '{"n":5,"toolCallId":"call_1","nested":{"a":[1]}}'],
    ['strict', { n: 5 }, '{"n":5}'],
    ['strict', { n: 5, toolCallId: 'call_1' }, /toolCallId/],
    ['union', { v: null }, '{"v":null}'],
    ['union', { v: 'true' }, /\/v/],
    ['union', { v: '1' }, /\/v/],
    ...['strict', 'loose'].flatMap((name): Array<[string, Record<string, unknown>, RegExp]> => [
      [name, { n: '5' }, /\/n/], [name, { n: true }, /\/n/], [name, { n: null }, /\/n/], [name, { n: [5] }, /\/n/],
      [name, { n: 5, tags: 'a' }, /\/tags/], [name, { n: 5, flag: 'true' }, /\/flag/], [name, { n: 5, flag: 0 }, /\/flag/]
    ])
  ]
  for (const [name, args, expected] of table) {
    const reply = await client.call(name, args)
    t.match(said(reply), expected, `${name} ${JSON.stringify(args)}`)
    t.equal(reply.result.isError ?? false, expected instanceof RegExp, `${name} ${JSON.stringify(args)}: served or not`)
  }
})

t.test('BB-026 what is not known is let through', async t => {
  const server = await build(t)
  const info = { name: 'x', version: '1', icons: [{ src: 'https://a.example/i.png' }], future: true }
  const capabilities = { roots: {}, future: { a: 1 }, extensions: { 'io.modelcontextprotocol/ui': {} } }
  const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01', 'com.example/x': { y: [1] }, progressToken: 'p' }
  const clients = [
    await legacy(server.url, '2025-11-25', { t, initialize: { clientInfo: info, capabilities } }),
    modern(server.url, { t, meta: { [`${metaKey}clientInfo`]: info, [`${metaKey}clientCapabilities`]: capabilities } })
  ]
  for (const client of clients) {
    const reply = await client.request('tools/call', { name: 'meta', arguments: {}, task: {}, x: 1 }, { meta })
    t.match(JSON.parse(said(reply)), meta, `${client.dialect.revision}: the handler sees _meta as it came`)
    t.match((await client.request('tools/list', { future: 1 }, { meta: {} })).result, { tools: Array })
    const known = JSON.parse(said(await client.call('who')))
    t.match(known, { client: info, capabilities }, 'and what the client said of itself')
    const sibling = await client.post({ ...client.compose('tools/list', {}, {}), x: 1 })
    t.equal(sibling.status, 200, 'a sibling of params')
  }
  const bare = new HttpPeer(t, server.url, legacyDialect('2025-06-18'))
  for (const _meta of ['x', 7, []]) {
    const answer = await bare.post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'noargs', _meta } })
    t.ok(answer.status < 500 && [INVALID, -32600].includes(answer.json.error?.code), `_meta ${JSON.stringify(_meta)}`)
  }
})

t.test('BB-028 no such tool is an error of the protocol, bad arguments are for the model', async t => {
  const server = await build(t)
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const) {
    const client = revision === '2026-07-28' ? modern(server.url, { t }) : await legacy(server.url, revision, { t })
    for (const params of [{ name: 'nope', arguments: {} }, { arguments: {} }, { name: 7 }, { name: '' }, { name: '__proto__' }, { name: 'toString' }]) {
      const reply = await client.request('tools/call', params)
      t.match(reply.error, { code: INVALID }, `${revision} ${JSON.stringify(params)}`)
      t.equal(reply.result, undefined)
    }
    for (const [args, path] of [[{ a: 'x', b: 1 }, /\/a/], [{}, /\/a/], [{ a: 1 }, /\/b/], [{ a: 1, b: null }, /\/b/]] as const) {
      const reply = await client.call('add', args)
      if (revision < '2025-11-25') refused(t, { status: 200, messages: [reply.message] }, INVALID, `${revision} ${JSON.stringify(args)}`, 200)
      else t.match(reply.result, { isError: true }, `${revision} ${JSON.stringify(args)}`)
      t.match(reply.error?.message ?? said(reply), path, 'the path is named')
      t.equal(reply.result?.structuredContent, undefined)
    }
    await client.call('echo', { text: 7 })
  }
  t.strictSame(server.echoed, [], 'no handler has run')
})
