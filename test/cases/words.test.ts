// Section 8: what each revision has words for; who may see what; and streams of changes.
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { audio, build, defineTool, embedded, image, resourceLink, text } from '../support/app.js'
import { until } from '../support/audit.js'
import { legacy, modern } from '../support/http.js'
import { isNote, isResponse, metaKey, sleep, subscriptionId, type Call } from '../support/stdio.js'
import { revisions } from '../support/wire.js'
import { PATIENCE, rpcRefusal } from './host.js'

const rich = defineTool({
  name: 'rich',
  title: 'Rich',
  description: 'One of everything.',
  icons: [{ src: 'https://a.example/i.png', mimeType: 'image/png', sizes: ['48x48'] }],
  annotations: { readOnlyHint: true, title: 'Rich too' },
  _meta: { 'com.example/x': 1 },
  outputSchema: Type.Object({ ok: Type.Boolean() }),
  handler: () => ({ ok: true })
})
const blocks = defineTool({
  name: 'blocks',
  handler: () => [text('t', { annotations: { audience: ['user'], priority: 1 } }), image('AAAA', 'image/png'), audio('AAAA', 'audio/wav'), resourceLink({ uri: 'mem://a', name: 'a', title: 'A' }), embedded({ uri: 'mem://b', text: 'b' })]
})

t.test('BB-053 each revision is sent its own words, and all of them', async t => {
  const serverInfo = { name: 'worded', version: '1', title: 'Worded', description: 'd', websiteUrl: 'https://a.example', icons: [{ src: 'https://a.example/i.png' }] }
  const { url } = await build(t, { bare: true, options: { tools: [rich, blocks], serverInfo, instructions: 'i' } })
  for (const revision of revisions) {
    const stateless = revision === '2026-07-28'
    const client = stateless ? modern(url, { t }) : await legacy(url, revision, { t }) // each message is held against the schema of its revision
    const results: Record<string, any> = {}
    for (const method of stateless ? ['server/discover', 'tools/list'] : ['tools/list', 'ping']) results[method] = (await client.request(method)).result
    for (const name of ['rich', 'blocks']) results[name] = (await client.call(name)).result
    if (!stateless) results.initialize = (await client.initialize()).result
    for (const [what, result] of Object.entries(results)) {
      if (!stateless) {
        t.notOk(['resultType', 'ttlMs', 'cacheScope'].some(word => word in result), `${revision} ${what}: nothing of later`)
        continue
      }
      t.match(result, { resultType: 'complete', _meta: { [`${metaKey}serverInfo`]: serverInfo } }, what)
      const cached = ['server/discover', 'tools/list'].includes(what)
      t.equal('ttlMs' in result && 'cacheScope' in result, cached, `${what}: hints for caches ${cached ? 'there' : 'not there'}`)
      if (cached) t.ok(Number.isInteger(result.ttlMs) && result.ttlMs >= 0 && ['public', 'private'].includes(result.cacheScope), what)
    }
    const [tool] = results['tools/list'].tools
    const since: Record<string, string> = { annotations: '2025-03-26', title: '2025-06-18', outputSchema: '2025-06-18', _meta: '2025-06-18', icons: '2025-11-25' }
    for (const [word, first] of Object.entries(since)) t.equal(word in tool, revision >= first, `${revision}: ${word} of a tool`)
    const types = results.blocks.content.map((block: { type: string }) => block.type)
    t.strictSame(types, ['text', 'image', revision < '2025-03-26' ? 'text' : 'audio', revision < '2025-06-18' ? 'text' : 'resource_link', 'resource'], revision)
    if (revision < '2025-06-18') t.match(results.blocks.content[3].text, /mem:\/\/a/, `${revision}: the link is told in text`)
    t.equal('structuredContent' in results.rich, revision >= '2025-06-18', revision)
    if (results.initialize === undefined) continue
    t.equal('title' in results.initialize.serverInfo, revision >= '2025-06-18', revision)
    t.equal('icons' in results.initialize.serverInfo, revision >= '2025-11-25', revision)
  }
})

t.test('BB-053 the order of a list does not change', async t => {
  const { url } = await build(t)
  const names = async () => (await modern(url, { t }).request('tools/list')).result.tools.map((tool: { name: string }) => tool.name)
  const first = await names()
  for (let i = 0; i < 10; i++) t.strictSame(await names(), first)
})

t.test('BB-054 a hidden tool is neither listed nor called', async t => {
  const { url, app, echoed } = await build(t, { options: { pageSize: 3 } })
  const clients = [await legacy(url, '2025-06-18', { t }), await legacy(url, '2025-11-25', { t }), modern(url, { t })]
  const unknown = await Promise.all(clients.map(client => client.call('nope', { text: 'x' })))
  app.mcp.tools.disable('echo')
  for (const [i, client] of clients.entries()) {
    let cursor: string | undefined
    do {
      const { result } = await client.request('tools/list', cursor === undefined ? {} : { cursor })
      t.notOk(result.tools.some((tool: { name: string }) => tool.name === 'echo'))
      cursor = result.nextCursor
    } while (cursor !== undefined)
    const hidden = await client.call('echo', { text: 'x' })
    t.equal(hidden.error.message, unknown[i]?.error.message.replace('nope', 'echo'), 'the answer is that for no tool at all')
    t.equal(hidden.error.code, unknown[i]?.error.code)
    t.equal(hidden.answer?.status, unknown[i]?.answer?.status)
    t.match((await client.call('echo', { text: 7 })).error, hidden.error, 'whatever the arguments')
  }
  t.strictSame(echoed, [])
})

t.test('BB-054 how far a list may be shared is said on every page', async t => {
  for (const cacheScope of [undefined, 'public', 'private'] as const) {
    const { url } = await build(t, { options: { pageSize: 3, ...(cacheScope && { cache: { cacheScope, ttlMs: 0 } }) } })
    const client = modern(url, { t })
    const pages = [(await client.request('server/discover')).result]
    let cursor: string | undefined
    do {
      pages.push((await client.request('tools/list', cursor === undefined ? {} : { cursor })).result)
      cursor = pages.at(-1).nextCursor
    } while (cursor !== undefined)
    t.ok(pages.length > 4)
    for (const page of pages) t.match(page, { cacheScope: cacheScope ?? 'public', ttlMs: cacheScope === undefined ? 60_000 : 0 })
  }
})

t.test('BB-055 a stream of changes begins with what it will tell', async t => {
  const { url, app } = await build(t)
  const client = modern(url, { t })
  const open = async (notifications: unknown, id: unknown) => {
    const call: Call = client.listen(notifications, { id })
    call.reply.catch(() => {})
    const answer = await call.answer
    t.equal(answer?.type, 'text/event-stream')
    await call.inbox.first('the acknowledgment', () => true)
    return { call, notes: call.inbox.messages }
  }
  const one = await open({ toolsListChanged: true, resourceSubscriptions: ['mem://a'] }, 'sub-1')
  const none = await open({}, 7)
  const other = await open({ promptsListChanged: true, resourcesListChanged: false }, '7')
  for (const [{ notes }, id] of [[one, 'sub-1'], [none, 7], [other, '7']] as const) {
    t.match(notes[0], { method: 'notifications/subscriptions/acknowledged' })
    t.strictSame(notes[0]?.params._meta[subscriptionId], id, 'the id, its type kept')
  }
  t.strictSame(none.notes[0]?.params.notifications, {})
  t.strictSame(other.notes[0]?.params.notifications, {}, 'no prompts, so no changes of them')
  t.match(one.notes[0]?.params.notifications, { toolsListChanged: true })
  t.notOk('promptsListChanged' in one.notes[0]?.params.notifications)

  app.mcp.tools.disable('noargs')
  const heard = await one.call.inbox.first('a change', isNote('notifications/tools/list_changed'))
  t.strictSame(heard.params._meta[subscriptionId], 'sub-1')
  app.mcp.tools.enable('noargs')
  await sleep(60)
  t.equal(one.notes.filter(isNote('notifications/tools/list_changed')).length, 2)
  for (const { notes } of [none, other]) t.equal(notes.length, 1, 'who did not ask hears nothing')
  t.strictSame([...one.notes, ...none.notes, ...other.notes].filter(isResponse), [], 'no answer until the end')
  for (const { call } of [one, none, other]) call.abort()
  t.ok(await until(() => app.mcp.stats().streams === 0, PATIENCE))
})

t.test('BB-055 nothing is told before the acknowledgment', async t => {
  const { url, app } = await build(t)
  let firsts = 0
  for (let i = 0; i < 30; i++) {
    const call = modern(url, { t }).listen({ toolsListChanged: true })
    call.reply.catch(() => {})
    const noise = setInterval(() => { app.mcp.tools.disable('noargs'); app.mcp.tools.enable('noargs') }, 0)
    await call.inbox.first('a change', isNote('notifications/tools/list_changed'))
    clearInterval(noise)
    if (call.inbox.messages[0]?.method === 'notifications/subscriptions/acknowledged') firsts++
    call.abort()
  }
  t.equal(firsts, 30)
})

t.test('BB-055 a wish of the wrong kind, and a client that takes no streams, are refused', async t => {
  const { url, app } = await build(t)
  const client = modern(url, { t })
  for (const params of [{}, { notifications: null }, { notifications: [] }, { notifications: { toolsListChanged: 'yes' } }, { notifications: { resourceSubscriptions: 'mem://a' } }, { notifications: { resourceSubscriptions: [7] } }]) {
    const { error, answer } = await client.request('subscriptions/listen', params)
    t.equal(error?.code, -32602, JSON.stringify(params))
    t.equal(answer?.type, 'application/json')
  }
  const answer = await client.post(client.compose('subscriptions/listen', { notifications: {} }, { id: 1 }), { Accept: 'application/json' })
  rpcRefusal(t, answer, [406, 400])
  t.equal(app.mcp.stats().streams, 0)
})

t.test('BB-055 there is an end to streams, and closed ones leave nothing', async t => {
  const { url, app } = await build(t, { options: { limits: { streams: 10 } as {} } })
  const client = modern(url, { t })
  const listen = async () => {
    const call = client.listen({ toolsListChanged: true })
    call.reply.catch(() => {})
    const { status } = await call.answer ?? { status: 0 }
    return { call, status }
  }
  for (let round = 0; round < 50; round++) {
    const opened = await Promise.all(Array.from({ length: 10 }, listen))
    if (opened.some(({ status }) => status !== 200)) t.fail(`HTTP ${opened.map(one => one.status)} in round ${round}`)
    if (round === 0) {
      const { error, answer } = await client.request('subscriptions/listen', { notifications: {} })
      t.match({ status: answer?.status, code: error?.code, retry: answer?.headers['retry-after'] }, { status: 503, code: Number, retry: String }, 'one too many')
      t.equal(app.mcp.stats().streams, 10)
    }
    for (const { call } of opened) call.abort()
    if (!await until(() => app.mcp.stats().streams === 0, PATIENCE)) t.fail(`${app.mcp.stats().streams} streams are left after round ${round}`)
  }
  t.strictSame(app.mcp.stats(), { sessions: 0, streams: 0, calls: 0 }, 'after 500 of them')
  app.mcp.tools.disable('noargs')
})
