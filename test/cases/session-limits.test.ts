// The greatest of everything that one session may have; each has an error of its own, and nothing breaks.
import t from 'tap'
import { Type } from '@sinclair/typebox'
import http from 'node:http'
import { defineTool } from '../support/app.js'
import type { McpOptions } from '../../types/index.js'
import { apps, heard, onEach, Roamer } from '../cluster/cluster.js'
import { until, wait } from '../support/time.js'

const asking = defineTool({
  name: 'ask_many',
  inputSchema: Type.Object({ n: Type.Integer() }),
  async handler ({ n }, ctx) {
    const answers = await Promise.allSettled(Array.from({ length: n }, () => ctx.roots()))
    return JSON.stringify(answers.map(one => one.status === 'fulfilled' ? 'answered' : one.reason.message))
  }
})
const steps = defineTool({
  name: 'steps',
  inputSchema: Type.Object({ n: Type.Integer(), bytes: Type.Integer() }),
  async handler ({ n, bytes }, ctx) {
    for (let i = 1; i <= n; i++) {
      await ctx.progress(i, n, 'x'.repeat(bytes))
      if (i % 20 === 0) await wait(1)
    }
    return 'all done'
  }
})
/** Says more and more, and waits for nobody, until something has happened; then a little more. */
const flooding = (happened: () => boolean) => defineTool({
  name: 'flood',
  async handler (_, ctx) {
    let n = 0
    const say = async (more: number) => {
      for (let i = 0; i < more; i++) ctx.progress(++n, undefined, 'x'.repeat(1_000)).catch(() => {})
      await wait(1)
    }
    while (!happened()) {
      await say(20)
      if (n > 60_000) throw new Error('nothing has happened')
    }
    for (let i = 0; i < 10; i++) await say(20)
    return `${n} said`
  }
})
const progress = { _meta: { progressToken: 'p' } }
const alone = async () => () => ({})

/** The same for a process alone and for one of several. */
const both = (name: string, options: McpOptions, run: (t: any, server: any, client: Roamer) => Promise<void>) => {
  const start = async (t: any, sharing: any) => {
    const [server] = await apps(t, sharing, 1, { tools: [asking, steps], ...options }) as [any]
    const client = new Roamer(t)
    await client.open(server, { roots: {} })
    await run(t, server, client)
  }
  t.test(name, t => start(t, alone))
  onEach(t, name, start)
}

both('calls in flight', { limits: { calls: 3 } }, async (t, server, client) => {
  const calls = Array.from({ length: 3 }, () => client.call(server, 'slow', { ms: 500 }))
  t.ok(await until(() => server.app.mcp.stats().calls === 3))
  const refused = await client.call(server, 'slow', { ms: 1 }).answer
  await refused.over()
  t.match([refused.status, refused.headers['retry-after'], refused.messages[0]], [503, /\d/, { error: { code: -32603, message: /3 calls in flight/ } }])
  for (const call of calls) t.match((await call.answer).messages.at(-1), { result: { content: [{ text: 'done' }] } }, 'those before go on')
  t.match(await client.ask(server, 'ping'), { result: {} })
})

both('streams for changes', {}, async (t, server, client) => {
  const first = await client.listen(server).answer
  for (let i = 1; i < 8; i++) t.equal((await client.listen(server).answer).status, 200)
  t.equal(server.app.mcp.stats().streams, 8)
  t.equal((await client.listen(server).answer).status, 200, 'one more takes the place of the oldest')
  t.ok(await first.over())
  t.ok(await until(() => server.app.mcp.stats().streams === 8))
})

both('questions without an answer', { limits: { questions: 2 } }, async (t, server, client) => {
  const call = await client.call(server, 'ask_many', { n: 4 }).answer
  t.ok(await until(() => call.messages.length >= 2))
  for (const { id } of call.messages.slice(0, 2)) await client.answer(server, id, { roots: [] })
  t.ok(await call.over())
  const told = JSON.parse(call.messages.at(-1)?.result.content[0].text)
  t.strictSame(told.map((one: string) => /2 questions/.test(one) ? 'refused' : one).sort(), ['answered', 'answered', 'refused', 'refused'])
})

both('what is kept for a client that comes back', { sse: { replay: { events: 5 } } }, async (t, server, client) => {
  const call = await client.call(server, 'steps', { n: 20, bytes: 1 }, progress).answer
  t.ok(await call.over())
  const ids = call.events.map(one => one.id as string)
  t.equal((await client.listen(server, ids[0]).answer).status, 400, 'what came after it is gone')
  const rest = await client.listen(server, ids.at(-3)).answer
  t.equal(rest.status, 200)
  t.ok(await rest.over())
  t.strictSame(rest.events.map(one => one.id).filter(Boolean), ids.slice(-2))
})

for (const [name, options] of [['as many bytes as may be', { maxBuffered: 100_000 }], ['by default', {}]] as const) {
  both(`a client that does not read is cut off, slows nobody, and can come back for the rest: ${name}`, { sse: options }, async (t, server, client) => {
    const cut = () => server.app.mcp.stats().streams === 0
    let began = false
    server.app.mcp.tools.add(flooding(() => began && cut()))
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: { name: 'flood', arguments: {}, ...progress } })
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': client.session, 'mcp-protocol-version': '2025-11-25' }
    const request = http.request(server.url, { method: 'POST', headers, agent: false })
    request.on('error', () => {})
    t.teardown(() => request.destroy())
    const response = await new Promise<http.IncomingMessage>(resolve => { request.on('response', resolve).end(body) })
    response.pause()
    began = true
    const from = Date.now()
    t.match(await client.ask(server, 'tools/call', { name: 'echo', arguments: { text: 'me' } }), { result: {} })
    t.ok(Date.now() - from < 3_000, 'another call is answered meanwhile')
    t.ok(await until(cut, 30_000), 'the stream is cut')
    let text = ''
    response.on('error', () => {}).on('data', chunk => { text += chunk }).resume()
    await new Promise<void>(resolve => { response.on('close', resolve) })
    const told = [...text.matchAll(/^id: (\S+)\nevent: message\ndata: (.+)\n\n/gm)]
    const [, id, message] = told.at(-1) ?? []
    const before = JSON.parse(message as string).params.progress
    const rest = await client.listen(server, id).answer
    t.equal(rest.status, 200)
    t.ok(await heard(rest, one => one.id === 'slow', 30_000), 'the answer is not lost')
    const n = parseInt(rest.messages.at(-1)?.result.content[0].text)
    t.ok(before < n - 200, `${before} of ${n} came before`)
    const steps = rest.messages.map(one => one.params?.progress).filter(Boolean)
    t.strictSame([steps[0], steps.length, steps.at(-1)], [before + 1, n - before, n], 'nor anything before it, and nothing comes twice')
  })
}

const perCaller = async (t: any, sharing: any) => {
  // A caller is who the header says.
  const auth: McpOptions['auth'] = { authenticate: ({ headers }) => ({ subject: String(headers.authorization), scopes: [] }) }
  const [server] = await apps(t, sharing, 1, { tools: [steps], auth, sessions: { maxPerCaller: 2 } }) as [any]
  const open = async (who: string) => {
    const client = new Roamer(t, '2025-11-25', { authorization: who })
    const { status, headers, messages } = await client.open(server)
    return { client, status, retry: headers['retry-after'], message: messages[0] }
  }
  const ping = async ({ client }: { client: Roamer }) => (await client.post(server.url, { jsonrpc: '2.0', id: 1, method: 'ping' })).status
  const own = [await open('a'), await open('a')]
  for (const one of own) t.equal(await ping(one), 200)
  t.match(await open('a'), { status: 503, retry: /^\d+$/, message: { error: { code: -32603, message: /you have 2 sessions/ } } }, 'one more is refused')
  const other = await open('b')
  t.strictSame([other.status, await ping(other)], [200, 200], 'another caller may')
  t.strictSame(await Promise.all(own.map(ping)), [200, 200], 'those that there are go on')
  await own[0]!.client.end(server)
  t.equal((await open('a')).status, 200, 'one that ends makes room')
}
t.test('sessions of one caller', t => perCaller(t, alone))
onEach(t, 'sessions of one caller', perCaller)
