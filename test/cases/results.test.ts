// Section 4: what a tool answers with, and what it must never say.
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import mcpPlugin, { result } from '../../lib/index.js'
import type { Tool } from '../../types/index.js'
import { build, defineTool, McpError, secret, ToolError } from '../support/app.js'
import { said } from '../support/audit.js'
import { HttpPeer, legacy, modern } from '../support/http.js'
import { isNote, legacyDialect, sleep, stdio, type Peer, type Reply } from '../support/stdio.js'
import { callBody, host, PATIENCE, rpcRefusal } from './host.js'

const tokens = [0, '', 'abc', -1, 'p-ü']

t.test('BB-027 progress comes with the token of the client, and grows', async t => {
  const { url } = await build(t)
  for (const client of [await legacy(url, '2025-06-18', { t }), modern(url, { t })]) {
    for (const progressToken of tokens) {
      const { notes, answer } = await client.call('progress', { n: 3 }, { meta: { progressToken } })
      t.strictSame(notes.map(({ method, params }) => [method, params.progressToken, params.progress]), [1, 2, 3].map(n => ['notifications/progress', progressToken, n]), `token ${JSON.stringify(progressToken)}`)
      t.equal(answer?.type, 'text/event-stream')
      t.match(answer?.messages.at(-1), { result: {} }, 'the answer is the last message')
    }
    for (const meta of [undefined, {}, { progressToken: null }]) {
      const { notes, result } = await client.call('progress', { n: 3 }, { meta })
      t.strictSame(notes, [], 'none without a token')
      t.match(result, { content: [{ text: 'done' }] })
    }
    const odd = await client.call('progress', { n: 1 }, { meta: { progressToken: 1.5 } })
    t.ok(odd.error?.code === -32602 || odd.notes.length === 0, 'a token that is none is refused or ignored')
    const quiet = await client.call('progress', { n: 3 }, { meta: { progressToken: 1 }, headers: { Accept: 'application/json' } })
    t.match({ type: quiet.answer?.type, notes: quiet.notes, text: said(quiet) }, { type: 'application/json', notes: [], text: 'done' }, 'JSON alone has no place for it')
    const { notes, answer } = await client.call('uneven', {}, { meta: { progressToken: 'u' } })
    t.strictSame(notes.map(({ params }) => params.progress), [1, 2, 3], 'what does not grow is left out')
    await sleep(60)
    t.strictSame(answer?.messages.filter(isNote('notifications/progress')).length, 3, 'and nothing follows the answer')
  }
})

const stats = (handler: () => unknown, additionalProperties = true) => defineTool({
  name: 'stats', outputSchema: Type.Object({ count: Type.Integer() }, { additionalProperties }), handler: handler as () => { count: number }
})

const served = async (t: Test, tool: Tool) => {
  const server = await build(t, { bare: true, options: { tools: [tool] } })
  const logged = () => server.log.filter(line => Number(line.level) >= 50).length
  return { clients: [await legacy(server.url, '2025-06-18', { t }), await legacy(server.url, '2025-11-25', { t }), modern(server.url, { t })], logged, url: server.url }
}

t.test('BB-029 a value that fits its schema is sent as data and as text', async t => {
  for (const handler of [() => ({ count: 3 }), () => result({ structuredContent: { count: 3 } }), async () => ({ count: 3 })]) {
    const { clients, url } = await served(t, stats(handler))
    for (const client of clients) {
      const reply = await client.call('stats')
      t.strictSame(reply.result.structuredContent, { count: 3 })
      t.strictSame(JSON.parse(said(reply)), { count: 3 })
      t.notOk(reply.result.isError)
    }
    for (const revision of ['2024-11-05', '2025-03-26'] as const) {
      const old = await legacy(url, revision, { t })
      t.notOk('outputSchema' in (await old.request('tools/list')).result.tools[0], `${revision} is shown no schema`)
      t.strictSame(Object.keys((await old.call('stats')).result), ['content'], `${revision} is sent the text alone`)
    }
  }
})

t.test('BB-029 a failure keeps its own words', async t => {
  const failures: Array<[() => unknown, string]> = [
    [() => result({ isError: true, content: [{ type: 'text', text: 'no data' }] }), 'no data'],
    [() => { throw new ToolError('no data') }, 'no data'],
    [async () => { throw new ToolError('no data', { content: [{ type: 'text', text: 'none, really' }] }) }, 'none, really']
  ]
  for (const [handler, text] of failures) {
    const { clients, logged } = await served(t, stats(handler))
    for (const client of clients) {
      const reply = await client.call('stats')
      t.equal(reply.result.isError, true)
      t.equal(said(reply), text)
      t.notOk('structuredContent' in reply.result)
    }
    t.equal(logged(), 0, 'and is no error of the server')
  }
})

t.test('BB-029 a value that does not fit is never sent', async t => {
  const wrong: Array<[string, () => unknown, boolean?]> = [
    ['the wrong type', () => ({ count: '3' })],
    ['nothing', () => undefined],
    ['null', () => null],
    ['text', () => 'x'],
    ['the shape of a result without its mark', () => ({ content: [], structuredContent: { count: 3 } })],
    ['a result without structured content', () => result({ content: [{ type: 'text', text: 'x' }] })],
    ['a result with the wrong one', () => result({ structuredContent: { count: '3' } })],
    ['a member too many', () => ({ count: 3, more: 1 }), false],
    ['a promise of the wrong type', async () => ({ count: 3.5 })],
    ['a throw', () => { throw new Error(secret) }],
    ['a throw of what is no error', () => { throw secret }],
    ['a throw of nothing', () => { throw undefined }] // eslint-disable-line no-throw-literal
  ]
  for (const [title, handler, additional] of wrong) {
    const { clients, logged } = await served(t, stats(handler, additional))
    for (const client of clients) {
      const { result, error } = await client.call('stats')
      t.ok(result?.isError === true || error?.code === -32603, `${title}: an error`)
      t.notOk(result?.structuredContent, `${title}: without the value`)
      t.notMatch(JSON.stringify(result ?? error), /pw@|srv/, `${title}: nor its words`)
    }
    t.equal(logged(), clients.length, `${title}: logged each time`)
  }
})

class Spiteful { toJSON () { throw new Error(secret) } }
const circle: Record<string, unknown> = {}
circle.self = circle

const values: Record<string, unknown> = {
  bigint: 1n,
  deep: { a: [{ b: 1n }] },
  circular: circle,
  date: new Date(0),
  nan: NaN,
  infinity: -Infinity,
  undefined: { a: undefined },
  nothing: undefined,
  map: new Map([['a', 1]]),
  symbol: Symbol('x'),
  function: () => 1,
  spiteful: new Spiteful(),
  large: 'x'.repeat(5_000_000),
  lone: '\ud800',
  lines: 'a\nb\rc\u2028d'
}

const strange = [
  defineTool({ name: 'structured', inputSchema: Type.Object({ kind: Type.String() }), outputSchema: Type.Object({ value: Type.Optional(Type.Unknown()) }), handler: ({ kind }) => ({ value: values[kind] }) }),
  defineTool({ name: 'full', inputSchema: Type.Object({ kind: Type.String() }), handler: ({ kind }) => ({ content: [{ type: 'text', text: 'x' }], structuredContent: { value: values[kind] } }) }),
  defineTool({ name: 'meta', inputSchema: Type.Object({ kind: Type.String() }), handler: ({ kind }) => ({ content: [], _meta: { value: values[kind] } }) }),
  defineTool({ name: 'error', inputSchema: Type.Object({ kind: Type.String() }), handler ({ kind }) { throw new McpError(-31000, 'x', { value: values[kind] }) } })
]

async function answersAll (t: Test, client: Peer, options = {}) {
  for (const kind of Object.keys(values)) {
    for (const { name } of strange) {
      const before = Date.now()
      const { result, error } = await client.call(name, { kind }, options) as Reply
      t.ok(Date.now() - before < PATIENCE / 8, `${name} ${kind}: at once`)
      if (name === 'error') t.equal(error?.code, -31000, `${name} ${kind}`)
      else t.ok(result !== undefined || error?.code === -32603, `${name} ${kind}: a result or an error`)
      t.notMatch(JSON.stringify(result ?? error), /pw@|srv/, `${name} ${kind}: no secret`)
    }
  }
  t.match((await client.call('structured', { kind: 'date' }, options)).result.structuredContent, { value: '1970-01-01T00:00:00.000Z' }, 'a date is its text')
  t.equal((await client.call('structured', { kind: 'lines' }, options)).result.structuredContent.value, values.lines, 'line ends are kept')
  t.match((await client.call('structured', { kind: 'bigint' }, options)).result, { isError: true })
}

t.test('BB-030 what JSON cannot carry is answered all the same', async t => {
  const { url, app } = await build(t, { bare: true, options: { tools: strange } })
  await t.test('as JSON', async t => answersAll(t, modern(url, { t }), { headers: { Accept: 'application/json' } }))
  await t.test('as a stream', async t => answersAll(t, await legacy(url, '2025-11-25', { t }), { headers: { Accept: 'text/event-stream' } }))
  t.equal(app.mcp.stats().calls, 0)
  const other = await build(t, { bare: true, listen: false, options: { tools: strange } })
  await t.test('over stdio', async t => answersAll(t, await stdio(other.app, '2025-11-25', { t })))
})

t.test('BB-031 what goes wrong inside stays inside', async t => {
  const spill = (where: string) => () => { throw new Error(`${where} ${secret}`) }
  const lines: string[] = []
  const { base } = await host(t, async app => {
    for (const hook of ['onRequest', 'preHandler'] as const) app.addHook(hook, async request => { if (request.headers['x-fail'] === hook) spill(hook)() })
    await app.register(mcpPlugin, { validator: { compile: schema => schema.title === 'broken' ? spill('compile')() : () => true } })
    app.mcp.tools.add({ name: 'thrown', handler: spill('thrown') })
    app.mcp.tools.add({ name: 'rejected', handler: async () => spill('rejected')() })
    app.mcp.tools.add({ name: 'uncompiled', inputSchema: { type: 'object', title: 'broken' }, handler: () => 'x' })
    app.mcp.tools.add({ name: 'meant', handler () { throw new ToolError('This may be read.') } })
  }, { logger: { level: 'error', stream: { write: line => { lines.push(line) } } } })
  const client = new HttpPeer(t, `${base}/mcp`, legacyDialect('2025-11-25'))
  const once = async (where: string, post: () => Promise<{ text: string }>) => {
    lines.length = 0
    const { text } = await post()
    t.notMatch(text, /pw@|\/srv\/|\bat .*:\d+/, `${where}: nothing on the wire`)
    t.equal(lines.filter(line => line.includes(`${where} ${secret}`)).length, 1, `${where}: all of it in the log, once`)
    t.match(lines.join(''), /"stack":"Error: /, `${where}: with its stack`)
  }
  for (const name of ['thrown', 'rejected', 'uncompiled']) {
    await once(name === 'uncompiled' ? 'compile' : name, async () => {
      const answer = await client.post(callBody(name))
      const { result, error } = answer.json
      t.ok(result?.isError === true || error?.code === -32603, name)
      const id = /error id (\w+)/.exec(answer.text)?.[1] ?? 'none'
      t.match(lines.join(''), `"errorId":"${id}"`, 'the id leads from one to the other')
      return answer
    })
  }
  for (const hook of ['onRequest', 'preHandler']) {
    await once(hook, async () => {
      const answer = await client.post(callBody('meant'), { 'X-Fail': hook })
      rpcRefusal(t, answer, [500, 401], undefined, hook)
      return answer
    })
  }
  t.match((await client.post(callBody('meant'))).json.result, { isError: true, content: [{ text: 'This may be read.' }] })
})
