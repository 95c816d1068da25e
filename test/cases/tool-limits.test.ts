// Limits of a tool as clients meet them: on real sockets and pipes, alone and with other processes.
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import mcpPlugin, { elicit, inputRequired } from '../../lib/index.js'
import { MemoryBroker } from '../../lib/brokers/memory.js'
import { MemoryStore } from '../../lib/stores/memory.js'
import type { McpOptions, Tool } from '../../types/index.js'
import { build, defineTool } from '../support/app.js'
import { httpSse, legacy, modern, type HttpPeer } from '../support/http.js'
import { clientOf, startRedis, withoutRedis } from '../support/redis.js'
import { stdio, type Peer } from '../support/stdio.js'
import { until, wait } from '../support/time.js'

const RETRY = 'fastify-mcp-plugin/retryAfter'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const skip = withoutRedis()
const real = skip === false ? {} : { skip }
const limited = (max: number, timeWindow = 60_000, name = 'limited') => defineTool({ name, rateLimit: { max, timeWindow }, handler: () => 'ran' })

/** How each of some calls ended: `ran`, or the seconds to wait. */
async function ends (peer: Peer, times: number, name = 'limited', headers?: Record<string, string>) {
  const out: unknown[] = []
  for (let i = 0; i < times; i++) {
    const { result } = await peer.call(name, {}, headers === undefined ? {} : { headers })
    out.push(result.isError === true ? result._meta[RETRY] : result.content[0].text)
  }
  return out
}

/** An app that believes its proxy, so that a test can come from anywhere. */
async function proxied (t: Test, options: McpOptions) {
  const app = Fastify({ trustProxy: true })
  t.teardown(() => app.close())
  await app.register(mcpPlugin, { hosts: '*', ...options })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/mcp`
}

const at = (address: string) => ({ 'x-forwarded-for': address })

t.test('over its rate a tool is refused in every revision; over HTTP the header says it too', async t => {
  const { url } = await build(t, { options: { tools: [limited(3)] } })
  const session = await legacy(url, '2025-11-25', { t })
  t.strictSame(await ends(session, 4), ['ran', 'ran', 'ran', 60])
  for (const peer of [session, await legacy(url, '2025-03-26', { t }), modern(url, { t })]) {
    const { result, answer } = await peer.call('limited')
    t.match(result, { isError: true, content: [{ type: 'text', text: /^The tool "limited" was called too often; try again in (60|59) s\.$/ }], _meta: { [RETRY]: Number } })
    t.match([answer?.status, answer?.type, answer?.headers['retry-after']], [200, 'application/json', String(result._meta[RETRY])])
    t.match((await peer.call('echo', { text: 'hi' })).result, { content: [{ text: 'hi' }] }, 'another tool is not affected')
  }
  const stream = await session.call('limited', {}, { headers: { Accept: 'text/event-stream' } })
  t.match([stream.result.isError, stream.answer?.type, stream.answer?.headers['retry-after']], [true, 'text/event-stream', undefined])
  const old = await httpSse(url, { t })
  t.match((await old.call('limited')).result, { isError: true, _meta: { [RETRY]: Number } })
})

t.test('in a batch each call counts, and each is answered', async t => {
  const { url } = await build(t, { options: { tools: [limited(2)] } })
  const peer = await legacy(url, '2025-03-26', { t })
  const { json } = await peer.post([1, 2, 3, 4].map(id => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: id === 4 ? 'noargs' : 'limited' } })))
  t.strictSame(json.map((one: any) => [one.id, one.result.isError === true]).sort(), [[1, false], [2, false], [3, true], [4, false]])
})

t.test('without auth a caller is an address, whatever session it has', async t => {
  const url = await proxied(t, { tools: [limited(2)] })
  const session = await legacy(url, '2025-11-25', { t })
  t.strictSame(await ends(session, 3, 'limited', at('203.0.113.1')), ['ran', 'ran', 60])
  t.strictSame(await ends(await legacy(url, '2025-11-25', { t }), 1, 'limited', at('203.0.113.1')), [60], 'another session')
  t.strictSame(await ends(modern(url, { t }), 1, 'limited', at('203.0.113.1')), [60], 'another revision')
  t.strictSame(await ends(session, 3, 'limited', at('203.0.113.2')), ['ran', 'ran', 60], 'another address')
})

t.test('with auth a caller is who the token says, by whatever client and wherever from', async t => {
  const authenticate = ({ headers }: { headers: Record<string, unknown> }) => {
    const [subject = '', clientId] = String(headers.authorization).slice(7).split('@')
    return { subject, clientId, issuer: 'https://as.example', scopes: [], expiresAt: undefined, claims: {} }
  }
  const url = await proxied(t, { tools: [limited(2)], auth: { authenticate: authenticate as never, resource: 'https://a.example/mcp' } })
  const peer = modern(url, { t })
  const as = (token: string, address = '203.0.113.1') => ({ authorization: `Bearer ${token}`, ...at(address) })
  t.strictSame(await ends(peer, 3, 'limited', as('ada@app')), ['ran', 'ran', 60])
  t.strictSame(await ends(peer, 1, 'limited', as('ada@app', '203.0.113.2')), [60], 'from elsewhere')
  t.strictSame(await ends(peer, 2, 'limited', as('ada@other')), ['ran', 'ran'], 'another client')
  t.strictSame(await ends(peer, 2, 'limited', as('bob@app')), ['ran', 'ran'], 'another user')
})

t.test('on stdio it is the connection', async t => {
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    for (let i = 0; i < 2; i++) {
      const { app } = await build(t, { listen: false, options: { tools: [limited(2)] } })
      t.strictSame(await ends(await stdio(app, revision, { t }), 3), ['ran', 'ran', 60], revision)
    }
  }
})

t.test('arguments that do not fit count', async t => {
  const { url } = await build(t, { options: { tools: [defineTool({ name: 'limited', inputSchema: Type.Object({ n: Type.Integer() }), rateLimit: { max: 2, timeWindow: 60_000 }, handler: () => 'ran' })] } })
  const peer = modern(url, { t })
  t.match((await peer.call('limited', { n: 'x' })).result.content[0].text, /Invalid arguments/)
  t.match((await peer.call('limited', { n: 1 })).result, { content: [{ text: 'ran' }] })
  t.match((await peer.call('limited', { n: 'x' })).result, { isError: true, _meta: { [RETRY]: 60 } })
})

t.test('a call is one however many rounds it takes; an answer that is sent again is another call', async t => {
  const Name = Type.Object({ name: Type.String() })
  const names: unknown[] = []
  const ask = defineTool({
    name: 'ask',
    rateLimit: { max: 2, timeWindow: 60_000 },
    handler: async (_, ctx) => {
      const first = await ctx.elicit('First?', Name)
      const last = await ctx.elicit('Last?', Name)
      names.push(last.content?.name)
      return `${first.content?.name} ${last.content?.name}`
    }
  })
  const { url } = await build(t, { options: { tools: [ask] } })
  const peer = modern(url, { t, meta: { [CAPABILITIES]: { elicitation: {} } } })
  const send = async (before?: any) => {
    const more = before === undefined ? {} : { requestState: before.requestState, inputResponses: { [Object.keys(before.inputRequests)[0] as string]: { action: 'accept', content: { name: 'Ada' } } } }
    return (await peer.request('tools/call', { name: 'ask', ...more })).result
  }
  const one = await send()
  const two = await send(one)
  t.match(await send(two), { content: [{ text: 'Ada Ada' }] }, 'three rounds, one call')
  t.match(await send(two), { content: [{ text: 'Ada Ada' }] }, 'the last once more, a second call')
  for (const before of [one, two, undefined]) t.match(await send(before), { isError: true, _meta: { [RETRY]: Number } }, 'which was the last')
  t.equal(names.length, 2)
})

t.test('a round that answers nothing is a call, however its handler asks', async t => {
  const form = elicit('Name?', Type.Object({ name: Type.String() }))
  let runs = 0
  const rateLimit = { max: 3, timeWindow: 60_000 }
  const tools = [
    defineTool({ name: 'ask', rateLimit, handler: async (_, ctx) => { runs++; return Object.keys(await ctx.input({ form })).join() } }),
    defineTool({ name: 'ask_once', rateLimit, handler: async (_, ctx) => { runs++; return Object.keys(await ctx.input({ form }, { singleUse: true })).join() } }),
    defineTool({ name: 'ask_returned', rateLimit, handler: () => { runs++; return inputRequired({ questions: { form }, state: runs }) } }),
    defineTool({ name: 'ask_first', rateLimit, confirm: () => `${++runs}?`, handler: () => 'ran' })
  ]
  for (const more of [{}, { inputResponses: { another: { action: 'accept', content: { name: 'Ada' } } } }]) {
    const { url } = await build(t, { options: { tools } })
    const peer = modern(url, { t, meta: { [CAPABILITIES]: { elicitation: {} } } })
    for (const { name } of tools) {
      runs = 0
      let last
      for (let i = 0; i < 10; i++) {
        const { result }: any = await peer.request('tools/call', { name, ...(last !== undefined && { requestState: last, ...more }) })
        if (result.isError === true) break
        last = result.requestState
      }
      t.ok(runs >= 1 && runs <= 3, `${name} ran ${runs} times`)
    }
  }
})

t.test('an answer that does not fit is asked for again once in a call', async t => {
  let runs = 0
  const ask = defineTool({ name: 'ask', rateLimit: { max: 2, timeWindow: 60_000 }, handler: async (_, ctx) => { runs++; return Object.keys(await ctx.input({ form: elicit('Name?', Type.Object({ name: Type.String() })) })).join() } })
  const { url } = await build(t, { options: { tools: [ask] } })
  const peer = modern(url, { t, meta: { [CAPABILITIES]: { elicitation: {} } } })
  const send = async (before?: any, form?: unknown) => (await peer.request('tools/call', { name: 'ask', ...(before !== undefined && { requestState: before.requestState, inputResponses: { form } }) })).result
  const again = await send(await send(), 'x')
  t.match(again, { resultType: 'input_required' })
  t.match(await send(again, { action: 'accept', content: { name: 'Ada' } }), { content: [{ text: 'form' }] }, 'from then on it is another')
  t.match([await send(), runs], [{ isError: true, _meta: { [RETRY]: Number } }, 3])
})

t.test('calls of one tool at once', async t => {
  const open: Array<() => void> = []
  const busy = defineTool({ name: 'busy', concurrency: 2, handler: async () => { await new Promise<void>(resolve => open.push(resolve)); return 'ran' } })
  const { url } = await build(t, { options: { tools: [busy] } })
  const session = await legacy(url, '2025-11-25', { t })
  const other = modern(url, { t })
  const running = [session.start('tools/call', { name: 'busy' }), other.start('tools/call', { name: 'busy' })]
  t.ok(await until(() => open.length === 2))
  for (const peer of [session, other]) {
    const { result, answer } = await peer.call('busy')
    t.match([result, answer?.headers['retry-after']], [{ isError: true, content: [{ text: /2 calls of it run already; try again in 1 s/ }], _meta: { [RETRY]: 1 } }, '1'])
    t.match((await peer.call('echo', { text: 'hi' })).result, { content: [{ text: 'hi' }] })
  }
  for (const done of open) done()
  for (const call of running) t.match((await call.reply).result, { content: [{ text: 'ran' }] })
  const next = session.start('tools/call', { name: 'busy' })
  t.ok(await until(() => open.length === 3))
  open[2]?.()
  t.match((await next.reply).result, { content: [{ text: 'ran' }] })
})

t.test('a result that is too large stays here', async t => {
  const { url } = await build(t, { options: { tools: [defineTool({ name: 'large', maxResultBytes: 1_000, outputSchema: Type.Object({ text: Type.String() }), inputSchema: Type.Object({ n: Type.Integer() }), handler: ({ n }) => ({ text: 'secret'.repeat(n) }) })] } })
  for (const peer of [await legacy(url, '2025-11-25', { t }), await legacy(url, '2025-06-18', { t }), modern(url, { t })] as HttpPeer[]) {
    t.match((await peer.call('large', { n: 10 })).result, { structuredContent: { text: 'secret'.repeat(10) } })
    const { result, answer } = await peer.call('large', { n: 1000 })
    t.match(result, { isError: true, content: [{ text: /it has 12\d{3} bytes, and 1000 are allowed/ }] })
    t.ok((answer?.text.length ?? 0) < 600)
  }
})

t.test('a message of HTTP+SSE that comes in at another process counts for the address it comes from', async t => {
  const first = new MemoryBroker()
  const store = new MemoryStore(first)
  const options = () => ({ store, broker: new MemoryBroker(first), tools: [limited(1)] })
  const [here, there] = [await proxied(t, options()), await proxied(t, options())]
  const peer = await httpSse(here, { t })
  const far = peer.endpoint.replace(new URL(here).host, new URL(there).host)
  const call = async (address: string, id: number) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'limited' } })
    await fetch(far, { method: 'POST', headers: { 'content-type': 'application/json', ...at(address) }, body })
    t.ok(await until(() => peer.stream.events.some(event => event.data.includes(`"id":${id},`))))
    return JSON.parse(peer.stream.events.find(event => event.data.includes(`"id":${id},`))?.data as string).result.isError === true
  }
  for (const id of [101, 102, 103]) peer.sent.set(id, 'tools/call')
  t.strictSame([await call('203.0.113.1', 101), await call('203.0.113.1', 102), await call('203.0.113.2', 103)], [false, true, false])
})

const two = async (t: Test, tools: () => Tool[], more: McpOptions = {}) => {
  const redis = await startRedis(t)
  const servers = await Promise.all([1, 2].map(() => build(t, { options: { redis: { client: clientOf(t, redis), prefix: 'p:', timeout: 300 }, tools: tools(), ...more } })))
  return { redis, servers, peers: servers.map(({ url }) => modern(url, { t })) as [HttpPeer, HttpPeer] }
}

t.test('with Redis all processes count together', real, async t => {
  const { redis, peers: [a, b], servers } = await two(t, () => [limited(4, 60_000), limited(1, 400, 'short')])
  t.strictSame([...await ends(a, 2), ...await ends(b, 3), ...await ends(a, 1)], ['ran', 'ran', 'ran', 'ran', 60, 60])
  const session = await legacy(servers[1]?.url as string, '2025-11-25', { t })
  t.strictSame(await ends(session, 1), [60])
  t.strictSame([...await ends(a, 1, 'short'), ...await ends(b, 1, 'short')], ['ran', 1])
  await wait(450)
  t.strictSame(await ends(b, 1, 'short'), ['ran'], 'windows need not be whole seconds')
  const client = clientOf(t, redis)
  const keys = await client.keys('*')
  const rates = keys.filter(key => key.includes('rate:'))
  t.ok(rates.length > 0 && keys.every(key => key.startsWith('p:')), keys.join(' '))
  for (const key of rates) t.ok(await client.pttl(key) > 0, `${key} ends`)
  for (const server of servers) t.ok(server.log.every(({ level }) => Number(level) < 40))
})

t.test('while Redis is away calls go on, each process counting for itself, and none waits for long', real, async t => {
  const { redis, peers: [a, b] } = await two(t, () => [limited(2)])
  t.strictSame(await ends(a, 1), ['ran'])
  for (const [what, begin, end] of [['paused', () => redis.pause(), () => redis.goOn()], ['gone', () => redis.kill(), () => redis.start()]] as const) {
    await begin()
    const from = Date.now()
    t.strictSame(await ends(a, 1), ['ran'], what)
    t.ok(Date.now() - from < 1_500, `${what}: ${Date.now() - from} ms`)
    const next = Date.now()
    t.strictSame(await ends(b, 1), ['ran'])
    await Promise.all([1, 2, 3].map(() => a.call('echo', { text: 'x' })))
    t.ok(Date.now() - next < 1_500)
    await end()
  }
  await redis.kill()
  t.match(await ends(b, 2), [Number, Number], 'in memory it is limited as well')
})
