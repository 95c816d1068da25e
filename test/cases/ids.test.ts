// Section 3: request ids, and whose answer goes to whom.
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { build, defineTool } from '../support/app.js'
import { said, until } from '../support/audit.js'
import { httpSse, legacy, modern, type HttpPeer } from '../support/http.js'
import { clientInfo, isNote, isResponse, metaKey, sleep } from '../support/stdio.js'
import { callBody, PATIENCE, pingBody, rpcRefusal } from './host.js'

t.test('BB-019 two requests in flight with one id each get their own answer', async t => {
  const { url, app } = await build(t)
  for (const accept of ['application/json', 'application/json, text/event-stream', 'text/event-stream']) {
    const client = await legacy(url, '2025-06-18', { t, headers: { Accept: accept } })
    let crossed = 0
    const round = async (_: unknown, i: number) => {
      const slow = client.call('slow', { ms: 30 + i % 20 }, { id: 1 })
      const quick = client.call('echo', { text: `${i}` }, { id: 1 })
      if (said(await quick) !== `${i}` || said(await slow) !== 'done') crossed++
    }
    for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 20 }, round))
    t.equal(crossed, 0, `100 rounds, ${accept}`)
    t.match(await client.call('echo', { text: 'again' }, { id: 1 }), { id: 1, result: { content: [{ text: 'again' }] } })
  }
  t.equal(app.mcp.stats().calls, 0)
})

t.test('BB-019 where all answers come on one stream, the second is refused', async t => {
  const { url } = await build(t)
  const client = await httpSse(url, { t })
  const slow = client.start('tools/call', { name: 'slow', arguments: { ms: 300 } }, { id: 1 })
  const second = await client.raw(JSON.stringify(callBody('echo', { text: 'B' }, 1)))
  t.match(second.messages, [{ id: 1, error: { code: -32600 } }])
  await client.all.first('the answer to the first', message => message.id === 1 && 'result' in message)
  slow.reply.catch(() => {})
  t.match((await client.call('echo', { text: 'again' }, { id: 1 })).result, { content: [{ text: 'again' }] }, 'then the id is free')
})

t.test('BB-020 no client gets what is another\'s', async t => {
  const mine = defineTool({
    name: 'mine',
    inputSchema: Type.Object({ n: Type.Integer() }),
    async handler ({ n }, ctx) {
      await ctx.progress(n + 1)
      await sleep(n * 7 % 11)
      return JSON.stringify({ n, client: ctx.client?.name, header: ctx.request?.headers['x-caller'], session: ctx.session?.id })
    }
  })
  const server = await build(t, { options: { tools: [mine] } })
  const CLIENTS = 15
  const make = async (_: unknown, i: number): Promise<HttpPeer> => {
    const headers = { 'X-Caller': `${i}` }
    const info = { ...clientInfo, name: `client ${i}` }
    if (i % 3 === 0) return modern(server.url, { t, headers, meta: { [`${metaKey}clientInfo`]: info } })
    const client = await legacy(server.url, '2025-11-25', { t, headers, initialize: { clientInfo: info } })
    if (i % 3 === 1) client.session = undefined
    return client
  }
  const clients = await Promise.all(Array.from({ length: CLIENTS }, make))
  const wrong: unknown[] = []
  const ask = async (client: HttpPeer, i: number, n: number) => {
    const call = client.start('tools/call', { name: 'mine', arguments: { n } }, { id: n, meta: { progressToken: n } })
    if ((i + n) % 4 === 0) return setTimeout(call.abort, n % 5)
    const reply = await call.reply
    const expected = { n, client: i % 3 === 1 ? undefined : `client ${i}`, header: `${i}`, session: client.session }
    const progress = reply.notes.map(({ params }) => [params.progressToken, params.progress])
    if (said(reply) !== JSON.stringify(expected) || JSON.stringify(progress) !== JSON.stringify([[n, n + 1]])) wrong.push([expected, said(reply), progress])
  }
  for (let n = 0; n < 40; n++) await Promise.all(clients.map((client, i) => ask(client, i, n)))
  t.strictSame(wrong, [], `${CLIENTS * 40} calls with the same ids`)
  t.ok(await until(() => server.app.mcp.stats().calls === 0, PATIENCE))
})

const goodIds = [0, '', '0', 'a-ü', -1, 9007199254740991, -9007199254740991, '9007199254740993', 'null', 'x'.repeat(300)]
const badIds = [null, true, false, {}, [1], 1.5, 2 ** 53]

t.test('BB-021 ids come back as they were', async t => {
  const { url } = await build(t)
  for (const accept of ['application/json', 'text/event-stream']) {
    const client = await legacy(url, '2025-06-18', { t, headers: { Accept: accept } })
    const stateless = modern(url, { t, headers: { Accept: accept } })
    for (const id of goodIds) {
      t.strictSame((await client.request('ping', undefined, { id })).id, id, `ping ${JSON.stringify(id)}`)
      t.strictSame((await client.call('nope', {}, { id })).message.id, id, 'on an error')
      t.strictSame((await client.call('echo', { text: 'x' }, { id, meta: { progressToken: 1 } })).id, id, 'on a call')
      t.strictSame((await stateless.call('progress', { n: 1 }, { id, meta: { progressToken: id } })).id, id, 'in 2026-07-28')
    }
  }
})

t.test('BB-021 what cannot be an id is refused, and no id at all makes a notification', async t => {
  const { url, echoed } = await build(t)
  const client = await legacy(url, '2025-06-18', { t })
  for (const id of badIds) {
    const answer = await client.post(callBody('echo', { text: 'x' }, id))
    rpcRefusal(t, answer, 400, -32600, JSON.stringify(id))
    t.notOk(answer.json.id, 'without an id')
  }
  t.equal((await client.post({ ...pingBody(), id: undefined })).status, 202)
  t.strictSame(echoed, [])
})

t.test('BB-022 a cancellation reaches the call of its own session alone', async t => {
  const { url, slow, app } = await build(t)
  const a = await legacy(url, '2025-11-25', { t })
  const b = await legacy(url, '2025-11-25', { t })
  const start = (client: HttpPeer, ms: number) => client.start('tools/call', { name: 'slow', arguments: { ms } }, { id: 7 })
  const inA = start(a, 60_001)
  const inB = start(b, 60_002)
  t.ok(await until(() => app.mcp.stats().calls === 2, PATIENCE))
  const before = Date.now()
  t.equal((await b.notify('notifications/cancelled', { requestId: 7, reason: 'enough' })).status, 202)
  t.ok(await until(() => slow.length === 1, PATIENCE))
  t.ok(Date.now() - before < 5000, 'it does not wait for the call')
  t.strictSame(slow, [{ ms: 60_002, outcome: 'aborted' }])
  t.ok(await (await inB.answer)?.over(PATIENCE), 'the POST ends')
  t.strictSame(inB.inbox.messages.filter(isResponse), [], 'without an answer')

  for (const params of [{ requestId: '7' }, { requestId: 8 }, { requestId: 'init' }, { requestId: null }, {}]) {
    t.equal((await a.notify('notifications/cancelled', params)).status, 202)
  }
  await a.request('ping', undefined, { id: 9 })
  t.equal((await a.notify('notifications/cancelled', { requestId: 9 })).status, 202, 'one that is answered already')
  await sleep(50)
  t.equal(slow.length, 1, 'none of these is the call of A')
  t.equal((await a.notify('notifications/cancelled', { requestId: 7 })).status, 202)
  t.ok(await until(() => slow.length === 2, PATIENCE))
  t.strictSame(slow[1], { ms: 60_001, outcome: 'aborted' })
  inA.reply.catch(() => {})
})

t.test('BB-022 nobody cancels from outside the session', async t => {
  const { url, slow, app } = await build(t)
  const a = await legacy(url, '2025-11-25', { t })
  const call = a.start('tools/call', { name: 'slow', arguments: { ms: 400 } }, { id: 7, meta: { progressToken: 7 } })
  t.ok(await until(() => app.mcp.stats().calls === 1, PATIENCE))
  const stranger = await legacy(url, '2025-11-25', { t, handshake: false })
  await stranger.notify('notifications/cancelled', { requestId: 7 })
  await modern(url, { t }).notify('notifications/cancelled', { requestId: 7 }, { meta: {} })
  t.match((await call.reply).result, { content: [{ text: 'done' }] })
  t.strictSame(slow, [{ ms: 400, outcome: 'finished' }])
  t.notOk((await call.reply).notes.some(isNote('notifications/cancelled')))
})
