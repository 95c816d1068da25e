// Section 7: batches, which one revision has.
import t from 'tap'
import { build, defineTool } from '../support/app.js'
import { HttpPeer, legacy, modern } from '../support/http.js'
import { isNote, legacyDialect, sleep, stdio } from '../support/stdio.js'
import { revisions, type Message } from '../support/wire.js'
import { callBody, initializeBody, pingBody, rpcRefusal } from './host.js'

const note = { jsonrpc: '2.0', method: 'notifications/x' }
const request = (id: unknown, method: string) => ({ jsonrpc: '2.0', id, method })
const mixed = [pingBody(1), note, request(2, 'tools/list'), request(3, 'nope'), 7, { jsonrpc: '2.0', id: 4 }]
const byId = (messages: Message[]) => Object.fromEntries(messages.map(message => [String(message.id), message.error?.code ?? 'result']))

t.test('BB-046 2025-03-26 takes batches', async t => {
  const server = await build(t)
  for (const accept of ['application/json', 'application/json, text/event-stream', 'text/event-stream']) {
    const client = await legacy(server.url, '2025-03-26', { t, headers: { Accept: accept } })
    const answer = await client.post(mixed)
    t.ok(await answer.over())
    t.equal(answer.status, 200)
    t.strictSame(byId(answer.messages), { 1: 'result', 2: 'result', 3: -32601, 4: -32600, undefined: -32600 }, `${accept}: one answer for each request, and for what is none`)
    const notes = await client.post([note, note])
    t.match({ status: notes.status, text: notes.text }, { status: 202, text: '' }, 'notifications alone')
    const one = await client.post([pingBody(9)])
    t.ok(await one.over())
    t.strictSame(byId(one.messages), { 9: 'result' }, 'one alone')
    if (one.type === 'application/json') t.ok(Array.isArray(one.json), 'in an array')
    rpcRefusal(t, await client.post([]), 400, -32600, 'an empty one')
    rpcRefusal(t, await client.post([callBody('echo', { text: 'a' }, 1), callBody('echo', { text: 'b' }, 1)]), 400, -32600, 'two with one id')
    const junk = await client.post([1, 2])
    t.ok(await junk.over())
    t.strictSame(junk.messages.map(message => message.error?.code), [-32600, -32600], 'nothing but junk')
    t.strictSame(server.echoed, [], 'nothing of a refused one is carried out')
  }
})

t.test('BB-046 calls of a batch run side by side', async t => {
  const { url } = await build(t)
  for (const session of [true, false]) {
    const client = await legacy(url, '2025-03-26', { t, handshake: session })
    const batch = [callBody('slow', { ms: 60 }, 's'), callBody('echo', { text: 'e' }, 'e'), callBody('boom', {}, 'b'), callBody('nope', {}, 'n'), callBody('noargs', {}, 0)]
    const answer = await client.post(batch)
    t.ok(await answer.over())
    t.strictSame(byId(answer.messages), { s: 'result', e: 'result', b: 'result', n: -32602, 0: 'result' })
  }
})

t.test('BB-046 what precedes the answers makes it a stream', async t => {
  const { url } = await build(t)
  const client = await legacy(url, '2025-03-26', { t })
  const call = callBody('progress', { n: 2, delayMs: 5 }, 'p')
  const answer = await client.post([{ ...call, params: { ...call.params, _meta: { progressToken: 'tok' } } }, pingBody('q')])
  t.equal(answer.type, 'text/event-stream')
  t.ok(await answer.over())
  t.strictSame(answer.messages.filter(isNote('notifications/progress')).map(({ params }) => [params.progressToken, params.progress]), [['tok', 1], ['tok', 2]])
  t.strictSame(byId(answer.messages.filter(message => 'id' in message)), { p: 'result', q: 'result' })
})

t.test('BB-046 a call of a batch can be cancelled alone', async t => {
  const { url, slow } = await build(t)
  const client = await legacy(url, '2025-03-26', { t })
  const pending = client.post([callBody('slow', { ms: 60_000 }, 1), callBody('slow', { ms: 300 }, 2)])
  await sleep(100)
  await client.notify('notifications/cancelled', { requestId: 1 })
  const answer = await pending
  t.ok(await answer.over())
  t.strictSame(byId(answer.messages), { 2: 'result' })
  t.strictSame(slow.map(one => one.outcome), ['aborted', 'finished'])
})

t.test('answers of the client come in a batch too, in a session', async t => {
  const asks = defineTool({ name: 'where', handler: async (_, ctx) => JSON.stringify(await ctx.roots()) })
  const { url } = await build(t, { options: { tools: [asks] } })
  const client = await legacy(url, '2025-03-26', { t, initialize: { capabilities: { roots: {} } } })
  const call = client.start('tools/call', { name: 'where' })
  const { id } = await call.inbox.first('the question', message => message.method === 'roots/list')
  const answer = { jsonrpc: '2.0', id, result: { roots: [{ uri: 'file:///here' }] } }
  const posted = await client.post([answer, note])
  t.match({ status: posted.status, text: posted.text }, { status: 202, text: '' })
  t.match((await call.reply).result, { content: [{ text: /file:..\/here/ }] })
  const stranger = new HttpPeer(t, url, legacyDialect('2025-03-26'))
  rpcRefusal(t, await stranger.post([answer]), 400, -32600, 'without a session nobody was asked')
})

t.test('the calls of a batch that listen for their signal warn of nothing', async t => {
  const { url, slow } = await build(t)
  const warnings: Error[] = []
  const hear = (warning: Error) => { warnings.push(warning) }
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  const client = await legacy(url, '2025-03-26', { t, handshake: false })
  const answer = await client.post(Array.from({ length: 20 }, (_, id) => callBody('slow', { ms: 20 }, id)))
  t.ok(await answer.over())
  t.equal(slow.length, 20)
  t.strictSame(warnings.map(({ name }) => name), [])
})

t.test('BB-046 initialize is no part of a batch', async t => {
  const { url, app } = await build(t)
  const client = new HttpPeer(t, url, legacyDialect('2025-03-26'))
  const answer = await client.post([initializeBody(1, '2025-03-26'), pingBody(2)])
  t.ok(await answer.over())
  t.equal(answer.messages.find(message => message.id === 1)?.error?.code ?? answer.json.error?.code, -32600)
  t.equal(answer.headers['mcp-session-id'], undefined)
  t.equal(app.mcp.stats().sessions, 0)
})

t.test('BB-046 a batch has an end', async t => {
  const server = await build(t, { options: { limits: { batch: 5 } } })
  const client = await legacy(server.url, '2025-03-26', { t })
  const calls = (n: number) => Array.from({ length: n }, (_, i) => callBody('echo', { text: `${i}` }, i))
  rpcRefusal(t, await client.post(calls(6)), 400, -32600)
  t.strictSame(server.echoed, [])
  t.equal((await client.post(calls(5))).status, 200)
  t.equal(server.echoed.length, 5)
})

t.test('BB-046 no other revision takes them', async t => {
  const server = await build(t)
  const calls = [callBody('echo', { text: 'a' }, 1), callBody('echo', { text: 'b' }, 2)]
  for (const revision of revisions.filter(one => one !== '2025-03-26')) {
    const client = revision === '2026-07-28' ? modern(server.url, { t }) : await legacy(server.url, revision, { t })
    for (const batch of [calls, mixed, [pingBody()], [note, note], []]) {
      const answer = await client.post(batch, { 'Mcp-Method': undefined })
      rpcRefusal(t, answer, 400, -32600, `${revision} ${JSON.stringify(batch).slice(0, 40)}`)
      t.notOk(Array.isArray(answer.json), 'one error for all')
    }
  }
  t.strictSame(server.echoed, [], 'nothing was carried out')
})

t.test('BB-046 the same holds over stdio', async t => {
  for (const revision of revisions.filter(one => one !== '2026-07-28')) {
    const server = await build(t, { listen: false })
    const client = await stdio(server.app, revision, { t })
    await sleep(20) // whatever is said of the tools that the app began with
    for (const id of [1, 2, 3, 4, 9]) client.sent.set(id, id === 2 ? 'tools/list' : 'ping')
    const { messages } = await client.raw(JSON.stringify(mixed))
    if (revision === '2025-03-26') {
      t.strictSame(byId(messages), { 1: 'result', 2: 'result', 3: -32601, 4: -32600, undefined: -32600 })
      t.ok(Array.isArray(JSON.parse(client.lines.at(-1) ?? '')), 'in an array')
      t.strictSame(byId((await client.raw(JSON.stringify([pingBody(9)]))).messages), { 9: 'result' })
      t.match((await client.raw('[]')).messages, [{ error: { code: -32600 } }])
      t.strictSame((await client.raw(JSON.stringify([note, note]))).messages, [])
    } else t.match(messages, [{ error: { code: -32600 } }], revision)
    client.input.end()
    await client.done
  }
})
