// Section 2: the handshake, and the version that a client asks for or sends along.
import t from 'tap'
import { build } from '../support/app.js'
import { HttpPeer, legacy } from '../support/http.js'
import { legacyDialect } from '../support/stdio.js'
import type { Revision } from '../support/wire.js'
import { callBody, initializeBody, pingBody, rpcRefusal } from './host.js'

const handshakes: Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

t.test('BB-014 requests that overtake notifications/initialized are served', async t => {
  const { url, app } = await build(t)
  let served = 0
  const round = async () => {
    const client = await legacy(url, '2025-11-25', { t, handshake: false })
    await client.initialize()
    const [listed, called, noted, pinged] = await Promise.all([client.request('tools/list'), client.call('echo', { text: 'x' }), client.initialized(), client.request('ping')])
    if (listed.result?.tools !== undefined && called.result?.content !== undefined && noted?.status === 202 && pinged.result !== undefined) served++
    await client.delete()
  }
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 20 }, round))
  t.equal(served, 200, 'in every round')
  t.equal(app.mcp.stats().sessions, 0)
})

t.test('BB-014 a client that never says initialized is served', async t => {
  const { url } = await build(t)
  const client = await legacy(url, '2025-06-18', { t, handshake: false })
  await client.initialize()
  t.match((await client.request('tools/list')).result, { tools: Array })
  t.match((await client.call('echo', { text: 'x' })).result, { content: [{ text: 'x' }] })
  t.equal((await client.get()).status, 200)
})

t.test('BB-015 the version is negotiated, never refused', async t => {
  const { url } = await build(t)
  const open = async (protocolVersion: unknown, more = {}) => {
    const client = new HttpPeer(t, url, legacyDialect('2025-11-25'))
    return await client.post(initializeBody(1, protocolVersion, more))
  }
  for (const version of handshakes) t.equal((await open(version)).json.result.protocolVersion, version, version)
  for (const version of ['2099-01-01', '1.0.0', '', '2026-07-28', 'DRAFT-2026-v1']) {
    const answer = await open(version)
    t.equal(answer.status, 200, version)
    t.equal(answer.json.result.protocolVersion, '2025-11-25', `${version}: the newest that has a handshake`)
  }
  for (const version of [undefined, 7, null, {}]) {
    const answer = await open('', { protocolVersion: version })
    t.ok(answer.status < 500, `${version}: HTTP ${answer.status}`)
    t.match(answer.json, { error: { code: -32602 } }, `${version}`)
    t.equal(answer.headers['mcp-session-id'], undefined, 'and no session')
  }
  t.match((await open('2025-11-25', { capabilities: { roots: {}, future: { a: 1 } } })).json, { result: {} }, 'an unknown capability is nothing to refuse')
  const nameless = await open('2025-11-25', { clientInfo: undefined })
  t.ok(nameless.status === 200 && (nameless.json.result !== undefined || nameless.json.error.code === -32602), 'without clientInfo: served or -32602')
})

t.test('BB-015 an endpoint speaks what it is told to speak', async t => {
  const { url } = await build(t, { options: { revisions: ['2025-03-26', '2025-06-18'] } })
  for (const [asked, given] of [['2025-03-26', '2025-03-26'], ['2025-06-18', '2025-06-18'], ['2024-11-05', '2025-06-18'], ['2025-11-25', '2025-06-18']] as const) {
    const client = new HttpPeer(t, url, legacyDialect('2025-06-18'))
    t.equal((await client.post(initializeBody(1, asked))).json.result.protocolVersion, given, asked)
  }
})

t.test('BB-016 the version header of a session', async t => {
  const { url } = await build(t)
  const client = await legacy(url, '2025-06-18', { t })
  for (const version of ['1999-01-01', 'banana', '', '2025-03-26', '2026-07-28']) {
    const header = { 'MCP-Protocol-Version': version }
    rpcRefusal(t, await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, header), 400, undefined, `POST ${version}`)
    rpcRefusal(t, await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, header), 400, undefined, `notification ${version}`)
    rpcRefusal(t, await client.get(header), version === '2026-07-28' ? [400, 405] : 400, undefined, `GET ${version}`)
    rpcRefusal(t, await client.delete(header), 400, undefined, `DELETE ${version}`)
  }
  const listed = await client.post(callBody('add', { a: 1, b: 2 }), { 'MCP-Protocol-Version': undefined })
  t.match(listed.json.result, { structuredContent: { sum: 3 } }, 'without it the session knows what was negotiated')
  t.equal((await client.get({ 'MCP-Protocol-Version': undefined })).status, 200)
  t.equal((await client.delete({ 'MCP-Protocol-Version': undefined })).status, 204)
})

t.test('BB-016 the version header without a session', async t => {
  const { url } = await build(t)
  const client = new HttpPeer(t, url, legacyDialect('2025-06-18'))
  for (const version of ['1999-01-01', 'banana', '']) rpcRefusal(t, await client.post(pingBody(), { 'MCP-Protocol-Version': version }), 400, undefined, version)
  t.match((await client.post(callBody('add', { a: 1, b: 2 }), { 'MCP-Protocol-Version': '2025-06-18' })).json.result, { structuredContent: { sum: 3 } }, 'it is what the message speaks')
  const unsaid = (await client.post(callBody('add', { a: 1, b: 2 }), { 'MCP-Protocol-Version': undefined })).json.result
  t.match(unsaid, { content: [{ text: '{"sum":3}' }] })
  t.notOk('structuredContent' in unsaid, 'without it, 2025-03-26')
})

t.test('BB-016 initialize is not held to the header', async t => {
  const { url } = await build(t)
  for (const version of ['2099-12-31', 'banana', '2025-03-26', '2026-07-28', '']) {
    const client = new HttpPeer(t, url, legacyDialect('2025-11-25'))
    const answer = await client.post(initializeBody(), { 'MCP-Protocol-Version': version })
    t.match(answer.json, { result: { protocolVersion: '2025-11-25' } }, version)
    t.match(answer.headers['mcp-session-id'], String, `${version}: a session`)
  }
})
