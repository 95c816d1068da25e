// Section 9, the part that needs no tokens: pages that reach for a server on their visitor's machine.
import Fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions } from '../../types/index.js'
import { build, type Server } from '../support/app.js'
import { send } from '../support/http.js'
import { Inbox } from '../support/stdio.js'
import { callBody, initializeBody, rpcRefusal } from './host.js'

type Headers = Record<string, string>

/** One request to every door of an endpoint; what came back. */
async function knock (url: string, headers: Headers) {
  const ask = async (method: string, path: string, body?: unknown, more: Headers = {}) => {
    const exchange = send(url + path, { method, headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...more, ...headers }, body: body === undefined ? undefined : JSON.stringify(body) }, new Inbox(), () => {})
    const answer = await exchange.answer
    if (answer.streams) exchange.abort()
    return answer
  }
  return {
    call: await ask('POST', '', callBody('echo', { text: 'x' })),
    initialize: await ask('POST', '', initializeBody()),
    slash: await ask('POST', '/', callBody('echo', { text: 'x' })),
    GET: await ask('GET', '', undefined, { Accept: 'text/event-stream' }),
    DELETE: await ask('DELETE', '', undefined, { 'Mcp-Session-Id': 'x' }),
    messages: await ask('POST', '/messages?sessionId=x', callBody('echo', { text: 'x' }))
  }
}

async function refusedEverywhere (t: Test, { url, app, echoed }: Server, headers: Headers) {
  const before = { sessions: app.mcp.stats().sessions, echoed: echoed.length }
  for (const [door, answer] of Object.entries(await knock(url, headers))) {
    rpcRefusal(t, answer, 403, undefined, `${JSON.stringify(headers)} ${door}`)
    t.notOk('id' in answer.json, 'without an id')
  }
  t.strictSame({ sessions: app.mcp.stats().sessions, echoed: echoed.length }, before, 'nothing was carried out')
}

async function servedEverywhere (t: Test, { url }: Server, headers: Headers) {
  const { call, initialize, slash, GET, DELETE, messages } = await knock(url, headers)
  t.strictSame([call, initialize, slash, GET, DELETE, messages].map(({ status }) => status), [200, 200, 200, 200, 404, 404], JSON.stringify(headers))
}

t.test('BB-065 on a loopback address, pages and names from elsewhere are refused', async t => {
  const server = await build(t)
  const { port } = server
  const evil: Headers[] = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: '' },
    { Origin: 'http://localhost.evil.example' },
    { Origin: 'http://127.0.0.1.evil.example' },
    { Origin: 'file://' },
    { Origin: 'chrome-extension://abcdef' },
    { Host: `evil.example:${port}` },
    { Host: 'evil.example' },
    { Host: `localhost.evil.example:${port}` },
    { Host: `127.0.0.1:${port + 1}` },
    { Host: 'localhost' },
    { Host: `evil.example:${port}`, 'X-Forwarded-Host': `localhost:${port}` },
    { Host: `localhost:${port}`, Origin: 'https://evil.example' }
  ]
  for (const headers of evil) await refusedEverywhere(t, server, headers)
  const good: Headers[] = [{}, { Host: `localhost:${port}` }, { Host: `LOCALHOST:${port}` }, { Host: `[::1]:${port}` }, { Origin: 'http://localhost:6274' }, { Origin: 'http://127.0.0.1:3000' }, { Origin: `http://localhost:${port}` }]
  for (const headers of good) await servedEverywhere(t, server, headers)
})

t.test('BB-065 what is let in besides has to be named', async t => {
  const port = 1
  const table: Array<[McpOptions, Headers[], Headers[]]> = [
    [{ origins: ['https://app.example'] }, [{ Origin: 'https://app.example' }, {}], [{ Origin: 'https://app.example:8443' }, { Origin: 'http://app.example' }, { Origin: 'https://evil.example' }]],
    [{ origins: '*' }, [{ Origin: 'https://evil.example' }, { Origin: 'null' }], [{ Host: 'evil.example' }]],
    [{ hosts: ['mcp.example'] }, [{ Host: 'mcp.example' }, { Host: 'MCP.example:8080' }, {}], [{ Host: 'evil.example' }, { Host: `evil.mcp.example:${port}` }]],
    [{ hosts: '*' }, [{ Host: 'evil.example' }], [{ Host: 'evil.example', Origin: 'https://evil.example' }]]
  ]
  for (const [options, good, bad] of table) {
    const server = await build(t, { options })
    for (const headers of good) await servedEverywhere(t, server, headers)
    for (const headers of bad) await refusedEverywhere(t, server, headers)
  }
})

t.test('BB-065 the log names the option that would let it in, the reply does not', async t => {
  const { url, log } = await build(t)
  const { call } = await knock(url, { Origin: 'https://evil.example' })
  t.notMatch(call.text, /origins|hosts/)
  t.match(log.filter(line => line.option === 'origins')[0], { level: 40, value: 'https://evil.example' })
})

t.test('BB-065 the other routes of the app are not guarded', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/public', async () => 'x')
  await app.register(mcpPlugin)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/public`
  const { status } = await send(url, { method: 'GET', headers: { Host: 'evil.example', Origin: 'https://evil.example' } }, new Inbox(), () => {}).answer
  t.equal(status, 200)
  const injected = await app.inject({ method: 'POST', url: '/mcp', headers: { host: 'evil.example' }, payload: callBody('x') })
  t.equal(injected.statusCode, 200, 'and what is injected has come from no page')
})
