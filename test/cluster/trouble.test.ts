// What must not go wrong where processes share a real Redis: lifetimes, connections that are cut, and what strangers say.
import t, { type Test } from 'tap'
import { Redis } from 'ioredis'
import type { McpOptions } from '../../types/index.js'
import { build, type Server } from '../support/app.js'
import { send, type Answer } from '../support/http.js'
import { proxyTo } from '../support/proxy.js'
import { clientOf, startRedis, withoutRedis, type RedisServer } from '../support/redis.js'
import { Inbox } from '../support/stdio.js'
import { until, wait } from '../support/time.js'
import { heard, lastId, methods, Roamer } from './cluster.js'

const skip = withoutRedis()
const real = skip === false ? {} : { skip }
const resources = [{ uri: 'mem://a', name: 'a', read: () => 'A' }] as never
const CHANGED = 'notifications/tools/list_changed'
const UPDATED = 'notifications/resources/updated'
const VERSION = '2026-07-28'

async function clientAt (t: Test, port: number, options = {}): Promise<Redis> {
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, ...options })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

async function start (t: Test, port: number, options: McpOptions = {}): Promise<Server> {
  return await build(t, { options: { resources, ...options, redis: { client: await clientAt(t, port), prefix: 'p:' } } })
}

const take = (message: any, answer: Answer) => { answer.inbox.push(message) }

/** A stream for changes of 2026-07-28. */
async function listen (t: Test, { url }: Server, notifications: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': VERSION, 'mcp-method': 'subscriptions/listen' }
  const _meta = { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {} }
  const { answer, abort } = send(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications, _meta } }) }, new Inbox(), take)
  t.teardown(abort)
  const stream = await answer
  t.ok(await heard(stream, message => message.method === 'notifications/subscriptions/acknowledged'))
  return stream
}

const everything = { toolsListChanged: true, resourceSubscriptions: ['mem://a'] }
const tells = (stream: Answer, method: string, ms?: number) => heard(stream, message => message.method === method, ms)

async function endless (t: Test, redis: RedisServer): Promise<string[]> {
  const client = clientOf(t, redis)
  const keys = await client.keys('*')
  t.ok(keys.length > 2, `${keys.length} keys`)
  const ttls = await Promise.all(keys.map(key => client.pttl(key)))
  return keys.filter((_, i) => ttls[i] === -1)
}

t.test('without sessions a change is heard in all processes, and what is kept has an end', real, async t => {
  const redis = await startRedis(t)
  const [a, b] = await Promise.all([1, 2].map(() => start(t, redis.port, { sessions: false, httpSse: true }))) as [Server, Server]
  const stream = await listen(t, b, everything)
  a.app.mcp.tools.disable('noargs')
  t.ok(await tells(stream, CHANGED))
  a.app.mcp.resources.updated('mem://a')
  t.ok(await tells(stream, UPDATED))
  const sse = send(a.url, { method: 'GET', headers: { accept: 'text/event-stream' } }, new Inbox(), take)
  t.teardown(sse.abort)
  const answer = await sse.answer
  t.equal(answer.status, 200, 'HTTP+SSE has its sessions all the same')
  t.ok(await until(() => answer.events.length === 1))
  t.strictSame(await endless(t, redis), [])
})

t.test('whatever is done, no key is without an end', real, async t => {
  const redis = await startRedis(t)
  const [a, b] = await Promise.all([1, 2].map(() => start(t, redis.port))) as [Server, Server]
  const client = new Roamer(t)
  await client.open(a)
  await client.ask(b, 'resources/subscribe', { uri: 'mem://a' })
  await client.ask(a, 'logging/setLevel', { level: 'info' })
  const listening = client.listen(b)
  const stream = await listening.answer
  const call = client.call(a, 'progress', { n: 20, delayMs: 20 }, { _meta: { progressToken: 'p' } })
  const first = await call.answer
  t.ok(await until(() => first.messages.length >= 2))
  call.abort()
  const rest = await client.listen(b, lastId(first)).answer
  t.ok(await rest.over())
  a.app.mcp.resources.updated('mem://a')
  t.ok(await tells(stream, UPDATED))
  listening.abort()
  t.ok(await until(() => b.app.mcp.stats().streams === 0))
  await client.listen(a, lastId(stream)).answer
  t.strictSame(await endless(t, redis), [])
})

t.test('nobody goes on from where it never was, and Redis is not asked', real, async t => {
  const redis = await startRedis(t)
  const server = await start(t, redis.port)
  const client = new Roamer(t)
  await client.open(server)
  const stream = client.listen(server)
  const answer = await stream.answer
  t.ok(await until(() => lastId(answer) !== undefined))
  const [id, journal, own] = (lastId(answer) as string).split('.') as [string, string, string]
  stream.abort()
  t.ok(await until(() => server.app.mcp.stats().streams === 0))
  const probe = clientOf(t, redis)
  const later = `${Number(journal.slice(0, 13)) + 3_600_000}-000000`
  const early = '0000000000001-000000'
  for (let i = 0; i < 600; i++) await probe.xadd('p:{journal}', '*', 'e', '{}')
  await probe.config('RESETSTAT')
  for (let i = 0; i < 10; i++) t.equal((await client.listen(server, `-0123456789ab_01234567.${early}.${early}`).answer).status, 400)
  t.notMatch(await probe.info('commandstats'), /cmdstat_xrange|cmdstat_xadd/)
  t.equal((await client.listen(server, `${id}.${later}.${own}`).answer).status, 400, 'nor from where nobody has been yet')
  const other = new Roamer(t)
  await other.open(server)
  t.equal((await other.listen(server, lastId(answer)).answer).status, 400, 'nor from before its session was')
  t.equal((await client.listen(server, lastId(answer)).answer).status, 200)
  const [, longest] = /cmdstat_xrange:calls=(\d+)/.exec(await probe.info('commandstats')) ?? []
  t.ok(Number(longest) >= 2, 'what is far away comes in pieces')
})

t.test('a process that was cut off tells what it missed, of lists and of resources', real, async t => {
  const redis = await startRedis(t)
  const proxy = await proxyTo(t, redis.port)
  const [a, b] = await Promise.all([redis.port, proxy.port].map(port => start(t, port))) as [Server, Server]
  const client = new Roamer(t)
  await client.open(a)
  await client.ask(a, 'resources/subscribe', { uri: 'mem://a' })
  const streams = [await client.listen(b).answer, await listen(t, b, everything)] as const
  // Calls, as a server has them: they use up what is sent to find out whether Redis is there again.
  const stop = new AbortController()
  const calls = (async () => {
    while (!stop.signal.aborted) {
      await client.post(b.url, { jsonrpc: '2.0', id: 1, method: 'ping' })
      await wait(10)
    }
  })()
  for (const kept of [true, false]) {
    const before = streams.map(one => one.messages.length)
    const news = (what: string) => Promise.all(streams.map((one, i) => until(() => methods(one).slice(before[i]).includes(what), 8_000)))
    proxy.cut()
    t.ok(await until(() => !b.app.mcp.health().ok))
    a.app.mcp.resources.updated('mem://a')
    if (kept) a.app.mcp.tools.disable('noargs')
    await wait(300)
    if (!kept) await clientOf(t, redis).call('XTRIM', 'p:{journal}', 'MAXLEN', 0)
    proxy.mend()
    t.strictSame(await news(UPDATED), [true, true], kept ? 'as it was' : 'or that it may have been')
    t.strictSame(await news(CHANGED), [true, true])
  }
  stop.abort()
  await calls
  t.equal(b.log.filter(line => Number(line.level) > 30).length, 2, 'one line each time')
})

t.test('what a stranger announces stops nothing, nor does a Redis whose ids go back', real, async t => {
  const redis = await startRedis(t)
  const [a, b] = await Promise.all([1, 2].map(() => start(t, redis.port))) as [Server, Server]
  const stranger = clientOf(t, redis)
  const ahead = JSON.stringify(['{journal}', `${Date.now() + 600_000}-000000`, '{"kind":"change","change":{"kind":"prompts"}}'])
  for (const one of ['["{journal}","9",null]', `["{journal}","${Date.now() + 600_000}-000000",null]`, ahead]) {
    t.equal(await stranger.publish('p:all', one), 2)
    await wait(50)
    const streams = [await listen(t, a, everything), await listen(t, b, everything)]
    a.app.mcp.resources.updated('mem://a')
    for (const stream of streams) t.ok(await tells(stream, UPDATED), one)
    const client = new Roamer(t)
    await client.open(a)
    t.equal((await client.listen(b).answer).status, 200)
  }
})

t.test('Redis gone, and another in its place whose clock is behind', real, async t => {
  const redis = await startRedis(t)
  const [a, b] = await Promise.all([1, 2].map(() => start(t, redis.port))) as [Server, Server]
  const streams = [await listen(t, a, everything), await listen(t, b, everything)]
  const stranger = clientOf(t, redis)
  await stranger.publish('p:all', JSON.stringify(['{journal}', `${Date.now() + 600_000}-000000`, '{"kind":"change","change":{"kind":"prompts"}}']))
  await wait(50)
  await redis.kill()
  await redis.start()
  for (const stream of streams) t.ok(await tells(stream, UPDATED, 10_000), 'anything may have changed')
  const before = streams.map(one => one.messages.length)
  b.app.mcp.tools.disable('noargs')
  for (const [i, stream] of streams.entries()) t.ok(await until(() => methods(stream).slice(before[i]).includes(CHANGED), 10_000))
})

t.test('a client without a queue starts without a line in the log', real, async t => {
  const redis = await startRedis(t)
  for (const lazyConnect of [false, true]) {
    const client = await clientAt(t, redis.port, { enableOfflineQueue: false, lazyConnect })
    const { app, log } = await build(t, { options: { redis: { client, prefix: 'q:' } } })
    t.strictSame(log.filter(line => Number(line.level) > 30), [])
    t.match(app.mcp.health(), { ok: true, shared: { ok: true } })
    t.equal(await clientOf(t, redis).exists('q:state-key'), 0)
    t.ok((await clientOf(t, redis).keys('q:process:*')).length > 0, 'what it says first has arrived')
  }
})
