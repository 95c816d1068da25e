// A Redis of several machines: keys lie here and there, what is published is counted by the one that was told, and one may fail.
import t, { type Test } from 'tap'
import { Type } from '@sinclair/typebox'
import { defineTool } from '../support/app.js'
import { send } from '../support/http.js'
import { withoutRedis } from '../support/redis.js'
import { RedisCluster } from '../support/redis-cluster.js'
import { Inbox } from '../support/stdio.js'
import { until, wait } from '../support/time.js'
import { apps, heard, lastId, Roamer } from './cluster.js'
import { steps } from './steps.js'

const skip = withoutRedis()
const real = skip === false ? {} : { skip }

const tools = [
  defineTool({ name: 'ask_name', handler: async (_, ctx) => (await ctx.elicit('Your name?', Type.Object({ name: Type.String() }))).action }),
  steps,
  defineTool({ name: 'rare', rateLimit: { max: 1, timeWindow: 60_000 }, handler: () => 'taken' })
]
const progress = { _meta: { progressToken: 'p' } }
let cluster: RedisCluster
t.before(async () => { if (skip === false) cluster = await RedisCluster.start(t) })

let prefixes = 0
const several = (t: Test, count: number) => {
  const prefix = `t${++prefixes}:`
  return apps(t, async t => () => ({ redis: { client: cluster.client(t), prefix } }), count, { tools }) as Promise<any[]>
}

t.test('initialize on A, call on B, listen on C, answer at D, resume on E', real, async t => {
  const [a, b, c, d, e] = await several(t, 5)
  const client = new Roamer(t)
  t.equal((await client.open(a)).status, 200)
  const listening = await client.listen(c).answer
  a.app.mcp.tools.disable('noargs')
  t.ok(await heard(listening, one => one.method === 'notifications/tools/list_changed'))

  const asked = client.post(b.url, { jsonrpc: '2.0', id: 'q', method: 'tools/call', params: { name: 'ask_name', arguments: {} } }, { accept: 'application/json' })
  t.ok(await heard(listening, one => one.method === 'elicitation/create'), 'on the stream of another process')
  t.equal((await client.answer(d, listening.messages.at(-1)?.id, { action: 'decline' })).status, 202)
  t.match((await asked).messages[0], { id: 'q', result: { content: [{ text: 'decline' }] } })

  const going = client.call(b, 'steps', { n: 10, ms: 40 }, progress)
  const first = await going.answer
  t.ok(await until(() => first.messages.length >= 3))
  going.abort()
  const rest = await client.listen(e, lastId(first)).answer
  t.ok(await rest.over())
  t.strictSame([...first.messages, ...rest.messages].map(one => one.params?.progress).filter(Boolean), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  t.match(rest.messages.at(-1), { id: going.id, result: { content: [{ text: 'all done' }] } })

  t.match(await client.ask(c, 'tools/call', { name: 'rare', arguments: {} }), { result: { content: [{ text: 'taken' }] } })
  t.match(await client.ask(d, 'tools/call', { name: 'rare', arguments: {} }), { result: { isError: true } }, 'what is counted is counted for all')
  t.equal((await client.end(d)).status, 204)
  t.ok(await listening.over())
})

t.test('HTTP+SSE: messages come in at any process', real, async t => {
  const servers = await several(t, 6)
  const { answer, abort } = send(servers[0].url, { method: 'GET', headers: { accept: 'text/event-stream' } }, new Inbox(), (message, answer) => answer.inbox.push(message))
  t.teardown(abort)
  const stream = await answer
  t.ok(await until(() => stream.events.length === 1))
  const client = new Roamer(t)
  const initialize = { jsonrpc: '2.0', id: 'i', method: 'initialize', params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' } } }
  const endpoint = (server: any) => new URL(stream.events[0]?.data as string, server.url).href
  t.equal((await client.post(endpoint(servers[0]), initialize)).status, 202)
  for (const [id, server] of servers.entries()) t.equal((await client.post(endpoint(server), { jsonrpc: '2.0', id, method: 'ping' })).status, 202, `at ${id}`)
  t.ok(await until(() => stream.messages.length === 7))
})

t.test('a master that fails: what needs its keys waits or fails in time, until a replica has taken its place', real, async t => {
  const [a, b] = await several(t, 2)
  const client = new Roamer(t)
  await client.open(a)
  const stream = await client.listen(b).answer
  const state = { killed: false }
  const killing = cluster.killMasterOf(`t${prefixes}:session:{${client.session}}`).then(() => { state.killed = true })
  const times: number[] = []
  let answered = 0
  for (const from = Date.now(); (!state.killed || answered < 5) && Date.now() - from < 40_000;) {
    const began = Date.now()
    const { status, messages } = await client.post(b.url, { jsonrpc: '2.0', id: 1, method: 'ping' })
    times.push(Date.now() - began)
    if (![200, 503].includes(status)) t.fail(`${status} ${JSON.stringify(messages)}`)
    answered = status === 200 ? answered + 1 : 0
    await wait(50)
  }
  await killing
  t.ok(answered >= 5, 'the session goes on')
  t.ok(Math.max(...times) < 3_000, `no call waited longer than a command may take: ${Math.max(...times)} ms`)
  t.ok(await until(() => a.app.mcp.health().ok && b.app.mcp.health().ok, 10_000), 'all is well again')
  a.app.mcp.tools.disable('noargs')
  t.ok(await heard(stream, one => one.method === 'notifications/tools/list_changed', 10_000), 'and a change is told')
  t.match(await client.ask(a, 'tools/call', { name: 'steps', arguments: { n: 1, ms: 1 } }), { result: { content: [{ text: 'all done' }] } })
})
