// Section 2: how a session begins, is found, and ends.
import t from 'tap'
import { build } from '../support/app.js'
import { until } from '../support/audit.js'
import { legacy, modern } from '../support/http.js'
import { isNote, sleep } from '../support/stdio.js'
import { initializeBody, PATIENCE, pingBody, rpcRefusal } from './host.js'

const DEAD = '11111111-1111-4111-8111-111111111111'
const nothing = { sessions: 0, streams: 0, calls: 0 }

t.test('BB-010 an unknown session is 404 by every verb, and never made', async t => {
  const { url, app } = await build(t)
  const other = await legacy(url, '2025-11-25', { t })
  const client = await legacy(url, '2025-11-25', { t, handshake: false })
  for (const id of [DEAD, 'x', 'x'.repeat(2000), '__proto__', '../../etc']) {
    client.session = id
    const answers = {
      POST: await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      GET: await client.get(),
      DELETE: await client.delete(),
      notification: await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      response: await client.post({ jsonrpc: '2.0', id: 1, result: {} }),
      batch: await client.post([pingBody()])
    }
    for (const [what, answer] of Object.entries(answers)) {
      rpcRefusal(t, answer, 404, undefined, `${what} ${id.slice(0, 40)}`)
      t.notMatch(answer.text, other.session, 'no other session is named')
    }
  }
  t.equal(app.mcp.stats().sessions, 1)
})

t.test('BB-010 without a session a call is served, and is given none', async t => {
  const { url, app } = await build(t)
  const client = await legacy(url, '2025-06-18', { t, handshake: false })
  for (const method of ['tools/list', 'ping']) {
    const { answer, result } = await client.request(method)
    t.match({ status: answer?.status, session: answer?.headers['mcp-session-id'] }, { status: 200, session: undefined }, method)
    t.type(result, 'object')
  }
  t.match((await client.call('echo', { text: 'x' })).result, { content: [{ text: 'x' }] })
  t.equal(app.mcp.stats().sessions, 0)
})

t.test('BB-010 initialize begins a new session whatever id it carries', async t => {
  const { url, app } = await build(t)
  const live = await legacy(url, '2025-11-25', { t })
  for (const id of [DEAD, live.session]) {
    const client = await legacy(url, '2025-06-18', { t, handshake: false })
    const answer = await client.post(initializeBody(1, '2025-06-18'), { 'Mcp-Session-Id': id })
    t.equal(answer.status, 200)
    const given = answer.headers['mcp-session-id']
    t.match(given, /^[\x21-\x7e]{32,}$/, 'unguessable, visible ASCII')
    t.not(given, id, 'a fresh one')
  }
  t.equal(app.mcp.stats().sessions, 3)
  t.match((await live.request('ping')).result, {}, 'the live session goes on')
  t.match((await live.post(pingBody(), { 'MCP-Protocol-Version': '2025-11-25' })), { status: 200 }, 'in its own revision')
})

t.test('BB-011 a session that is ended is ended in every way', async t => {
  const { url, app, slow } = await build(t, { options: { sse: { after: 20 } } })
  const client = await legacy(url, '2025-11-25', { t })
  const stream = await client.get()
  const quiet = client.start('tools/call', { name: 'slow', arguments: { ms: 60_000 } }, { headers: { Accept: 'application/json' } })
  const call = client.start('tools/call', { name: 'slow', arguments: { ms: 60_000 } })
  const answer = await call.answer
  t.equal(answer?.type, 'text/event-stream')
  t.ok(await until(() => app.mcp.stats().calls === 2, PATIENCE))
  t.equal((await client.delete()).status, 204)
  t.ok(await stream.over(PATIENCE), 'the GET stream ends')
  t.ok(await answer?.over(PATIENCE), 'the stream of the call ends')
  t.notOk(stream.cut || answer?.cut, 'both in good order')
  t.ok(await until(() => slow.length === 2, PATIENCE))
  t.strictSame(slow.map(one => one.outcome), ['aborted', 'aborted'], 'the handlers are told')
  t.strictSame(answer?.messages.filter(message => 'result' in message), [], 'a cancelled call has no answer')
  t.ok(await (await quiet.answer)?.over(PATIENCE), 'a call without a stream ends too')
  rpcRefusal(t, await client.post(pingBody()), 404)
  rpcRefusal(t, await client.get(), 404)
  rpcRefusal(t, await client.delete(), 404, undefined, 'a second DELETE')
  t.ok(await until(() => JSON.stringify(app.mcp.stats()) === JSON.stringify(nothing), PATIENCE), 'nothing is left of it')
})

t.test('BB-012 an unknown method is no unknown session', async t => {
  const { url } = await build(t)
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const) {
    const client = await legacy(url, revision, { t })
    for (const method of ['vendor/unknown', 'prompts/get/x', 'server/discover', '']) {
      const { answer, error, id } = await client.request(method, {}, { id: 5 })
      t.match({ status: answer?.status, code: error?.code, id }, { status: 200, code: -32601, id: 5 }, `${revision} ${method}`)
    }
    t.match((await client.request('ping')).answer, { status: 200 }, 'the session goes on')
  }
})

t.test('BB-013 a client may ask first what the server speaks', async t => {
  const { url, app } = await build(t)
  const { answer, result } = await modern(url, { t }).request('server/discover')
  t.match(answer, { status: 200 })
  t.ok(result.supportedVersions.includes('2026-07-28'))
  t.equal(answer?.headers['mcp-session-id'], undefined, 'no session is minted')
  t.equal(app.mcp.stats().sessions, 0)
})

t.test('BB-013 a server without that revision says so in a way that lets the client fall back', async t => {
  const { url } = await build(t, { options: { revisions: ['2025-11-25', '2025-06-18'] } })
  const client = modern(url, { t })
  const answer = await client.post({ ...client.compose('server/discover', {}, { id: 'probe' }) })
  t.ok([200, 400, 404].includes(answer.status), `HTTP ${answer.status}`)
  t.equal(answer.json.id, 'probe')
  t.notOk([-32020, -32021, -32022].includes(answer.json.error.code), 'no code of 2026-07-28')
  t.match((await legacy(url, '2025-11-25', { t })).session, String)
})

t.test('BB-018 a second GET stream takes over, and nothing is said twice', async t => {
  const { url, app } = await build(t)
  const client = await legacy(url, '2025-11-25', { t })
  const [first, second] = [await client.get(), await client.get()]
  t.strictSame([first.status, second.status], [200, 200])
  app.mcp.tools.disable('noargs')
  await second.inbox.first('a change', isNote('notifications/tools/list_changed'))
  await sleep(50)
  t.equal([...first.messages, ...second.messages].filter(isNote('notifications/tools/list_changed')).length, 1, 'on one of the two')
  second.close()
  t.ok(await until(() => app.mcp.stats().streams === 1, PATIENCE))
  app.mcp.tools.enable('noargs')
  await first.inbox.first('a change', isNote('notifications/tools/list_changed'))
})

t.test('BB-018 a client that lost its stream gets a new one at once', async t => {
  const { url, app } = await build(t)
  const client = await legacy(url, '2025-11-25', { t })
  for (let i = 0; i < 5; i++) {
    const ghost = await client.get()
    ghost.close()
    const stream = await client.get()
    t.equal(stream.status, 200)
    app.mcp.tools.disable('noargs')
    app.mcp.tools.enable('noargs')
    await stream.inbox.first('a change', isNote('notifications/tools/list_changed'))
    stream.close()
  }
  t.ok(await until(() => app.mcp.stats().streams === 0, PATIENCE))
})
