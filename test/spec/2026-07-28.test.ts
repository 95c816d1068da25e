import t from 'tap'
import { Type } from '@sinclair/typebox'
import { defineTool } from '../support/app.js'
import { legacy, type Answer } from '../support/http.js'
import { metaKey } from '../support/stdio.js'
import { alive, both, refused, run, said, type Audit } from '../support/audit.js'
import { features } from './features.js'
import { listening } from './listening.js'
import { mirrored } from './mirrored.js'
import { modernHttp } from './modern-http.js'
import { tools } from './tools.js'

const http: Audit['over'] = ['http']
const streamableHttp = 'basic/transports/streamable-http'

const base: Audit[] = [
  {
    id: 'base/result-1',
    says: 'a result MUST have a resultType, complete when it is final',
    from: 'basic/index § Result Responses, § ResultType',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const { result } of [await client.request('tools/list'), await client.request('server/discover'), await client.call('boom'), await client.call('add', { a: 1, b: 2 })]) {
        t.equal(result?.resultType, 'complete')
      }
    }
  },
  {
    id: 'base/result-2',
    says: 'SHOULD name itself in the _meta of every result',
    from: 'basic/index § Per-response protocol fields',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const { result } of [await client.request('tools/list'), await client.request('server/discover'), await client.call('echo', { text: 'x' })]) {
        t.match(result._meta[`${metaKey}serverInfo`], { name: 'audited', version: '1.2.3' })
      }
    }
  },
  {
    id: 'base/meta-3',
    says: 'MUST refuse a request without a required field of _meta with -32602, over HTTP with 400',
    from: 'basic/index § Per-request protocol fields',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const spoilt: Array<Record<string, unknown>> = [{ [`${metaKey}clientCapabilities`]: undefined }, { [`${metaKey}clientCapabilities`]: 'x' }, { [`${metaKey}clientCapabilities`]: null }]
      // Over stdio a request without a version is one of an older revision.
      if (it.over === 'http') spoilt.push({ [`${metaKey}protocolVersion`]: undefined }, { [`${metaKey}protocolVersion`]: 7 })
      for (const meta of spoilt) {
        const heard = await client.raw(JSON.stringify(client.compose('tools/list', undefined, { id: 'm', meta })))
        refused(t, heard, -32602, JSON.stringify(meta))
        t.equal(heard.messages[0]?.id, 'm', 'with the id of the request')
      }
      await alive(t, client)
    }
  },
  {
    id: 'base/meta-4',
    says: 'MUST refuse a request without _meta, which the header says is of this revision, with -32602 and 400',
    from: 'basic/index § Per-request protocol fields',
    over: http,
    async check (t, it) {
      const client = await it.http()
      for (const params of [undefined, {}, { _meta: {} }]) {
        const answer = await client.post({ jsonrpc: '2.0', id: 'm', method: 'tools/list', params })
        t.match([answer.status, answer.json], [400, { id: 'm', error: { code: -32602 } }], JSON.stringify(params))
      }
    }
  },
  {
    id: 'base/meta-5',
    says: 'clientInfo is not required',
    from: 'basic/index § Per-request protocol fields',
    over: both,
    async check (t, it) {
      const { result } = await (await it.connect()).call('echo', { text: 'x' }, { meta: { [`${metaKey}clientInfo`]: undefined } })
      t.ok(result)
    }
  },
  {
    id: 'base/stateless-1',
    says: 'MUST NOT rely on prior requests for who the client is and what it can do',
    from: 'basic/index § Statelessness',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const who = async (meta: Record<string, unknown>) => JSON.parse(said(await client.call('who', undefined, { meta })))
      const first = await who({ [`${metaKey}clientInfo`]: { name: 'first', version: '1' }, [`${metaKey}clientCapabilities`]: { roots: {} } })
      t.same(first, { client: { name: 'first', version: '1' }, capabilities: { roots: {} }, session: false })
      const second = await who({ [`${metaKey}clientInfo`]: undefined })
      t.same(second, { capabilities: {}, session: false })
    }
  }
]

const versioning: Audit[] = [
  {
    id: 'versioning/negotiation-1',
    says: 'MUST refuse a version it does not have with -32022, over HTTP with 400, and say which it has',
    from: 'basic/versioning § Protocol Version Negotiation',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { supportedVersions } = (await client.request('server/discover')).result
      for (const version of ['1900-01-01', '2027-01-01', 'banana']) {
        const options = { meta: { [`${metaKey}protocolVersion`]: version }, headers: { 'MCP-Protocol-Version': version } }
        const { error, answer } = await client.request('tools/list', undefined, options)
        t.equal(error?.code, -32022, version)
        t.same(error?.data, { supported: supportedVersions, requested: version })
        if (answer !== undefined) t.equal(answer.status, 400)
      }
    }
  },
  {
    id: 'versioning/compatibility-1',
    says: 'a server of both eras serves both at the same endpoint, by how the client opens',
    from: 'basic/versioning § Backward Compatibility with Initialization-Based Versions',
    over: http,
    async check (t, it) {
      const client = await it.http()
      const old = await legacy(it.server.url, '2025-06-18', { t })
      t.ok(old.session)
      t.equal(said(await old.call('echo', { text: 'old' })), 'old')
      t.equal(said(await client.call('echo', { text: 'new' })), 'new')
      t.notOk('mcp-session-id' in ((await client.request('tools/list')).answer as Answer).headers)
    }
  },
  {
    id: 'versioning/compatibility-2',
    says: 'SHOULD name the versions it supports in the error it returns to initialize',
    from: 'basic/versioning § Backward Compatibility with Initialization-Based Versions',
    over: both,
    server: { options: { revisions: ['2026-07-28'] } },
    async check (t, it) {
      const client = await it.connect()
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } }
      const message = { jsonrpc: '2.0', id: 'i', method: 'initialize', params }
      const heard = 'post' in client
        ? await (client as any).post(message, { 'MCP-Protocol-Version': undefined, 'Mcp-Method': undefined })
        : await client.raw(JSON.stringify(message))
      t.match(heard.messages, [{ id: 'i', error: { code: Number } }])
      t.match(JSON.stringify(heard.messages[0]?.error), /2026-07-28/)
      if (it.over === 'http') t.equal(heard.status, 400)
    }
  },
  {
    id: 'versioning/compatibility-3',
    says: 'a server without this revision refuses it with an error that is none of this revision, so that the client falls back',
    from: `basic/versioning § Backward Compatibility, § Compatibility Matrix; ${streamableHttp} § Backward Compatibility`,
    over: both,
    server: { options: { revisions: ['2025-11-25', '2025-06-18'] } },
    async check (t, it) {
      const client = await it.connect()
      const heard = await client.raw(JSON.stringify(client.compose('server/discover', undefined, { id: 'probe' })))
      t.match(heard.messages, [{ id: 'probe', error: { code: Number } }])
      t.notOk([-32020, -32021, -32022].includes(heard.messages[0]?.error?.code), 'no modern error')
      if (heard.status !== undefined) t.match(heard.status, /^4/)
    }
  }
]

const discover: Audit[] = [
  {
    id: 'discover/response-1',
    says: 'MUST implement server/discover: versions, capabilities, caching hints',
    from: 'server/discover § Response; server/utilities/caching § Cacheable Results',
    over: both,
    server: { options: { instructions: 'Add up first.' } },
    async check (t, it) {
      const { result } = await (await it.connect()).request('server/discover')
      t.ok(result.supportedVersions.includes('2026-07-28'))
      t.type(result.capabilities.tools, 'object')
      t.equal(result.instructions, 'Add up first.')
      t.ok(Number.isInteger(result.ttlMs) && result.ttlMs >= 0)
      t.match(result.cacheScope, /^(public|private)$/)
    }
  },
  {
    id: 'discover/response-2',
    says: 'what is declared works, and what is not declared is no method',
    from: 'server/discover § DiscoverResult; server/tools § Capabilities',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { capabilities } = (await client.request('server/discover')).result
      for (const [capability, method] of [['tools', 'tools/list'], ['prompts', 'prompts/list'], ['resources', 'resources/list'], ['resources', 'resources/templates/list']] as const) {
        const { result, error } = await client.request(method)
        if (capability in capabilities) t.ok(result, method)
        else t.equal(error?.code, -32601, method)
      }
    }
  },
  {
    id: 'discover/response-3',
    says: 'every version that it names is one that it speaks',
    from: 'server/discover § DiscoverResult',
    over: http,
    async check (t, it) {
      const { supportedVersions } = (await (await it.http()).request('server/discover')).result
      const old = supportedVersions.filter((version: string) => version !== '2026-07-28')
      t.ok(old.length > 0)
      for (const version of old) {
        const { result } = await (await legacy(it.server.url, version, { t, handshake: false })).initialize()
        t.equal(result?.protocolVersion, version)
      }
    }
  },
  {
    id: 'logging/capability-1',
    says: 'MUST declare logging, since it sends log messages',
    from: 'server/utilities/logging § Capabilities',
    over: both,
    async check (t, it) {
      t.type((await (await it.connect()).request('server/discover')).result.capabilities.logging, 'object')
    }
  }
]

const caching: Audit[] = [
  {
    id: 'caching/hints-1',
    says: 'MUST give caching hints with tools/list and server/discover, those that were chosen',
    from: 'server/utilities/caching § Cacheable Results, § Time-to-Live (TTL) Field',
    over: both,
    server: { options: { cache: { ttlMs: 1234, cacheScope: 'private' } } },
    async check (t, it) {
      const client = await it.connect()
      for (const method of ['tools/list', 'server/discover']) {
        t.match((await client.request(method)).result, { ttlMs: 1234, cacheScope: 'private' }, method)
      }
    }
  },
  {
    id: 'caching/hints-2',
    says: 'MUST give all pages of a list the same cacheScope',
    from: 'server/utilities/caching § Interaction with Pagination',
    over: both,
    server: { options: { pageSize: 5, cache: { cacheScope: 'private' } } },
    async check (t, it) {
      const client = await it.connect()
      const scopes: string[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined && scopes.length < 20;) {
        const { result }: any = await client.request('tools/list', cursor === '' ? {} : { cursor })
        scopes.push(result.cacheScope)
        cursor = result.nextCursor
      }
      t.ok(scopes.length > 2)
      t.same([...new Set(scopes)], ['private'])
    }
  },
  {
    id: 'tools/list-3',
    says: 'the list MUST NOT vary by connection or by what was asked before, and SHOULD keep its order',
    from: 'server/tools § Capabilities',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const names = async (peer = client) => (await peer.request('tools/list')).result.tools.map((tool: any) => tool.name)
      const first = await names()
      t.ok(first.includes('echo') && first.includes('opt'))
      await client.call('toggle', { name: 'opt', on: false })
      t.same(await names(), first.filter((name: string) => name !== 'opt'))
      await client.call('toggle', { name: 'opt', on: true })
      for (let i = 0; i < 3; i++) t.same(await names(it.over === 'http' ? await it.http() : client), first)
    }
  },
  {
    id: 'tools/structured-4',
    says: 'structuredContent can be any JSON value, as the outputSchema says',
    from: 'server/tools § Structured Content; changelog minor 10',
    over: both,
    server: {
      options: {
        tools: [
          defineTool({ name: 'rows', outputSchema: Type.Array(Type.Object({ id: Type.String() })), handler: () => [{ id: '1' }, { id: '2' }] }),
          defineTool({ name: 'count', outputSchema: Type.Integer(), handler: () => 0 })
        ]
      }
    },
    async check (t, it) {
      const client = await it.connect()
      t.same((await client.call('rows')).result.structuredContent, [{ id: '1' }, { id: '2' }])
      t.equal((await client.call('count')).result.structuredContent, 0)
    }
  }
]

await run(t, '2026-07-28', [
  ...base, ...versioning, ...discover, ...caching, ...modernHttp, ...listening, ...mirrored, ...features, ...tools
])
