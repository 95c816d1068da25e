import t from 'tap'
import { httpSse, send, type Answer, type SsePeer } from '../support/http.js'
import { Inbox, isResponse, sleep } from '../support/stdio.js'
import { alive, run, said, until, type Audit, type Subject } from '../support/audit.js'
import { features } from './features.js'
import { handshake } from './handshake.js'
import { tools } from './tools.js'

const http: Audit['over'] = ['http']
const open = (it: Subject, handshake = true) => it.connect({ handshake }) as Promise<SsePeer>

const get = (url: string, headers: Record<string, string>): Promise<Answer> =>
  send(url, { method: 'GET', headers: { Accept: 'text/event-stream', ...headers } }, new Inbox(), () => {}).answer

const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  send(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) }, new Inbox(), () => {}).answer

const ping = { jsonrpc: '2.0', id: 'ping', method: 'ping' }

const own: Audit[] = [
  {
    id: 'transports/sse-1',
    says: 'MUST send an endpoint event with a URI when a client connects, before anything else',
    from: 'basic/transports § HTTP with SSE',
    over: http,
    async check (t, it) {
      const { stream, endpoint } = await open(it, false)
      t.equal(stream.status, 200)
      t.equal(stream.type, 'text/event-stream')
      t.equal(stream.events[0]?.event, 'endpoint')
      t.equal(new URL(endpoint).origin, new URL(it.server.url).origin)
      await sleep(30)
      t.equal(stream.events.length, 1)
    }
  },
  {
    id: 'transports/sse-2',
    says: 'MUST take messages as HTTP POST requests to that endpoint',
    from: 'basic/transports § HTTP with SSE',
    over: http,
    async check (t, it) {
      const client = await open(it)
      t.equal(said(await client.call('echo', { text: 'up' })), 'up')
      t.same(client.posted.filter(answer => answer.status < 200 || answer.status > 299), [])
      t.equal(client.posted.length, 3)
    }
  },
  {
    id: 'transports/sse-3',
    says: 'messages of the server are message events with JSON as their data, and nowhere else',
    from: 'basic/transports § HTTP with SSE',
    over: http,
    async check (t, it) {
      const client = await open(it)
      await client.call('progress', { n: 2 }, { meta: { progressToken: 'p' } })
      const [, ...events] = client.stream.events
      t.equal(events.length, 4, 'initialize, two of progress, the result')
      t.same(events.map(event => event.event), ['message', 'message', 'message', 'message'])
      t.same(events.map(event => JSON.parse(event.data).jsonrpc), ['2.0', '2.0', '2.0', '2.0'])
      t.same(client.posted.filter(answer => answer.text.includes('jsonrpc')), [], 'not in the answer to a POST')
    }
  },
  {
    id: 'transports/sse-4',
    says: 'can handle multiple clients, each with an endpoint of its own',
    from: 'basic/transports § HTTP with SSE (first paragraph)',
    over: http,
    async check (t, it) {
      const [a, b] = [await open(it), await open(it)]
      t.not(a.endpoint, b.endpoint)
      const [one, two] = await Promise.all([a.call('echo', { text: 'of a' }, { id: 1 }), b.call('echo', { text: 'of b' }, { id: 1 })])
      t.same([said(one), said(two)], ['of a', 'of b'])
      t.equal(a.all.messages.filter(isResponse).length, 2, 'nobody hears the other')
    }
  },
  {
    id: 'transports/sse-5',
    says: 'an endpoint that was never given is refused',
    from: 'basic/transports § HTTP with SSE',
    over: http,
    async check (t, it) {
      const client = await open(it)
      const foreign = new URL(client.endpoint)
      for (const name of foreign.searchParams.keys()) foreign.searchParams.set(name, '00000000-0000-4000-8000-000000000000')
      t.not(foreign.href, client.endpoint)
      t.match((await post(foreign.href, ping)).status, /^4/, 'another session')
      t.match((await post(foreign.href.replace(/\?.*/, ''), ping)).status, /^4/, 'no session')
      await sleep(30)
      t.same(client.all.messages.filter(message => message.id === 'ping'), [])
      await alive(t, client)
    }
  },
  {
    id: 'transports/sse-6',
    says: 'shutdown is the end of the HTTP connection: then the endpoint is gone',
    from: 'basic/lifecycle § Shutdown, HTTP',
    over: http,
    async check (t, it) {
      const client = await open(it)
      t.equal(it.server.app.mcp.stats().sessions, 1)
      client.stream.close()
      t.ok(await until(() => it.server.app.mcp.stats().sessions === 0))
      t.match((await post(client.endpoint, ping)).status, /^4/)
    }
  },
  {
    id: 'transports/sse-7',
    says: 'the server can end the connection: its streams end cleanly when the app closes',
    from: 'basic/lifecycle § Shutdown, HTTP',
    over: http,
    async check (t, it) {
      const client = await open(it)
      const begun = Date.now()
      await it.server.app.close()
      t.ok(Date.now() - begun < 1000)
      t.ok(await client.stream.over(500))
      t.notOk(client.stream.cut)
    }
  },
  {
    id: 'transports/sse-8',
    says: 'the endpoint can be found under a prefix',
    from: 'basic/transports § HTTP with SSE',
    over: http,
    server: { options: { path: '/deep/down/mcp' } },
    async check (t, it) {
      const client = await open(it)
      t.equal(said(await client.call('echo', { text: 'deep' })), 'deep')
      t.notMatch(new URL(client.endpoint).pathname, /\/\//)
    }
  },
  {
    id: 'transports/sse-9',
    says: 'another transport can share the endpoint: both are hosted for older clients',
    from: '2025-11-25 basic/transports § Backwards Compatibility',
    over: http,
    async check (t, it) {
      const old = await httpSse(it.server.url, { t })
      const streamable = await it.http()
      t.equal(said(await old.call('echo', { text: 'old' })), 'old')
      t.equal(said(await streamable.call('echo', { text: 'small client' })), 'small client')
    }
  },
  {
    id: 'transports/security-1',
    says: 'MUST validate Origin on all connections',
    from: 'basic/transports § HTTP with SSE, Security Warning 1',
    over: http,
    async check (t, it) {
      const client = await open(it)
      const evil = { Origin: 'https://evil.example' }
      const call = client.compose('tools/call', { name: 'echo', arguments: { text: 'evil' } }, { id: 1 })
      t.equal((await get(it.server.url, evil)).status, 403, 'to listen')
      t.equal((await post(client.endpoint, call, evil)).status, 403, 'to speak')
      t.equal((await post(client.endpoint, call, { Origin: 'null' })).status, 403)
      t.same(it.server.echoed, [])
      t.equal(it.server.app.mcp.stats().sessions, 1)
      t.match((await post(client.endpoint, call, { Origin: `http://localhost:${it.server.port}` })).status, /^2/)
    }
  },
  {
    id: 'transports/security-2',
    says: 'MUST prevent DNS rebinding: a server on loopback is not spoken to under another name',
    from: 'basic/transports § HTTP with SSE, Security Warning 1',
    over: http,
    async check (t, it) {
      const client = await open(it)
      t.match((await get(it.server.url, { Host: 'evil.example' })).status, /^4/)
      t.match((await post(client.endpoint, ping, { Host: 'evil.example' })).status, /^4/)
      t.equal(it.server.app.mcp.stats().sessions, 1)
    }
  }
]

await run(t, '2024-11-05', [...handshake, ...features, ...tools, ...own])
