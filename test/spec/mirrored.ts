// 2026-07-28: the parts of a message that are mirrored in HTTP headers. Page: basic/transports/streamable-http.
import type { OutgoingHttpHeaders } from 'node:http'
import type { Test } from 'tap'
import { build, defineTool } from '../support/app.js'
import type { HttpPeer } from '../support/http.js'
import { metaKey } from '../support/stdio.js'
import { both, said, type Audit } from '../support/audit.js'

const http: Audit['over'] = ['http']
const page = 'basic/transports/streamable-http'
const encoded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

/** A request with these headers is refused as HeaderMismatch, with its id, and does not run. */
async function mismatch (t: Test, client: HttpPeer, headers: OutgoingHttpHeaders, what: string, message = call(client)) {
  const answer = await client.post(message, headers)
  t.equal(answer.status, 400, `${what}: HTTP 400`)
  t.match(answer.messages, [{ id: message.id, error: { code: -32020, message: String } }], `${what}: -32020 with the id of the request`)
}

async function served (t: Test, client: HttpPeer, headers: OutgoingHttpHeaders, what: string, message = call(client)) {
  const answer = await client.post(message, headers)
  t.equal(answer.status, 200, `${what}: HTTP 200`)
  t.ok(answer.messages[0]?.result?.content, `${what}: a result ${answer.text.slice(0, 200)}`)
}

let last = 0
const call = (client: HttpPeer, name = 'echo', args: unknown = { text: 'x' }) =>
  client.compose('tools/call', { name, arguments: args }, { id: `h-${++last}` })

const query = (client: HttpPeer, args: Record<string, unknown>) => call(client, 'region_query', { query: 'q', ...args })

const standard: Audit[] = [
  {
    id: 'http/version-1',
    says: 'MCP-Protocol-Version MUST match the version in _meta, else 400 and HeaderMismatch',
    from: `${page} § Protocol Version Header, § Server Validation`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      for (const version of ['2025-11-25', '2026-07-29', 'banana', '2024-11-05']) await mismatch(t, client, { 'MCP-Protocol-Version': version }, version)
      t.same(it.server.echoed, [])
    }
  },
  {
    id: 'http/version-2',
    says: 'a request without MCP-Protocol-Version whose _meta has one is a HeaderMismatch',
    from: `${page} § Server Validation, Validation failure conditions; basic/versioning § Backward Compatibility`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await mismatch(t, client, { 'MCP-Protocol-Version': undefined }, 'no header')
      t.same(it.server.echoed, [])
    }
  },
  {
    id: 'http/version-3',
    says: 'the mismatch is found before the version is: only a version that both name is unsupported',
    from: `${page} § Protocol Version Header`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const request = client.compose('tools/list', undefined, { id: 1, meta: { [`${metaKey}protocolVersion`]: 'v999' } })
      await mismatch(t, client, {}, 'only in _meta', request)
      t.match((await client.post(request, { 'MCP-Protocol-Version': 'v999' })).json, { id: 1, error: { code: -32022 } }, 'in both')
    }
  },
  {
    id: 'http/method-1',
    says: 'MUST refuse a request whose Mcp-Method is missing or another',
    from: `${page} § Standard Request Headers, § Server Validation`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      for (const method of [undefined, 'tools/list', '', 'tools/cal', 'tools/call,tools/call']) await mismatch(t, client, { 'Mcp-Method': method }, `${method}`)
      await mismatch(t, client, { 'Mcp-Method': undefined }, 'of a list', client.compose('tools/list', undefined, { id: 1 }))
      t.same(it.server.echoed, [])
    }
  },
  {
    id: 'http/case-1',
    says: 'MUST compare header names without regard to case, and values with it',
    from: `${page} § Case Sensitivity`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const names = { 'MCP-PROTOCOL-VERSION': '2026-07-28', 'mCP-mETHOD': 'tools/call', 'MCP-NAME': 'echo' }
      await served(t, client, names, 'names')
      await mismatch(t, client, { 'Mcp-Method': 'Tools/Call' }, 'a method')
      await mismatch(t, client, { 'Mcp-Name': 'Echo' }, 'a name')
    }
  },
  {
    id: 'http/case-2',
    says: 'white space around a value is not part of it',
    from: `${page} § Value Encoding; RFC 9110 § 5.5`,
    over: http,
    async check (t, it) {
      await served(t, await it.http(), { 'Mcp-Method': '  tools/call \t', 'Mcp-Name': ' echo ', 'MCP-Protocol-Version': ' 2026-07-28 ' }, 'padded')
    }
  },
  {
    id: 'http/name-1',
    says: 'MUST refuse a tools/call whose Mcp-Name is missing or another',
    from: `${page} § Standard Request Headers, § Server Validation`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      for (const name of [undefined, 'add', '', 'echo, echo']) await mismatch(t, client, { 'Mcp-Name': name }, `${name}`)
      t.same(it.server.echoed, [])
    }
  },
  {
    id: 'http/name-2',
    says: 'MUST decode an encoded Mcp-Name before it is compared',
    from: `${page} § Value Encoding`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await served(t, client, { 'Mcp-Name': encoded('echo') }, 'the name')
      await mismatch(t, client, { 'Mcp-Name': encoded('add') }, 'another name')
      await mismatch(t, client, { 'Mcp-Name': encoded('größe') }, 'not in ASCII')
    }
  },
  {
    id: 'http/name-3',
    says: 'the marks of an encoded value MUST be as they are written, and what they hold MUST be Base64',
    from: `${page} § Value Encoding`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await mismatch(t, client, { 'Mcp-Name': encoded('echo').replace('base64', 'BASE64') }, 'in capitals it is plain text')
      for (const value of ['***', 'ZWNo*bw==', 'ZWNobw']) await mismatch(t, client, { 'Mcp-Name': `=?base64?${value}?=` }, `${value} is no Base64`)
      await mismatch(t, client, { 'Mcp-Name': encoded('echo').slice(0, -2) }, 'without its end')
    }
  },
  {
    id: 'http/name-4',
    says: 'only three methods have Mcp-Name: on others it is not looked at',
    from: `${page} § Standard Request Headers`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const answer = await client.post(client.compose('server/discover', undefined, { id: 1 }), { 'Mcp-Name': 'x' })
      t.equal(answer.status, 200)
    }
  },
  {
    id: 'http/metadata-1',
    says: 'on stdio there is no header layer: the same requests are served without',
    from: 'basic/transports/stdio § Request Metadata',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.connect()
      t.equal(said(await client.call('region_query', { region: 'eu', query: 'q' })), '{"region":"eu","query":"q"}')
    }
  }
]

const parameters: Audit[] = [
  {
    id: 'http/param-1',
    says: 'MUST validate that Mcp-Param-* matches the argument',
    from: `${page} § Server Behavior for Custom Headers`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await served(t, client, { 'Mcp-Param-Region': 'eu' }, 'the same', query(client, { region: 'eu' }))
      await served(t, client, { 'mcp-param-region': 'eu' }, 'whatever the case of the name', query(client, { region: 'eu' }))
      await mismatch(t, client, { 'Mcp-Param-Region': 'us' }, 'another', query(client, { region: 'eu' }))
      await mismatch(t, client, { 'Mcp-Param-Region': 'EU' }, 'in another case', query(client, { region: 'eu' }))
    }
  },
  {
    id: 'http/param-2',
    says: 'MUST refuse a request that leaves out the header of an argument it has',
    from: `${page} § Server Behavior for Custom Headers, table`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await mismatch(t, client, {}, 'a string', query(client, { region: 'eu' }))
      await mismatch(t, client, { 'Mcp-Param-Region': 'eu' }, 'an integer', query(client, { region: 'eu', limit: 0 }))
      await mismatch(t, client, { 'Mcp-Param-Region': 'eu' }, 'a boolean', query(client, { region: 'eu', dry: false }))
    }
  },
  {
    id: 'http/param-3',
    says: 'MUST NOT expect the header of an argument that is absent or null',
    from: `${page} § Server Behavior for Custom Headers, table`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await served(t, client, { 'Mcp-Param-Region': 'eu' }, 'absent', query(client, { region: 'eu' }))
      // Whether null is a good argument is for the tool's schema to say, not for the headers.
      await served(t, client, { 'Mcp-Param-Region': 'eu' }, 'null', query(client, { region: 'eu', limit: null }))
    }
  },
  {
    id: 'http/param-4',
    says: 'a header without its argument does not match',
    from: `${page} § Server Validation, Validation failure conditions`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await mismatch(t, client, { 'Mcp-Param-Region': 'eu', 'Mcp-Param-Limit': '5' }, 'not in the body', query(client, { region: 'eu' }))
    }
  },
  {
    id: 'http/param-5',
    says: 'MUST decode an encoded Mcp-Param-* before it is compared',
    from: `${page} § Value Encoding`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      for (const region of ['eu', 'Hello, 世界', ' padded ', 'line1\nline2', '=?base64?literal?=']) {
        await served(t, client, { 'Mcp-Param-Region': encoded(region) }, JSON.stringify(region), query(client, { region }))
      }
      await mismatch(t, client, { 'Mcp-Param-Region': encoded('us') }, 'another', query(client, { region: 'eu' }))
      await mismatch(t, client, { 'Mcp-Param-Region': '=?base64?***?=' }, 'no Base64', query(client, { region: 'eu' }))
    }
  },
  {
    id: 'http/param-6',
    says: 'integers are decimal and SHOULD be compared as numbers; booleans are true or false',
    from: `${page} § Value Encoding, § Server Validation, note`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const both = (limit: string, dry: string) => ({ 'Mcp-Param-Region': 'eu', 'Mcp-Param-Limit': limit, 'Mcp-Param-Dry': dry })
      const message = () => query(client, { region: 'eu', limit: 42, dry: true })
      await served(t, client, both('42', 'true'), 'as they are', message())
      await served(t, client, both('42.0', 'true'), 'as numbers', message())
      await mismatch(t, client, both('43', 'true'), 'another number', message())
      await mismatch(t, client, both('', 'true'), 'no number', message())
      await mismatch(t, client, both('42', 'TRUE'), 'no boolean', message())
    }
  },
  {
    id: 'http/param-7',
    says: 'a header that belongs to no parameter is not looked at',
    from: `${page} § Server Behavior for Custom Headers`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      await served(t, client, { 'Mcp-Param-Region': 'eu', 'Mcp-Param-Other': '1' }, 'another header', query(client, { region: 'eu' }))
      await served(t, client, { 'Mcp-Param-Region': 'eu' }, 'another tool')
    }
  },
  {
    id: 'http/param-8',
    says: 'MUST refuse a header with characters that it may not have',
    from: `${page} § Server Behavior for Custom Headers, § Server Validation`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      for (const header of ['öst', Buffer.from('öst').toString('latin1')]) {
        await mismatch(t, client, { 'Mcp-Param-Region': header }, 'no ASCII', query(client, { region: 'öst' }))
      }
    }
  },
  {
    id: 'http/param-9',
    says: 'the value is read at the path of the parameter, also below another',
    from: `${page} § Schema Extension`,
    over: http,
    server: {
      options: {
        tools: [defineTool({
          name: 'nested',
          inputSchema: {
            type: 'object',
            properties: { where: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } as object } } }
          },
          handler: () => 'ran'
        })]
      }
    },
    async check (t, it) {
      const client = await it.http()
      const message = () => call(client, 'nested', { where: { zone: 'a' } })
      await served(t, client, { 'Mcp-Param-Zone': 'a' }, 'the same', message())
      await mismatch(t, client, { 'Mcp-Param-Zone': 'b' }, 'another', message())
      await mismatch(t, client, {}, 'none', message())
      await served(t, client, {}, 'no such argument', call(client, 'nested', {}))
    }
  },
  {
    id: 'http/param-10',
    says: 'x-mcp-header is listed, since clients need it to send the headers',
    from: 'server/tools § x-mcp-header',
    over: both,
    async check (t, it) {
      const { tools } = (await (await it.connect()).request('tools/list')).result
      const { properties } = tools.find((tool: any) => tool.name === 'region_query').inputSchema
      t.same(Object.keys(properties).map(name => properties[name]['x-mcp-header']), ['Region', 'Limit', 'Dry', undefined])
    }
  },
  {
    id: 'http/param-11',
    says: 'an annotation MUST be a name, unique, on a string, integer or boolean that properties alone lead to: a tool with another is not offered',
    from: `${page} § Schema Extension; server/tools § x-mcp-header`,
    over: http,
    async check (t) {
      const zone = (type: string, name: unknown = 'Zone') => ({ type, 'x-mcp-header': name })
      const wrong: Record<string, object> = {
        'a number': { properties: { a: zone('number') } },
        'an empty name': { properties: { a: zone('string', '') } },
        'no name': { properties: { a: zone('string', 7) } },
        'a name with a line break': { properties: { a: zone('string', 'Zo\r\nne') } },
        'a name with a space': { properties: { a: zone('string', 'Zo ne') } },
        'a name twice': { properties: { a: zone('string'), b: zone('string', 'zONE') } },
        'an object': { properties: { a: zone('object') } },
        'in an array': { properties: { a: { type: 'array', items: zone('string') } } },
        'in a choice': { properties: { a: { anyOf: [zone('string')] } } },
        'in a definition': { $defs: { a: zone('string') }, properties: { a: { $ref: '#/$defs/a' } } }
      }
      for (const [title, schema] of Object.entries(wrong)) {
        const tools = [defineTool({ name: 'badly_marked', inputSchema: { type: 'object', ...schema }, handler: () => 'ran' })]
        await t.rejects(build(t, { bare: true, listen: false, options: { tools } }), { message: /badly_marked/ }, title)
      }
    }
  }
]

export const mirrored: Audit[] = [...standard, ...parameters]
