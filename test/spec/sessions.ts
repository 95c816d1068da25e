// Streamable HTTP of 2025-03-26, 2025-06-18 and 2025-11-25: sessions, the version header, who may speak. Page: basic/transports.
import { randomUUID } from 'node:crypto'
import type { HttpPeer } from '../support/http.js'
import { alive, said, until, type Audit } from '../support/audit.js'

const since = '2025-03-26' as const
const http: Audit['over'] = ['http']

const lives: Audit[] = [
  {
    id: 'transports/sessions-1',
    says: 'a session id MUST be visible ASCII, and SHOULD be unique and hard to guess',
    from: 'basic/transports § Session Management 1',
    over: http,
    since,
    async check (t, it) {
      const ids = []
      for (let i = 0; i < 20; i++) ids.push(String((await it.http()).session))
      for (const id of ids) t.match(id, /^[\x21-\x7e]{22,}$/)
      t.equal(new Set(ids).size, 20)
    }
  },
  {
    id: 'transports/sessions-2',
    says: 'MUST answer 404 to whatever names a session that there is not',
    from: 'basic/transports § Session Management 3',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const live = client.session
      client.session = randomUUID()
      const answers = [
        await client.post(client.compose('tools/list', undefined, { id: 1 })),
        await client.notify('notifications/initialized'), await client.get(), await client.delete()
      ]
      t.same(answers.map(answer => answer.status), [404, 404, 404, 404])
      t.notOk(answers.some(answer => answer.text.includes(live as string)), 'without naming others')
      t.notOk(answers.some(answer => 'mcp-session-id' in answer.headers), 'or opening one')
    }
  },
  {
    id: 'transports/sessions-3',
    says: 'MUST answer 404 once a session was ended by DELETE',
    from: 'basic/transports § Session Management 3, 5',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const stream = await client.get()
      t.match((await client.delete()).status, /^20[024]$/)
      t.ok(await stream.over(1000), 'its stream ends')
      const { status, messages } = await client.raw(JSON.stringify(client.compose('tools/list', undefined, { id: 1 })))
      t.equal(status, 404)
      t.match(messages, [{ error: { code: Number } }])
      t.same([(await client.get()).status, (await client.delete()).status], [404, 404])
    }
  },
  {
    id: 'transports/sessions-4',
    says: 'MUST answer 404 once a session has expired',
    from: 'basic/transports § Session Management 3',
    over: http,
    since,
    server: { options: { sessions: { idle: 150 } } },
    async check (t, it) {
      const client = await it.http()
      await alive(t, client)
      t.ok(await until(() => it.server.app.mcp.stats().sessions === 0), 'expired')
      t.equal((await client.post(client.compose('ping', undefined, { id: 1 }))).status, 404)
    }
  },
  {
    id: 'transports/sessions-5',
    says: 'a client whose session is gone can start a new one with initialize',
    from: 'basic/transports § Session Management 4',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const old = client.session
      await client.delete()
      await client.initialize()
      t.ok(client.session)
      t.not(client.session, old)
      await client.initialized()
      await alive(t, client)
    }
  },
  {
    id: 'transports/sessions-6',
    says: 'DELETE without a session is refused',
    from: 'basic/transports § Session Management 2, 5',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      t.equal((await client.delete({ 'Mcp-Session-Id': undefined })).status, 400)
      await alive(t, client)
    }
  },
  {
    id: 'transports/sessions-7',
    says: 'MAY do without sessions: then no id is given, and none is wanted',
    from: 'basic/transports § Session Management 1, 2',
    over: http,
    since,
    server: { options: { sessions: false } },
    async check (t, it) {
      const client = await it.http()
      t.equal(client.session, undefined)
      t.equal(said(await client.call('echo', { text: 'x' })), 'x')
    }
  },
  {
    id: 'transports/sessions-8',
    says: 'ids of requests belong to their session: the same id in two sessions is two requests',
    from: 'basic/index § Requests; basic/transports § Session Management',
    over: http,
    since,
    async check (t, it) {
      const [a, b] = [await it.http(), await it.http()]
      const ask = (client: HttpPeer, text: string) => client.call('echo', { text }, { id: 1 })
      const [one, two] = await Promise.all([ask(a, 'of a'), ask(b, 'of b')])
      t.same([said(one), said(two)], ['of a', 'of b'])
    }
  }
]

const versions: Audit[] = [
  {
    id: 'transports/version-1',
    says: 'MUST answer an invalid or unsupported MCP-Protocol-Version with 400',
    from: 'basic/transports § Protocol Version Header',
    over: http,
    since: '2025-06-18',
    async check (t, it) {
      const client = await it.http()
      for (const version of ['1999-01-01', 'banana']) {
        const header = { 'MCP-Protocol-Version': version }
        const statuses = [
          (await client.post(client.compose('tools/list', undefined, { id: 1 }), header)).status,
          (await client.notify('notifications/initialized', undefined, { headers: header })).status,
          (await client.get(header)).status, (await client.delete(header)).status
        ]
        t.same(statuses, [400, 400, 400, 400], version)
      }
      await alive(t, client)
    }
  },
  {
    id: 'transports/version-2',
    says: 'without the header the version is that of the session',
    from: 'basic/transports § Protocol Version Header',
    over: http,
    since: '2025-06-18',
    async check (t, it) {
      const { result } = await (await it.http()).call('add', { a: 1, b: 1 }, { headers: { 'MCP-Protocol-Version': undefined } })
      t.same(result?.structuredContent, { sum: 2 }, 'which has structured results')
    }
  },
  {
    id: 'transports/version-3',
    says: 'SHOULD assume 2025-03-26 where neither header nor session says otherwise',
    from: 'basic/transports § Protocol Version Header',
    over: http,
    since: '2025-06-18',
    async check (t, it) {
      const client = await it.http({ handshake: false })
      client.dialect.revision = '2025-03-26'
      const { result } = await client.call('add', { a: 1, b: 1 }, { headers: { 'MCP-Protocol-Version': undefined } })
      t.equal(said({ result } as any), '{"sum":2}')
      t.notOk('structuredContent' in result, 'which has no structured results')
    }
  }
]

const security: Audit[] = [
  {
    id: 'transports/security-1',
    says: 'MUST validate Origin, on all connections; MUST answer an invalid one with 403 (2025-11-25)',
    from: 'basic/transports § Security Warning 1',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const call = client.compose('tools/call', { name: 'echo', arguments: { text: 'evil' } }, { id: 1 })
      for (const Origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
        const answers = [await client.post(call, { Origin }), await client.get({ Origin }), await client.delete({ Origin })]
        t.same(answers.map(answer => answer.status), [403, 403, 403], Origin)
      }
      t.equal((await client.post(client.compose('initialize', {}, { id: 2 }), { Origin: 'https://evil.example' })).status, 403)
      t.same(it.server.echoed, [], 'nothing ran')
      t.equal(it.server.app.mcp.stats().sessions, 1, 'nothing was opened or ended')
      for (const Origin of [`http://localhost:${it.server.port}`, `http://127.0.0.1:${it.server.port}`]) {
        t.equal((await client.post(call, { Origin })).status, 200, Origin)
      }
    }
  },
  {
    id: 'transports/security-2',
    says: 'MUST prevent DNS rebinding: a server on loopback is not spoken to under another name',
    from: 'basic/transports § Security Warning 1',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const ping = client.compose('ping', undefined, { id: 1 })
      for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example']) {
        t.match((await client.post(ping, { Host: host })).status, /^4/, host)
        t.match((await client.get({ Host: host })).status, /^4/, host)
      }
      for (const host of ['localhost', '127.0.0.1', '[::1]']) t.equal((await client.post(ping, { Host: `${host}:${it.server.port}` })).status, 200, host)
    }
  },
  {
    id: 'transports/security-3',
    says: 'origins that the server was told of are valid',
    from: 'basic/transports § Security Warning 1',
    over: http,
    since,
    server: { options: { origins: ['https://app.example'] } },
    async check (t, it) {
      const client = await it.http()
      const ping = client.compose('ping', undefined, { id: 1 })
      t.equal((await client.post(ping, { Origin: 'https://app.example' })).status, 200)
      t.equal((await client.post(ping, { Origin: 'https://app.example.evil.example' })).status, 403)
      t.equal((await client.post(ping, { Origin: 'http://app.example' })).status, 403, 'a scheme is part of an origin')
    }
  }
]

export const sessions: Audit[] = [...lives, ...versions, ...security]
