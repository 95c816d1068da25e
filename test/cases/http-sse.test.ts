// Section 6: the HTTP+SSE transport of 2024-11-05.
import Fastify, { type FastifyInstance } from 'fastify'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions } from '../../types/index.js'
import { build } from '../support/app.js'
import { said, until } from '../support/audit.js'
import { httpSse, HttpPeer, legacy, modern } from '../support/http.js'
import { legacyDialect } from '../support/stdio.js'
import { host, initializeBody, PATIENCE, pingBody, rpcRefusal } from './host.js'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'

/** An app with the plugin at the end of nested prefixes, the last given in one of two ways. */
async function mounted (t: Test, prefixes: string[], how: 'scope' | 'option', options: McpOptions) {
  const app = Fastify()
  t.teardown(() => app.close())
  const nest = async (scope: FastifyInstance, [first, ...rest]: string[]): Promise<void> => {
    if (first === undefined) await scope.register(mcpPlugin, options)
    else if (rest.length === 0 && how === 'option') await scope.register(mcpPlugin, { ...options, prefix: first })
    else await scope.register(async child => { await nest(child, rest) }, { prefix: first })
  }
  await nest(app, prefixes)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

t.test('BB-043 the endpoint event leads to where the plugin is mounted', async t => {
  const table: Array<[string[], McpOptions, string]> = [
    [[], {}, '/mcp'],
    [['/api/v2'], {}, '/api/v2/mcp'],
    [['/api/v2/'], {}, '/api/v2/mcp'],
    [['/a', '/b'], {}, '/a/b/mcp'],
    [['/a/', '/b/'], {}, '/a/b/mcp'],
    [['/api'], { path: '/sse' }, '/api/sse'],
    [['/api'], { path: '/sse/' }, '/api/sse/'],
    [['/api'], { path: '/' }, '/api'],
    [[], { path: '/' }, '/']
  ]
  for (const [prefixes, options, path] of table) {
    for (const how of ['scope', 'option'] as const) {
      const base = await mounted(t, prefixes, how, options)
      for (const query of ['', '?key=1']) {
        const title = `${prefixes.join(' in ')} ${options.path ?? ''} by ${how} ${query}`
        const client = await httpSse(`${base}${path}${query}`, { t })
        const data = client.stream.events[0]?.data ?? ''
        t.match(data, /^\//, `${title}: a path`)
        t.notMatch(data, /\/\//, `${title}: without an empty part`)
        t.notMatch(data, /127\.0\.0\.1|localhost/, `${title}: without a host`)
        t.match(data, /[?&]sessionId=[\w-]{32,}/, `${title}: with an id that nobody guesses`)
        t.equal(new URL(client.endpoint).origin, base, `${title}: same origin`)
        t.match((await client.request('ping')).result, {}, `${title}: and is served`)
        t.equal(client.posted[0]?.status, 202)
        client.stream.close()
      }
    }
  }
})

t.test('BB-043 a forged Host leads nowhere', async t => {
  const { base } = await host(t, app => app.register(mcpPlugin, { hosts: '*' }))
  for (const headers of [{ Host: 'evil.example' }, { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Prefix': '//evil.example' }]) {
    const { stream } = await httpSse(`${base}/mcp`, { t, handshake: false, headers })
    t.match(stream.events[0]?.data, /^\/mcp\/messages\?sessionId=/)
  }
})

t.test('BB-043 behind a proxy that is trusted and that takes off a prefix, the prefix is put back', async t => {
  const { base } = await host(t, app => app.register(mcpPlugin, { hosts: '*' }), { trustProxy: true })
  const at = async (prefix: string) => (await httpSse(`${base}/mcp`, { t, handshake: false, headers: { 'X-Forwarded-Prefix': prefix } })).stream.events[0]?.data
  t.match(await at('/public/app'), /^\/public\/app\/mcp\/messages\?/)
  for (const bad of ['//evil.example', 'https://evil.example', '/a"b', '/a b', '/..//x', 'evil.example/x']) t.match(await at(bad), /^\/mcp\/messages\?/, bad)
})

t.test('BB-044 whoever posts has to name an open stream', async t => {
  const { url, app } = await build(t)
  const a = await httpSse(url, { t })
  const streamable = await legacy(url, '2025-06-18', { t })
  const heard = a.all.messages.length
  const post = async (query: string) => await new HttpPeer(t, `${url}/messages${query}`, legacyDialect('2024-11-05')).post(pingBody('intruder'))
  rpcRefusal(t, await post(''), 400, undefined, 'no session')
  rpcRefusal(t, await post('?sessionId='), [400, 404], undefined, 'an empty one')
  rpcRefusal(t, await post('?sessionId=a&sessionId=b'), 400, undefined, 'two')
  rpcRefusal(t, await post(`?sessionId=${UNKNOWN}`), 404, undefined, 'an unknown one')
  rpcRefusal(t, await post(`?sessionId=${streamable.session}`), 404, undefined, 'one of another transport')
  const { searchParams } = new URL(a.endpoint)
  const own = searchParams.get('sessionId') as string
  rpcRefusal(t, await streamable.post(pingBody(), { 'Mcp-Session-Id': own }), 404, undefined, 'nor is it one of that')
  rpcRefusal(t, await streamable.get({ 'Mcp-Session-Id': own }), 404)
  rpcRefusal(t, await streamable.delete({ 'Mcp-Session-Id': own }), 404)
  t.equal(a.all.messages.length, heard, 'nothing reached the stream')
  t.match((await a.request('ping')).result, {}, 'its own client is served')
  a.stream.close()
  t.ok(await until(() => app.mcp.stats().streams === 0, PATIENCE))
  rpcRefusal(t, await post(`?sessionId=${own}`), 404, undefined, 'after the stream has closed')
  t.equal(app.mcp.stats().sessions, 1, 'its session went with it')
})

t.test('BB-044 what is refused by the door is refused there too', async t => {
  const { url } = await build(t)
  const a = await httpSse(url, { t })
  const post = async (body: string, headers = {}) => await a.write(body, headers)
  rpcRefusal(t, await post(JSON.stringify(pingBody()), { 'Content-Type': 'text/plain' }), [415, 400])
  rpcRefusal(t, await post('{'), 400, -32700)
  rpcRefusal(t, await post('x'.repeat(1_200_000)), 413)
  t.match((await a.request('ping')).result, {}, 'and the stream goes on')
})

t.test('BB-044 a client that leaves takes its calls with it', async t => {
  const { url, slow, app } = await build(t)
  const a = await httpSse(url, { t })
  a.start('tools/call', { name: 'slow', arguments: { ms: 60_000 } })
  t.ok(await until(() => app.mcp.stats().calls === 1, PATIENCE))
  a.stream.close()
  t.ok(await until(() => slow.length === 1, PATIENCE))
  t.strictSame(slow, [{ ms: 60_000, outcome: 'aborted' }])
  t.strictSame(app.mcp.stats(), { sessions: 0, streams: 0, calls: 0 })
})

t.test('BB-045 clients that try one transport after the other find theirs', async t => {
  const post = async (url: string, protocolVersion = '2025-11-25') => await new HttpPeer(t, url, legacyDialect('2025-11-25')).post(initializeBody(1, protocolVersion))
  const get = async (url: string, headers = {}) => await new HttpPeer(t, url, legacyDialect('2024-11-05')).get(headers)
  const both = await build(t, { options: { path: '/sse' } })
  t.match((await post(both.url)).json.result, { protocolVersion: '2025-11-25' }, 'the URL of the stream takes POST as well')
  t.match((await post(both.url, '2024-11-05')).json.result, { protocolVersion: '2024-11-05' })
  t.equal((await get(both.url)).status, 200, 'and GET')
  t.equal((await get(both.url, { 'MCP-Protocol-Version': '2024-11-05' })).status, 200)
  rpcRefusal(t, await get(both.url, { 'MCP-Protocol-Version': '2025-11-25' }), [400, 405], undefined, 'but not for a client of a revision that has sessions')

  const without = await build(t, { options: { httpSse: false } })
  rpcRefusal(t, await get(without.url), [400, 405], undefined, 'where HTTP+SSE is off')
  t.equal((await without.app.inject({ method: 'POST', url: '/mcp/messages?sessionId=x', payload: pingBody() })).statusCode, 404, 'and nothing takes its messages')
  t.equal(without.app.mcp.stats().streams, 0)
})

t.test('BB-045 an endpoint without a handshake names what it speaks', async t => {
  const { url } = await build(t, { options: { revisions: ['2026-07-28'] } })
  const client = new HttpPeer(t, url, legacyDialect('2025-11-25'))
  const answer = await client.post(initializeBody(3))
  t.equal(answer.status, 400)
  t.match(answer.json, { id: 3, error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2025-11-25' } } })
  t.match((await modern(url, { t }).call('echo', { text: 'x' })), { result: { content: [{ text: 'x' }] } })
  t.equal(said(await modern(url, { t }).call('echo', { text: 'y' })), 'y')
})
