// What all five revisions say of tools. The pages have the same name in all of them.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { build, defineTool, secret } from '../support/app.js'
import { isNote } from '../support/stdio.js'
import { alive, both, said, until, type Audit, type Subject } from '../support/audit.js'

/** The members that a revision's schema gives to a tool. */
function toolWords ({ revision }: Subject): string[] {
  const words = ['name', 'description', 'inputSchema']
  if (revision >= '2025-03-26') words.push('annotations')
  if (revision >= '2025-06-18') words.push('title', 'outputSchema', '_meta')
  if (revision >= '2025-11-25') words.push('icons')
  return words
}

const listing: Audit[] = [
  {
    id: 'tools/capability-1',
    says: 'MUST declare the tools capability, and listChanged if it tells of changes',
    from: 'server/tools § Capabilities',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      const { result } = it.revision === '2026-07-28' ? await client.request('server/discover') : await client.initialize()
      t.same(result.capabilities.tools, { listChanged: true })
    }
  },
  {
    id: 'tools/list-1',
    says: 'tools/list gives each tool with its name, its description and the schema of its arguments',
    from: 'server/tools § Listing Tools, § Tool',
    over: both,
    async check (t, it) {
      const { tools } = (await (await it.connect()).request('tools/list')).result
      const add = tools.find((tool: any) => tool.name === 'add')
      t.match(add, {
        description: 'Adds two numbers.',
        inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }
      })
      t.same(tools.filter((tool: any) => tool.inputSchema?.type !== 'object'), [], 'always an object')
    }
  },
  {
    id: 'tools/list-2',
    says: 'MUST respect the version: a tool has all words of its revision and none of a younger one',
    from: 'server/tools § Tool; schema Tool; basic/lifecycle § Operation (SHOULD before 2025-06-18)',
    over: both,
    async check (t, it) {
      const { tools, ...rest } = (await (await it.connect()).request('tools/list')).result
      const add = tools.find((tool: any) => tool.name === 'add')
      t.same(Object.keys(add).sort(), toolWords(it).sort())
      const own = it.revision === '2026-07-28' ? ['_meta', 'cacheScope', 'resultType', 'ttlMs'] : []
      t.same(Object.keys(rest).sort(), own)
    }
  },
  {
    id: 'tools/list-changed-1',
    says: 'SHOULD tell when the list changes; what is gone is not listed and cannot be called',
    from: 'server/tools § List Changed Notification',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { tools } = it.server.app.mcp
      const stream = it.revision === '2026-07-28' ? client.listen({ toolsListChanged: true }).inbox : await client.events()
      if (it.revision === '2026-07-28') await stream.first('the acknowledgement', isNote('notifications/subscriptions/acknowledged'))
      tools.disable('opt')
      await stream.first('the change', isNote('notifications/tools/list_changed'))
      const names = async () => (await client.request('tools/list')).result.tools.map((tool: any) => tool.name)
      t.notOk((await names()).includes('opt'))
      t.equal((await client.call('opt')).error?.code, -32602)
      tools.enable('opt')
      await until(() => stream.messages.filter(isNote('notifications/tools/list_changed')).length > 1)
      t.equal(stream.messages.filter(isNote('notifications/tools/list_changed')).length, 2)
      t.ok((await names()).includes('opt'))
    }
  }
]

const quiet: Audit[] = [
  {
    id: 'tools/list-changed-2',
    says: 'is told of a change when the list changes, not when it does not',
    from: 'server/tools § List Changed Notification',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const stream = it.revision === '2026-07-28' ? client.listen({ toolsListChanged: true }).inbox : await client.events()
      await stream.during(200)
      t.equal(it.server.app.mcp.tools.remove('nope'), false)
      t.equal(it.server.app.mcp.tools.enable('echo'), true)
      await stream.during(100)
      t.same(stream.messages.filter(isNote('notifications/tools/list_changed')), [])
      t.ok(it.server.app.mcp.tools.remove('opt'))
      await stream.first('the change', isNote('notifications/tools/list_changed'))
    }
  }
]

const calling: Audit[] = [
  {
    id: 'tools/call-1',
    says: 'tools/call runs the tool with its arguments and gives its content',
    from: 'server/tools § Calling Tools',
    over: both,
    async check (t, it) {
      const { result } = await (await it.connect()).call('echo', { text: 'hello' })
      t.same(result.content, [{ type: 'text', text: 'hello' }])
      t.notOk(result.isError)
    }
  },
  {
    id: 'tools/call-2',
    says: 'arguments may be left out; what they are not is an array or a scalar',
    from: 'schema CallToolRequest',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      t.equal(said(await client.call('noargs')), 'ok')
      t.equal(said(await client.call('opt')), '{}')
      for (const args of [[], 'x', 7]) t.match((await client.call('opt', args)).error, { code: -32602 }, JSON.stringify(args))
      const { error } = await client.request('tools/call', { arguments: {} })
      // In 2026-07-28 the header that mirrors the name is missing as well, and is looked at first.
      t.ok(error?.code === -32602 || (it.revision === '2026-07-28' && error?.code === -32020), 'and there is a name')
    }
  },
  {
    id: 'tools/call-3',
    says: 'defaults of the schema apply, and nothing is turned into another type',
    from: 'server/tools § Security Considerations 1',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      t.equal(said(await client.call('defaults', {})), '{"limit":10}')
      for (const args of [{ limit: '5' }, { tags: 'a' }, { limit: 0 }, { limit: 1.5 }, { limit: null }]) {
        const { result, error } = await client.call('defaults', args)
        t.ok(error?.code === -32602 || result?.isError === true, JSON.stringify(args))
      }
    }
  },
  {
    id: 'tools/result-1',
    says: 'every kind of content arrives as something that the revision knows',
    from: 'server/tools § Tool Result; schema CallToolResult',
    over: both,
    async check (t, it) {
      const { content } = (await (await it.connect()).call('contents')).result
      const types = content.map((block: any) => block.type)
      t.equal(content[0].text, 'words')
      t.ok(types.includes('image') && types.includes('resource'))
      t.equal(types.includes('audio'), it.revision >= '2025-03-26', 'audio since 2025-03-26')
      t.equal(types.includes('resource_link'), it.revision >= '2025-06-18', 'resource_link since 2025-06-18')
    }
  },
  {
    id: 'tools/structured-1',
    says: 'MUST give structured results that conform, SHOULD give their JSON as text too; none before 2025-06-18',
    from: 'server/tools § Structured Content, § Output Schema',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { result } = await client.call('add', { a: 1, b: 2 })
      t.same(result.structuredContent, it.revision >= '2025-06-18' ? { sum: 3 } : undefined)
      t.same(JSON.parse(result.content[0].text), { sum: 3 })
    }
  },
  {
    id: 'tools/structured-2',
    says: 'MUST NOT give structured results that do not conform',
    from: 'server/tools § Output Schema',
    over: both,
    async check (t, it) {
      const { result, error } = await (await it.connect()).call('bad_output')
      t.ok(error?.code === -32603 || result?.isError === true, 'an error of either kind')
      t.equal(result?.structuredContent, undefined)
    }
  },
  {
    id: 'tools/structured-3',
    says: 'a request MUST be answered, whatever the tool returned',
    from: 'basic/index § Responses; JSON-RPC 2.0 § 5',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const kind of ['bigint', 'circular', 'undefined', 'function', 'nan']) {
        const { result, error } = await client.call('weird', { kind })
        t.ok(result ?? error, kind)
      }
      t.match(JSON.parse(said(await client.call('weird', { kind: 'date' }))), { value: '1970-01-01T00:00:00.000Z' })
      await alive(t, client)
    }
  }
]

const errors: Audit[] = [
  {
    id: 'tools/errors-1',
    says: 'an unknown tool is a protocol error, -32602',
    from: 'server/tools § Error Handling',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const name of ['nope', 'Echo', 'toString', '__proto__']) {
        t.match((await client.call(name, {})).error, { code: -32602, message: String }, name)
      }
    }
  },
  {
    id: 'tools/errors-2',
    says: 'MUST validate all inputs: wrong arguments are a protocol error before 2025-11-25 and an execution error from then on',
    from: 'server/tools § Error Handling (2025-11-25: "Input validation errors"), § Security Considerations 1',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const args of [{ text: 7 }, {}]) {
        const reply = await client.call('echo', args)
        if (it.revision < '2025-11-25') t.match(reply.error, { code: -32602, message: /text/ })
        else {
          t.equal(reply.result?.isError, true)
          t.match(said(reply), /text/, 'names the argument')
        }
      }
      t.same(it.server.echoed, [], 'the tool did not run')
    }
  },
  {
    id: 'tools/errors-3',
    says: 'what a tool reports as its failure is a result with isError',
    from: 'server/tools § Error Handling',
    over: both,
    async check (t, it) {
      const reply = await (await it.connect()).call('tool_error', { message: 'The date is in the past.' })
      t.equal(reply.result?.isError, true)
      t.equal(said(reply), 'The date is in the past.')
    }
  },
  {
    id: 'tools/errors-4',
    says: 'MUST sanitize outputs: what a tool throws is logged, not told',
    from: 'server/tools § Security Considerations 1; server/utilities/logging § Security 1',
    over: both,
    async check (t, it) {
      const { message } = await (await it.connect()).call('boom')
      t.ok(message.error !== undefined || message.result?.isError === true)
      t.notMatch(JSON.stringify(message), /pw@|\/srv\/|10\.0\.0\.9|x\.js/)
      t.equal(it.server.log.filter(line => JSON.stringify(line).includes(secret)).length, 1, 'once in the log')
    }
  },
  {
    id: 'tools/errors-5',
    says: 'an error response has the code, the message and the data that the tool chose',
    from: 'basic/index § Responses, Error Responses',
    over: both,
    async check (t, it) {
      const { error } = await (await it.connect()).call('protocol_error', { code: 1234, message: 'not today' })
      t.same(error, { code: 1234, message: 'not today', data: { hint: 'x' } })
    }
  }
]

const meta: Audit[] = [
  {
    id: 'base/meta-1',
    says: 'MUST NOT make assumptions about _meta: what the client attached reaches the tool as it is',
    from: 'basic/index § _meta',
    over: both,
    since: '2025-06-18',
    async check (t, it) {
      const sent = {
        'com.example/x': { y: [1, null] }, progressToken: 'p', traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
      }
      t.match(JSON.parse(said(await (await it.connect()).call('meta', {}, { meta: sent }))), sent)
    }
  },
  {
    id: 'base/meta-2',
    says: '_meta is an object: a scalar is refused',
    from: 'basic/index § _meta; schema CallToolRequest',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const request = client.compose('tools/call', { name: 'noargs' }, { id: 'm' })
      const { messages } = await client.raw(JSON.stringify({ ...request, params: { ...request.params, _meta: 'x' } }))
      t.ok([-32602, -32600].includes(messages[0]?.error?.code), JSON.stringify(messages[0]))
    }
  }
]

const schema = (name: string, inputSchema: object) => defineTool({ name, inputSchema, handler: () => 'ran' })

const schemas: Audit[] = [
  {
    id: 'base/schema-1',
    says: 'MUST support 2020-12 for a schema without $schema, and validate another by the dialect that it names',
    from: 'basic/index § JSON Schema Usage, Implementation Requirements',
    over: both,
    since: '2025-11-25',
    server: {
      options: {
        tools: [
          schema('recent', { type: 'object', properties: { pair: { prefixItems: [{ type: 'string' }, { type: 'number' }] } } }),
          schema('seven', {
            $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { pair: { items: [{ type: 'string' }, { type: 'number' }] } }
          })
        ]
      }
    },
    async check (t, it) {
      const client = await it.connect()
      for (const name of ['recent', 'seven']) {
        t.equal(said(await client.call(name, { pair: ['a', 1] })), 'ran', name)
        t.equal((await client.call(name, { pair: [1, 'a'] })).result?.isError, true, name)
      }
    }
  },
  {
    id: 'base/schema-2',
    says: 'MUST answer an unsupported dialect with an error that says so',
    from: 'basic/index § JSON Schema Usage, Implementation Requirements',
    over: ['http'],
    since: '2025-11-25',
    async check (t) {
      const tools = [schema('ancient', { $schema: 'http://json-schema.org/draft-03/schema#', type: 'object' })]
      await t.rejects(build(t, { bare: true, listen: false, options: { tools } }), { message: /draft-03/ })
    }
  },
  {
    id: 'base/schema-3',
    says: 'MUST NOT fetch a schema that a $ref names on the network, SHOULD reject it instead of taking anything',
    from: 'basic/index § $ref Resolution',
    over: ['http'],
    since: '2026-07-28',
    async check (t) {
      let hits = 0
      const elsewhere = http.createServer((_, response) => {
        hits++
        response.end('{"type":"string"}')
      })
      t.teardown(() => elsewhere.close())
      await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
      const $ref = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/schema.json`
      const tools = [schema('remote', { type: 'object', properties: { a: { $ref } } })]
      await t.rejects(build(t, { bare: true, listen: false, options: { tools } }), { message: /remote/ })
      t.equal(hits, 0)
    }
  }
]

export const tools: Audit[] = [...listing, ...quiet, ...calling, ...errors, ...meta, ...schemas]
