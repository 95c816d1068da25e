// What a client is owed while Redis is away, has lost what it knew, or refuses what it is asked.
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { Type } from '@sinclair/typebox'
import type { McpOptions } from '../../types/index.js'
import { build, defineTool } from '../support/app.js'
import { Cable } from '../support/cable.js'
import { send } from '../support/http.js'
import { clientOf, startRedis, withoutRedis } from '../support/redis.js'
import { Inbox } from '../support/stdio.js'
import { until, wait } from '../support/time.js'
import { heard, lastId, Roamer } from './cluster.js'
import { steps } from './steps.js'

const skip = withoutRedis()
const real = skip === false ? {} : { skip }
const jsonOnly = { accept: 'application/json' }

const tools = [
  steps,
  defineTool({
    name: 'pay',
    async handler (_, ctx) { return (await ctx.elicit('Is 4111-SECRET your card?', Type.Object({ yes: Type.Boolean() }))).action }
  })
]
const progress = { _meta: { progressToken: 'p' } }
const stepsOf = (answer: { messages: any[] }) => answer.messages.map(one => one.params?.progress).filter(Boolean)
const pay = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'pay', arguments: {} } })

/** Two processes; the Redis of the first can be cut off. */
async function pair (t: Test, options: McpOptions = {}, timeout = 2_000) {
  const redis = await startRedis(t)
  const cable = await Cable.to(t, redis.port)
  const [a, b] = await Promise.all([cable, redis].map(to => build(t, { options: { redis: { client: clientOf(t, to), timeout }, tools, ...options } }))) as [any, any]
  return { redis, cable, a, b }
}

t.test('what calls say while their process is cut off comes when it is back, each once, in order, and the streams end', real, async t => {
  const { cable, a, b } = await pair(t)
  const client = new Roamer(t)
  await client.open(a)
  const begin = async () => {
    const call = client.call(a, 'steps', { n: 15, ms: 100 }, progress)
    const first = await call.answer
    t.ok(await until(() => first.messages.length >= 2))
    call.abort()
    return { first, id: call.id }
  }
  const [here, later] = [await begin(), await begin()]
  const reading = await client.listen(b, lastId(here.first)).answer
  t.equal(reading.status, 200)
  const kept = await client.call(a, 'steps', { n: 5, ms: 50 }, progress).answer
  cable.cut()
  t.ok(await kept.over(), 'a stream that is connected ends with its answer')
  t.strictSame(stepsOf(kept), [1, 2, 3, 4, 5])
  await wait(3_000)
  t.equal(a.app.mcp.stats().calls, 0, 'all calls are over')
  cable.mend()
  t.ok(await reading.over(8_000), 'who read all the time hears the end')
  t.strictSame([...stepsOf(here.first), ...stepsOf(reading)], Array.from({ length: 15 }, (_, i) => i + 1))
  t.match(reading.messages.at(-1), { id: here.id, result: { content: [{ text: 'all done' }] } })
  const rest = await client.listen(b, lastId(later.first)).answer
  t.ok(await rest.over(8_000), 'who comes back afterwards, too')
  t.strictSame([...stepsOf(later.first), ...stepsOf(rest)], Array.from({ length: 15 }, (_, i) => i + 1))
  t.match(rest.messages.at(-1), { id: later.id, result: { content: [{ text: 'all done' }] } })
})

t.test('what cannot be kept until Redis is back is lost, and who waits for it is told', real, async t => {
  const { cable, a, b } = await pair(t, { sse: { replay: { size: 2_000 } } }, 200)
  const client = new Roamer(t)
  await client.open(a)
  const call = client.call(a, 'steps', { n: 15, ms: 100, bytes: 500 }, progress)
  const first = await call.answer
  t.ok(await until(() => first.messages.length >= 2))
  call.abort()
  const id = lastId(first)
  const reading = await client.listen(b, id).answer
  cable.cut()
  await wait(2_000)
  cable.mend()
  t.ok(await reading.over(8_000))
  t.match(reading.messages.at(-1), { id: call.id, error: { code: -32603, message: /lost/ } })
  const late = await client.listen(b, lastId(reading) ?? id).answer
  t.ok(late.status === 400 || await late.over(8_000), 'nobody waits for ever')
})

t.test('a stream is not left open by a session that Redis has lost', real, async t => {
  const { redis, a, b } = await pair(t)
  const client = new Roamer(t)
  await client.open(a)
  const stream = await client.listen(b).answer
  const { answer, abort } = send(a.url, { method: 'GET', headers: { accept: 'text/event-stream' } }, new Inbox(), (message, answer) => answer.inbox.push(message))
  t.teardown(abort)
  const old = await answer
  t.ok(await until(() => old.events.length === 1))
  await clientOf(t, redis).flushall()
  t.ok(await stream.over(8_000), 'it ends, though its client says nothing')
  const endpoint = new URL(old.events[0]?.data as string, b.url).href
  const other = new Roamer(t)
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  t.ok(await old.over(10).then(over => !over), 'a session of HTTP+SSE is in its process')
  let status = 0
  for (const from = Date.now(); status !== 202 && Date.now() - from < 8_000; await wait(50)) status = (await other.post(endpoint, ping)).status
  t.equal(status, 202, 'and found again')
  t.ok(await heard(old, one => one.id === 1))
})

t.test('what is said to a session while the process of its stream is cut off comes when it is back, before what comes then', real, async t => {
  const { cable, a, b } = await pair(t)
  const client = new Roamer(t)
  await client.open(b)
  const stream = await client.listen(a).answer
  cable.cut()
  t.ok(await until(() => !a.app.mcp.health().ok, 8_000))
  const first = client.post(b.url, pay(1), jsonOnly)
  await wait(300)
  cable.mend()
  t.ok(await until(() => a.app.mcp.health().ok, 8_000))
  const second = client.post(b.url, pay(2), jsonOnly)
  const asked = () => stream.messages.filter(one => one.method === 'elicitation/create')
  t.ok(await until(() => asked().length === 2, 8_000), 'both questions, once each')
  t.ok(String(asked()[0]?.id) < String(asked()[1]?.id), 'in order')
  for (const { id } of asked()) await client.answer(b, id, { action: 'decline' })
  for (const call of [first, second]) t.match((await call).messages[0], { result: { content: [{ text: 'decline' }] } })
})

t.test('a stream whose end could not be told gives its place when it can', real, async t => {
  const { cable, a, b } = await pair(t)
  const client = new Roamer(t)
  await client.open(b)
  const older = await client.listen(b).answer
  const newest = client.listen(a)
  await newest.answer
  cable.cut()
  t.ok(await until(() => !a.app.mcp.health().ok, 8_000))
  newest.abort()
  t.ok(await until(() => a.app.mcp.stats().streams === 0))
  await wait(500)
  cable.mend()
  await wait(8_000)
  b.app.mcp.tools.disable('noargs')
  t.ok(await heard(older, one => one.method === 'notifications/tools/list_changed'), 'the other brings what comes')
})

t.test('Redis that refuses to write is no Redis that is well, and nothing that users say is in the log', real, async t => {
  const redis = await startRedis(t)
  const admin = new Redis(redis.port)
  t.teardown(() => admin.disconnect())
  const a = await build(t, { options: { redis: clientOf(t, redis), tools } })
  const client = new Roamer(t)
  await client.open(a)
  const stream = await client.listen(a).answer
  t.equal(stream.status, 200)
  await admin.config('SET', 'maxmemory', '1mb')
  const refused = await client.post(a.url, pay(70), jsonOnly)
  await refused.over(8_000)
  t.match(refused.messages[0], { id: 70, result: { isError: true, content: [{ text: /question/i }] } }, 'a question that cannot be put fails')
  t.match(a.app.mcp.health(), { ok: false, shared: { ok: false, error: /OOM/ } })
  a.app.mcp.tools.disable('noargs')
  t.ok(await heard(stream, one => one.method === 'notifications/tools/list_changed'), 'changes are told here')
  t.equal((await new Roamer(t).open(a)).status, 503)
  const log = JSON.stringify(a.log)
  t.match(log, /OOM/)
  t.notMatch(log, /SECRET|EVALSHA|"command"|"args"|XADD|roamer/)
  await admin.config('SET', 'maxmemory', '0')
  t.ok(await until(() => a.app.mcp.health().ok, 8_000), 'and it is well again by itself')
  const asked = client.post(a.url, pay(71), jsonOnly)
  t.ok(await heard(stream, one => one.method === 'elicitation/create'))
  await client.answer(a, stream.messages.findLast(one => one.method === 'elicitation/create')?.id, { action: 'decline' })
  t.match((await asked).messages[0], { id: 71, result: { content: [{ text: 'decline' }] } })
})
