// Section 8: 2026-07-28, whose requests stand alone.
import { Type } from '@sinclair/typebox'
import t from 'tap'
import mcpPlugin from '../../lib/index.js'
import { build, defineTool } from '../support/app.js'
import { said } from '../support/audit.js'
import { legacy, modern, send, type HttpPeer } from '../support/http.js'
import { Inbox, metaKey } from '../support/stdio.js'
import type { Message } from '../support/wire.js'
import { host, initializeBody, rpcRefusal } from './host.js'

const MISMATCH = -32020
const MODERN = '2026-07-28'

/** Sends headers just as they are given, the same name twice among them. */
async function rawPost (url: string, lines: string[], body: unknown) {
  const messages: Message[] = []
  const { answer } = send(url, { method: 'POST', headers: lines as never, body: JSON.stringify(body) }, new Inbox(), message => messages.push(message))
  return await answer
}

t.test('BB-047 the header and the body have to name one version', async t => {
  const server = await build(t)
  const client = modern(server.url, { t })
  const body = (id: number) => client.compose('tools/call', { name: 'echo', arguments: { text: 'x' } }, { id })
  const refused = async (title: string, header: string | undefined, message = body(5)) => {
    const answer = await client.post(message, { 'MCP-Protocol-Version': header })
    rpcRefusal(t, answer, 400, MISMATCH, title)
    t.equal(answer.json.id, 5, `${title}: the id is kept`)
    return answer.json.error.message as string
  }
  t.match(await refused('an older one', '2025-11-25'), /2025-11-25.*2026-07-28|2026-07-28.*2025-11-25/, 'both are named')
  await refused('none', undefined)
  await refused('an empty one', '')
  await refused('a list', '2026-07-28, 2026-07-28')
  const older = client.compose('tools/call', { name: 'echo', arguments: { text: 'x' } }, { id: 5, meta: { [`${metaKey}protocolVersion`]: '2025-11-25' } })
  t.match(await refused('an older one in the body', MODERN, older), /2025-11-25.*2026-07-28|2026-07-28.*2025-11-25/)

  const { host } = new URL(server.url)
  const lines = (first: string, second: string) => [
    'Host', host, 'Content-Type', 'application/json', 'Accept', 'application/json, text/event-stream', 'MCP-Protocol-Version', first, 'MCP-Protocol-Version', second, 'Mcp-Method', 'tools/call', 'Mcp-Name', 'echo'
  ]
  for (const [first, second] of [['2025-11-25', MODERN], [MODERN, '2025-11-25']] as const) {
    const answer = await rawPost(server.url, lines(first, second), body(5))
    t.equal(answer.status, 400, `${first}, then ${second}`)
    t.equal(answer.json.id, 5)
  }
  t.strictSame(server.echoed, [], 'nothing was carried out')
  const twice = await rawPost(server.url, lines(MODERN, MODERN), body(5))
  t.ok([200, 400].includes(twice.status), 'the same twice is served or not')
})

t.test('BB-048 Mcp-Method and Mcp-Name repeat the body', async t => {
  const { base } = await host(t, async app => {
    await app.register(mcpPlugin)
    app.mcp.tools.add({ name: 'echo', handler: () => 'served' })
  })
  const client = modern(`${base}/mcp`, { t })
  const encoded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
  const table: Array<[string, Record<string, string | undefined>, boolean]> = [
    ['as they should be', {}, true],
    ['no method', { 'Mcp-Method': undefined }, false],
    ['another method', { 'Mcp-Method': 'tools/list' }, false],
    ['a method in another case', { 'Mcp-Method': 'Tools/Call' }, false],
    ['a method with space around it', { 'Mcp-Method': '  tools/call \t' }, true],
    ['an empty method', { 'Mcp-Method': '' }, false],
    ['no name', { 'Mcp-Name': undefined }, false],
    ['another name', { 'Mcp-Name': 'add' }, false],
    ['a name in another case', { 'Mcp-Name': 'Echo' }, false],
    ['a name with space around it', { 'Mcp-Name': ' echo ' }, true],
    ['an encoded name', { 'Mcp-Name': encoded('echo') }, true],
    ['another name, encoded', { 'Mcp-Name': encoded('add') }, false],
    ['no base64', { 'Mcp-Name': '=?base64?***?=' }, false],
    ['base64 that is cut', { 'Mcp-Name': '=?base64?ZWNobw?=' }, false],
    ['another spelling of the mark', { 'Mcp-Name': encoded('echo').replace('base64', 'BASE64') }, false],
    ['bytes that are no UTF-8', { 'Mcp-Name': '=?base64?/w==?=' }, false]
  ]
  const name = { 'mcp-method': 'tools/call', 'Mcp-Method': undefined }
  for (const [title, headers, good] of [...table, ['names of headers in lower case', name, true] as const]) {
    const answer = await client.post(client.compose('tools/call', { name: 'echo' }, { id: 1 }), headers)
    if (good) t.match(answer.json, { result: { content: [{ text: 'served' }] } }, title)
    else rpcRefusal(t, answer, 400, MISMATCH, title)
  }
  const stray = await client.post(client.compose('server/discover', {}, { id: 2 }), { 'Mcp-Name': 'x' })
  t.match(stray.json, { result: { supportedVersions: Array } }, 'a name where there is none to repeat')
})

t.test('BB-048 a name that a header cannot carry as it is', async t => {
  const { url } = await build(t)
  const client = modern(url, { t })
  const call = (name: string, header: string) => client.post(client.compose('tools/call', { name }, { id: 1 }), { 'Mcp-Name': header })
  const good = await call('größe', '=?base64?Z3LDtsOfZQ==?=')
  t.match({ status: good.status, code: good.json.error?.code }, { status: 200, code: -32602 }, 'encoded, it is found to be no tool')
  rpcRefusal(t, await call('größe', Buffer.from('größe').toString('latin1')), 400, MISMATCH, 'raw')
})

const regional = defineTool({
  name: 'sql',
  inputSchema: Type.Object({
    region: Type.Optional(Type.String({ 'x-mcp-header': 'Region' })),
    flag: Type.Optional(Type.Boolean({ 'x-mcp-header': 'Flag' })),
    limit: Type.Optional(Type.Integer({ 'x-mcp-header': 'Limit' })),
    deep: Type.Optional(Type.Object({ zone: Type.Optional(Type.String({ 'x-mcp-header': 'Zone' })) }))
  }),
  handler: args => JSON.stringify(args)
})

t.test('BB-049 Mcp-Param headers repeat arguments', async t => {
  const { url } = await build(t, { bare: true, options: { tools: [regional] } })
  const table: Array<[string, Record<string, unknown>, Record<string, string>, 'served' | 'mismatch' | 'invalid']> = [
    ['the same', { region: 'eu' }, { Region: 'eu' }, 'served'],
    ['another', { region: 'eu' }, { Region: 'us' }, 'mismatch'],
    ['in another case', { region: 'eu' }, { Region: 'EU' }, 'mismatch'],
    ['missing', { region: 'eu' }, {}, 'mismatch'],
    ['both absent', {}, {}, 'served'],
    ['absent in the body', {}, { Region: 'eu' }, 'mismatch'],
    ['encoded', { region: 'eu' }, { Region: '=?base64?ZXU=?=' }, 'served'],
    ['encoded because it must be', { region: 'größe' }, { Region: '=?base64?Z3LDtsOfZQ==?=' }, 'served'],
    ['a boolean', { flag: false }, { Flag: 'false' }, 'served'],
    ['another boolean', { flag: false }, { Flag: 'true' }, 'mismatch'],
    ['a boolean, missing', { flag: false }, {}, 'mismatch'],
    ['an integer', { limit: 10 }, { Limit: '10' }, 'served'],
    ['another integer', { limit: 10 }, { Limit: '11' }, 'mismatch'],
    ['an integer of zero', { limit: 0 }, { Limit: '0' }, 'served'],
    ['null, which no header repeats', { flag: null }, {}, 'invalid'],
    ['inside an object', { deep: { zone: 'a' } }, { Zone: 'a' }, 'served'],
    ['inside an object, missing', { deep: { zone: 'a' } }, {}, 'mismatch'],
    ['a header that nobody asked for', { region: 'eu' }, { Region: 'eu', Other: '1' }, 'served']
  ]
  for (const [title, args, params, outcome] of table) {
    const client = modern(url, { t })
    const headers = Object.fromEntries(Object.entries(params).map(([name, value]) => [`Mcp-Param-${name}`, value]))
    const answer = await client.post(client.compose('tools/call', { name: 'sql', arguments: args }, { id: 1 }), headers)
    if (outcome === 'mismatch') rpcRefusal(t, answer, 400, MISMATCH, title)
    else t.match(answer, { status: 200, json: { result: { isError: outcome === 'invalid' ? true : undefined } } }, title)
    if (outcome === 'served') t.strictSame(JSON.parse(answer.json.result.content[0].text), args, title)
  }
  const old = await legacy(url, '2025-11-25', { t })
  t.equal(said(await old.call('sql', { region: 'eu' }, { headers: { 'Mcp-Param-Region': 'us' } })), '{"region":"eu"}', 'in a handshake revision they mean nothing')
})

const keys = (...without: string[]) => {
  const all: Record<string, unknown> = { protocolVersion: MODERN, clientCapabilities: {}, clientInfo: { name: 'x', version: '1' } }
  return Object.fromEntries(Object.entries(all).filter(([key]) => !without.includes(key)).map(([key, value]) => [metaKey + key, value]))
}

t.test('BB-050 what every request has to carry', async t => {
  const { url } = await build(t)
  const client = modern(url, { t })
  const post = (params: unknown, version = MODERN) => client.post({ jsonrpc: '2.0', id: 'kept', method: 'tools/list', params }, { 'MCP-Protocol-Version': version, 'Mcp-Method': 'tools/list' })
  const table: Array<[string, unknown, number | undefined]> = [
    ['no params', undefined, -32602],
    ['null for params', null, -32602],
    ['no _meta', {}, -32602],
    ['an empty _meta', { _meta: {} }, -32602],
    ['only the version', { _meta: keys('clientCapabilities', 'clientInfo') }, -32602],
    ['capabilities of the wrong kind', { _meta: { ...keys(), [`${metaKey}clientCapabilities`]: 'x' } }, -32602],
    ['capabilities that are a list', { _meta: { ...keys(), [`${metaKey}clientCapabilities`]: [] } }, -32602],
    ['a version of the wrong kind', { _meta: { ...keys(), [`${metaKey}protocolVersion`]: 7 } }, -32602],
    ['no clientInfo', { _meta: keys('clientInfo') }, undefined],
    ['all of it', { _meta: keys() }, undefined]
  ]
  for (const [title, params, code] of table) {
    const answer = await post(params)
    if (code === undefined) t.match(answer, { status: 200, json: { id: 'kept', result: {} } }, title)
    else {
      rpcRefusal(t, answer, 400, code, title)
      t.equal(answer.json.id, 'kept', title)
    }
  }
  const nameless = await post({ _meta: { ...keys(), [`${metaKey}clientInfo`]: {} } })
  t.ok(nameless.status === 200 || nameless.json.error.code === -32602, 'an empty clientInfo')
  for (const version of ['1900-01-01', '2027-01-01', 'DRAFT-2027']) {
    const answer = await post({ _meta: { ...keys(), [`${metaKey}protocolVersion`]: version } }, version)
    rpcRefusal(t, answer, 400, -32022, version)
    t.match(answer.json, { id: 'kept', error: { data: { requested: version } } })
    t.ok(answer.json.error.data.supported.includes(MODERN) && answer.json.error.data.supported.includes('2025-11-25'), 'all that is spoken is named')
  }
})

t.test('BB-051 methods that are not there, or not there any more', async t => {
  const { url } = await build(t)
  const client = modern(url, { t })
  for (const method of ['vendor/x', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe', 'prompts/list', 'tasks/list', '']) {
    const { answer, error, id } = await client.request(method, {}, { id: 'm' })
    t.match({ status: answer?.status, code: error?.code, id }, { status: 404, code: -32601, id: 'm' }, method)
  }
  const { answer, error } = await client.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } })
  t.ok([400, 404].includes(answer?.status as number) && error !== undefined, `initialize: HTTP ${answer?.status}`)
  t.equal(answer?.headers['mcp-session-id'], undefined)
  for (const method of ['notifications/cancelled', 'notifications/initialized', 'notifications/x']) {
    t.ok((await client.notify(method, { requestId: 1 }, { meta: {} })).status < 500, method)
  }
})

t.test('BB-052 an endpoint of this revision alone', async t => {
  const { url, app } = await build(t, { options: { revisions: [MODERN] } })
  const client: HttpPeer = modern(url, { t, headers: { 'Mcp-Session-Id': 'abc', 'Last-Event-ID': '5' } })
  for (const verb of ['GET', 'DELETE']) {
    const answer = await client.bodiless(verb, { Accept: 'text/event-stream' })
    rpcRefusal(t, answer, 405, undefined, verb)
    t.equal(answer.headers.allow, 'POST', verb)
  }
  for (const accept of ['application/json', 'text/event-stream']) {
    const { answer, result } = await client.call('progress', { n: 2 }, { meta: { progressToken: 1 }, headers: { Accept: accept } })
    t.equal(answer?.status, 200)
    t.match(result, { content: [{ text: 'done' }] })
    t.equal(answer?.headers['mcp-session-id'], undefined, 'no session')
    t.notOk(answer?.events.some(({ id }) => id !== undefined), 'no ids of events')
    t.strictSame(answer?.retries, [])
  }
  t.strictSame(app.mcp.stats(), { sessions: 0, streams: 0, calls: 0 })
})

t.test('BB-052 beside the others, sessions mean nothing to it either', async t => {
  const { url, app } = await build(t)
  for (const id of ['abc', (await legacy(url, '2025-11-25', { t })).session]) {
    const { answer } = await modern(url, { t, headers: { 'Mcp-Session-Id': id, 'Last-Event-ID': '5' } }).request('tools/list')
    t.match({ status: answer?.status, session: answer?.headers['mcp-session-id'] }, { status: 200, session: undefined })
  }
  const client = modern(url, { t })
  rpcRefusal(t, await client.get({ 'Mcp-Method': undefined }), 405, undefined, 'GET')
  t.equal((await client.post(initializeBody(), { 'MCP-Protocol-Version': MODERN })).status, 200, 'initialize is no message of this revision')
  t.equal(app.mcp.stats().sessions, 2)
})
