// What all revisions with an `initialize` handshake say alike: lifecycle, messages, ping, logging.
import { revisions } from '../support/wire.js'
import { isNote, isResponse, sleep } from '../support/stdio.js'
import { alive, both, until, type Audit } from '../support/audit.js'

const handshakeRevisions: string[] = revisions.slice(0, 4)

const lifecycle: Audit[] = [
  {
    id: 'lifecycle/initialization-1',
    says: 'MUST answer initialize with its own capabilities and information',
    from: 'basic/lifecycle § Initialization',
    over: both,
    async check (t, it) {
      const { result } = await (await it.connect({ handshake: false })).initialize()
      t.type(result.capabilities, 'object')
      t.match(result.serverInfo, { name: 'audited', version: '1.2.3' })
    }
  },
  {
    id: 'lifecycle/initialization-2',
    says: 'initialize without a version is answered: as invalid params, or with a version',
    from: 'basic/lifecycle § Initialization; schema InitializeRequest',
    over: both,
    async check (t, it) {
      for (const protocolVersion of [undefined, 7]) {
        const { result, error } = await (await it.connect({ handshake: false })).initialize({ protocolVersion })
        t.ok(error?.code === -32602 || handshakeRevisions.includes(result?.protocolVersion), `${protocolVersion}`)
        if (it.over === 'stdio') break
      }
    }
  },
  {
    id: 'lifecycle/initialization-3',
    says: 'MUST take capabilities it does not know: they are no closed set',
    from: 'basic/lifecycle § Capability Negotiation; schema ClientCapabilities',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      const { result } = await client.initialize({ capabilities: { future: { a: 1 }, experimental: { 'com.example/x': {} }, roots: { listChanged: true } } })
      t.ok(result?.capabilities)
    }
  },
  {
    id: 'lifecycle/initialization-4',
    says: 'MUST NOT answer notifications/initialized',
    from: 'basic/lifecycle § Initialization; basic/index § Notifications',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      await client.initialize()
      const heard = await client.raw(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
      t.same(heard.messages.filter(isResponse), [])
      if (heard.status !== undefined) t.match(heard.status, /^20[024]$/)
      await alive(t, client)
    }
  },
  {
    id: 'lifecycle/initialization-5',
    says: 'pings are answered before notifications/initialized, and so is what overtakes it',
    from: 'basic/lifecycle § Initialization; basic/utilities/ping § Behavior Requirements',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      await client.initialize()
      t.same((await client.request('ping')).result, {})
      t.ok((await client.request('tools/list')).result?.tools.length)
    }
  },
  {
    id: 'lifecycle/version-1',
    says: 'MUST answer with the version that was asked for, if it supports it',
    from: 'basic/lifecycle § Version Negotiation',
    over: both,
    async check (t, it) {
      const { result } = await (await it.connect({ handshake: false })).initialize({ protocolVersion: it.revision })
      t.equal(result.protocolVersion, it.revision)
    }
  },
  {
    id: 'lifecycle/version-2',
    says: 'MUST answer an unknown version with one that it supports, SHOULD with its latest',
    from: 'basic/lifecycle § Version Negotiation',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      const { result } = await client.initialize({ protocolVersion: '2099-01-01' })
      // HTTP+SSE is of 2024-11-05 only; through initialize the latest is the last with a handshake.
      t.equal(result?.protocolVersion, 'endpoint' in client ? '2024-11-05' : '2025-11-25')
    }
  },
  {
    id: 'lifecycle/operation-1',
    says: 'MUST only use what was negotiated: what is declared works, what is not declared does not exist',
    from: 'basic/lifecycle § Operation, § Capability Negotiation',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      const { capabilities } = (await client.initialize()).result
      await client.initialized()
      const methods: Array<[string, string, unknown?]> = [
        ['tools', 'tools/list'], ['logging', 'logging/setLevel', { level: 'error' }],
        ['prompts', 'prompts/list'], ['resources', 'resources/list'], ['resources', 'resources/templates/list']
      ]
      for (const [capability, method, params] of methods) {
        const { result, error } = await client.request(method, params)
        if (capability in capabilities) t.ok(result, `${method} works`)
        else t.equal(error?.code, -32601, `${method} does not exist`)
      }
      t.ok('tools' in capabilities && 'logging' in capabilities)
    }
  },
  {
    id: 'lifecycle/operation-2',
    says: 'MUST respect the negotiated version: nothing younger in the answer to initialize',
    from: 'basic/lifecycle § Operation (SHOULD before 2025-06-18); schema InitializeResult, Implementation, ServerCapabilities',
    over: both,
    server: {
      options: {
        serverInfo: {
          name: 'audited', version: '1', title: 'T', description: 'D', websiteUrl: 'https://a.example', icons: [{ src: 'https://a.example/i.png' }]
        }
      }
    },
    async check (t, it) {
      const { result } = await (await it.connect({ handshake: false })).initialize()
      const words = ['name', 'version', ...(it.revision >= '2025-06-18' ? ['title'] : [])]
      if (it.revision >= '2025-11-25') words.push('description', 'websiteUrl', 'icons')
      t.same(Object.keys(result.serverInfo).sort(), words.sort())
      t.same(Object.keys(result).filter(key => !['protocolVersion', 'capabilities', 'serverInfo', 'instructions', '_meta'].includes(key)), [])
      const known = ['experimental', 'logging', 'prompts', 'resources', 'tools', ...(it.revision >= '2025-03-26' ? ['completions'] : [])]
      t.same(Object.keys(result.capabilities).filter(key => !known.includes(key)), [])
    }
  },
  {
    id: 'lifecycle/shutdown-1',
    says: 'the end of its input is the end of the server, after what was asked is answered',
    from: 'basic/lifecycle § Shutdown, stdio',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      const call = client.start('tools/call', { name: 'slow', arguments: { ms: 100 } })
      client.input.end()
      t.equal((await call.reply).result?.content[0].text, 'done')
      t.equal(await Promise.race([client.done.then(() => 'ended'), sleep(1500)]), 'ended')
    }
  }
]

const ping: Audit[] = [
  {
    id: 'ping/behavior-1',
    says: 'MUST answer a ping promptly with an empty result, whatever else goes on',
    from: 'basic/utilities/ping § Behavior Requirements',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const call = client.start('tools/call', { name: 'slow', arguments: { ms: 400 } })
      const begun = Date.now()
      t.same((await client.request('ping')).result, {})
      t.ok(Date.now() - begun < 300, 'not queued behind a call')
      t.ok((await call.reply).result)
    }
  }
]

const logging: Audit[] = [
  {
    id: 'logging/capability-1',
    says: 'MUST declare logging, since it sends log messages',
    from: 'server/utilities/logging § Capabilities',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      t.type((await client.initialize()).result.capabilities.logging, 'object')
      await client.initialized()
      await client.request('logging/setLevel', { level: 'debug' })
      const { notes } = await client.call('log', { level: 'info', n: 1 })
      t.equal(notes.filter(isNote('notifications/message')).length, 1)
    }
  },
  {
    id: 'logging/level-1',
    says: 'logging/setLevel gets an empty result',
    from: 'server/utilities/logging § Setting Log Level, § Message Flow',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const level of ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']) {
        t.same((await client.request('logging/setLevel', { level })).result, {}, level)
      }
    }
  },
  {
    id: 'logging/level-2',
    says: 'only sends messages of the level that was set and above',
    from: 'server/utilities/logging § Message Flow, § Log Levels',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const count = async (level: string) => (await client.call('log', { level, n: 2 })).notes.filter(isNote('notifications/message')).length
      await client.request('logging/setLevel', { level: 'warning' })
      t.equal(await count('notice'), 0)
      t.equal(await count('warning'), 2)
      t.equal(await count('emergency'), 2)
      await client.request('logging/setLevel', { level: 'debug' })
      t.equal(await count('debug'), 2)
    }
  },
  {
    id: 'logging/messages-1',
    says: 'a message has its level, its logger and its data',
    from: 'server/utilities/logging § Log Message Notifications',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      await client.request('logging/setLevel', { level: 'debug' })
      const { notes } = await client.call('log', { level: 'error', n: 1 })
      t.match(notes, [{ method: 'notifications/message', params: { level: 'error', logger: 'audit', data: { i: 1 } } }])
    }
  },
  {
    id: 'logging/errors-1',
    says: 'SHOULD refuse an unknown level with -32602',
    from: 'server/utilities/logging § Error Handling',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const params of [{ level: 'loud' }, {}, { level: 3 }]) {
        t.match((await client.request('logging/setLevel', params)).error, { code: -32602, message: String }, JSON.stringify(params))
      }
    }
  }
]

const messages: Audit[] = [
  {
    id: 'base/errors-1',
    says: 'an unknown method is -32601; over HTTP not with 404, which means that the session is gone',
    from: 'basic/index § Responses; basic/transports § Session Management 3',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { error, id, answer } = await client.request('vendor/unknown', undefined, { id: 'u-1' })
      t.match(error, { code: -32601, message: String })
      t.equal(id, 'u-1')
      if (answer !== undefined) t.equal(answer.status, 200)
      await alive(t, client)
    }
  },
  {
    id: 'cancellation/behavior-1',
    says: 'SHOULD stop a cancelled request and SHOULD NOT answer it',
    from: 'basic/utilities/cancellation § Behavior Requirements',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const call = client.start('tools/call', { name: 'slow', arguments: { ms: 2000 } })
      await until(() => it.server.app.mcp.stats().calls === 1)
      await client.notify('notifications/cancelled', { requestId: call.id, reason: 'enough' })
      t.ok(await until(() => it.server.slow.length === 1, 500), 'stopped')
      t.same(it.server.slow, [{ ms: 2000, outcome: 'aborted' }])
      if (call.answer !== undefined) t.ok(await (await call.answer).over(1000), 'the HTTP exchange ends')
      await sleep(100)
      t.same(call.inbox.messages.filter(isResponse), [])
      await alive(t, client)
    }
  },
  {
    id: 'cancellation/behavior-2',
    says: 'a cancellation names one request of its own client, by an id of the same type',
    from: 'basic/utilities/cancellation § Behavior Requirements; basic/index § Requests',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const call = client.start('tools/call', { name: 'slow', arguments: { ms: 200 } }, { id: 7 })
      await until(() => it.server.app.mcp.stats().calls === 1)
      await client.notify('notifications/cancelled', { requestId: '7' })
      if (it.over === 'http') {
        const other = await it.connect()
        await other.notify('notifications/cancelled', { requestId: 7 })
      }
      t.equal((await call.reply).result?.content[0].text, 'done')
    }
  },
  {
    id: 'cancellation/behavior-3',
    says: 'initialize is not cancelled',
    from: 'basic/utilities/cancellation § Behavior Requirements',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      t.equal((await client.initialize()).id, 'init')
      await client.notify('notifications/cancelled', { requestId: 'init' })
      await client.initialized()
      await alive(t, client)
    }
  }
]

export const handshake: Audit[] = [...lifecycle, ...messages, ...ping, ...logging]
