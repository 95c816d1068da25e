// Processes that die, and a Redis that goes away, under real servers.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startRedis, withoutRedis } from '../support/redis.js'
import { until, wait } from '../support/time.js'
import { heard, lastId, Roamer } from './cluster.js'

const fixture = fileURLToPath(new URL('../fixture/server.js', import.meta.url))
const skip = withoutRedis()
const real = skip === false ? {} : { skip }

interface Server { url: string, pid: number, child: ChildProcess, log: () => string }

async function start (t: Test, env: Record<string, string>): Promise<any> {
  const child = spawn(process.execPath, [fixture], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => { child.kill('SIGKILL') })
  let log = ''
  let out = ''
  child.stderr.on('data', chunk => { log += chunk })
  child.stdout.on('data', chunk => { out += chunk })
  if (!await until(() => out.includes('\n'), 20_000)) throw new Error(`no server: ${log}`)
  const server: Server = { ...JSON.parse(out), child, log: () => log }
  return server
}

/** As a client does that is told to come again. */
async function opened (client: Roamer, server: any): Promise<void> {
  for (let i = 0; i < 200; i++) {
    client.session = ''
    if ((await client.open(server)).status === 200) return
    await wait(50)
  }
}

const progress = { _meta: { progressToken: 'p' } }
const steps = (answer: { messages: any[] }) => answer.messages.map(one => one.params?.progress).filter(Boolean)

t.test('a client whose process was killed hears in another that its call is lost', real, async t => {
  const redis = await startRedis(t)
  const [a, b] = await Promise.all([1, 2].map(() => start(t, { REDIS_URL: redis.url })))
  const client = new Roamer(t)
  await client.open(a)
  const call = client.call(a, 'progress', { n: 1_000, delayMs: 50 }, progress)
  const first = await call.answer
  t.ok(await until(() => first.messages.length >= 3))
  const reading = await client.listen(b, first.events[0]?.id).answer
  t.ok(await until(() => reading.messages.length >= 3), 'another process follows it while it lives')
  a.child.kill('SIGKILL')
  const from = Date.now()
  t.ok(await heard(reading, message => message.id === call.id, 20_000))
  t.match(reading.messages.at(-1), { id: call.id, error: { code: -32603, message: /gone/ } })
  t.ok(await reading.over(), 'and the stream ends')
  t.comment(`told after ${Date.now() - from} ms`)
  t.strictSame(steps(reading), steps(reading).map((_, i) => i + 1), 'each step that was made, once')
  const late = await client.listen(b, lastId(reading)).answer
  t.ok(await late.over(20_000))
  t.match(late.messages, [{ id: call.id, error: { message: /gone/ } }], 'whoever asks again is told again')
  t.match(await client.ask(b, 'tools/call', { name: 'echo', arguments: { text: 'on' } }), { result: { content: [{ text: 'on' }] } }, 'the session goes on')
})

t.test('the newest stream of a session dies with its process: an older one brings what follows, questions of that time too', real, async t => {
  const redis = await startRedis(t)
  const [a, b] = await Promise.all([1, 2].map(() => start(t, { REDIS_URL: redis.url })))
  const [client, alone] = [new Roamer(t), new Roamer(t)]
  for (const one of [client, alone]) await one.open(a)
  await alone.listen(b).answer
  const older = await client.listen(a).answer
  t.equal((await client.listen(b).answer).status, 200)
  const toggle = (on: boolean) => client.ask(a, 'tools/call', { name: 'toggle', arguments: { name: 'echo', on } })
  b.child.kill('SIGKILL')
  await once(b.child, 'exit')
  await toggle(false)
  const ask = async ({ session, version }: Roamer) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'mcp-session-id': session, 'mcp-protocol-version': version }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'q', method: 'tools/call', params: { name: 'ask_name', arguments: {} } })
    return await (await fetch(a.url, { method: 'POST', headers, body })).json()
  }
  const [answer, nobody] = [ask(client), ask(alone)]
  t.ok(await heard(older, message => message.method === 'elicitation/create', 20_000), 'the question')
  await client.answer(a, older.messages.find(one => one.method === 'elicitation/create')?.id, { action: 'accept', content: { name: 'Ada' } })
  t.match(await nobody, { result: { isError: true, content: [{ text: /no other/ }] } }, 'one that no stream is left for fails')
  t.match(await answer, { id: 'q', result: { content: [{ text: /Ada/ }] } })
  const changes = () => older.messages.filter(one => one.method === 'notifications/tools/list_changed').length
  t.ok(await until(() => changes() === 1, 5_000), 'the change while nobody knew')
  await toggle(true)
  t.ok(await until(() => changes() === 2), 'and the next')
  t.equal(new Set(older.events.map(one => one.id)).size, older.events.length, 'each with an id of its own')
})

t.test('BB-068 while Redis is away or does not answer: what needs it is refused in time, the rest goes on', real, async t => {
  const redis = await startRedis(t)
  const [a, b] = await Promise.all([1, 2].map(() => start(t, { REDIS_URL: redis.url })))
  const client = new Roamer(t)
  await client.open(a)
  await client.ask(a, 'resources/subscribe', { uri: 'mem://a' })
  const listening = await client.listen(b).answer
  const stateless = async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
    const response = await fetch(a.url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' }, _meta: meta } }) })
    return response.status
  }
  const timed = async <T>(what: () => Promise<T>): Promise<[T, number]> => {
    const from = Date.now()
    return [await what(), Date.now() - from]
  }
  const ping = async () => (await client.post(a.url, { jsonrpc: '2.0', id: 1, method: 'ping' })).status
  const trouble: [string, () => unknown, () => unknown][] = [
    ['paused', () => redis.pause(), () => redis.goOn()],
    ['restarted', () => redis.kill(), () => redis.start()]
  ]
  for (const [name, begin, end] of trouble) {
    const call = await client.call(a, 'progress', { n: 12, delayMs: 100 }, progress).answer
    await begin()
    const [status, ms] = await timed(ping)
    t.equal(status, 503, `${name}: a call of a session`)
    t.ok(ms < 3_500, `${name}: in ${ms} ms`)
    const [second, soon] = await timed(ping)
    t.strictSame([second, soon < 2_500], [503, true], `${name}: the next one in ${soon} ms`)
    t.equal(await stateless(), 200, `${name}: a call that stands alone`)
    t.ok(await call.over(10_000), `${name}: a call that runs ends`)
    t.strictSame(steps(call), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], `${name}: with all that it had to say`)
    t.match(call.messages.at(-1), { result: { content: [{ text: 'done' }] } })
    await end()
    const [, back] = await timed(async () => { for (let i = 0; i < 100 && await ping() === 503; i++) await wait(50) })
    t.comment(`${name}: back after ${back} ms`)
    if (name === 'paused') {
      t.equal(await ping(), 200, 'paused: the session is there again')
      await client.ask(a, 'tools/call', { name: 'touch', arguments: { uri: 'mem://a' } })
      t.ok(await heard(listening, message => message.method === 'notifications/resources/updated', 10_000), 'paused: changes are heard again')
    } else {
      t.equal(await ping(), 404, 'restarted with nothing kept: the client is told to begin anew')
      await opened(client, b)
      t.equal(await ping(), 200)
    }
  }
  t.ok(a.log().split('\n').filter((line: string) => /redis/i.test(line)).length < 20, 'no flood of lines')
})

t.test('a server starts and closes without Redis', real, async t => {
  const redis = await startRedis(t)
  await redis.kill()
  const a = await start(t, { REDIS_URL: redis.url })
  const client = new Roamer(t)
  t.equal((await client.open(a)).status, 503)
  await redis.start()
  await opened(client, a)
  t.match(await client.ask(a, 'ping'), { result: {} }, 'it connects by itself')
  const from503 = Date.now()
  while ((await client.listen(a).answer).status === 503 && Date.now() - from503 < 15_000) await wait(50)
  t.equal((await client.listen(a).answer).status, 200, `and hears the others, after ${Date.now() - from503} ms`)
  await redis.kill()
  const from = Date.now()
  a.child.kill('SIGTERM')
  const [code] = await once(a.child, 'exit')
  t.equal(code, 0)
  t.ok(Date.now() - from < 8_000, `closed in ${Date.now() - from} ms`)
})
