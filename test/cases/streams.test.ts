// Section 5: streams of server-sent events, and what stands between them and the client.
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions } from '../../types/index.js'
import { build, defineTool } from '../support/app.js'
import { until } from '../support/audit.js'
import { httpSse, legacy, modern, type Answer } from '../support/http.js'
import { isNote, sleep } from '../support/stdio.js'
import { host, PATIENCE } from './host.js'
import { watchTimers } from './timers.js'

const ticker = defineTool({
  name: 'ticker',
  inputSchema: Type.Object({ ms: Type.Integer() }),
  async handler ({ ms }, ctx) {
    await ctx.progress(1)
    await setTimeout(ms, undefined, { signal: ctx.signal })
    return 'done'
  }
})

/** One stream of each kind, open; the headers are those of the requests that stream. */
async function allStreams (t: Test, url: string, headers: Record<string, string> = {}): Promise<Record<string, Answer>> {
  const client = await legacy(url, '2025-11-25', { t })
  const call = client.start('tools/call', { name: 'ticker', arguments: { ms: 60_000 } }, { meta: { progressToken: 1 }, headers })
  const listen = modern(url, { t }).listen({ toolsListChanged: true }, { headers })
  for (const one of [call, listen]) one.reply.catch(() => {})
  return {
    'HTTP+SSE': (await httpSse(url, { t, headers, handshake: false })).stream,
    GET: await client.get(headers),
    POST: await call.answer as Answer,
    listen: await listen.answer as Answer
  }
}

t.test('BB-033 nothing on the way holds events back', async t => {
  const { app, base } = await host(t, async app => {
    await app.register(compress, { global: true, threshold: 0 })
    await app.register(mcpPlugin, { tools: [ticker], closeTimeout: 50 })
  })
  const streams = await allStreams(t, `${base}/mcp`, { 'Accept-Encoding': 'gzip, br' })
  app.mcp.tools.add({ name: 'new', handler: () => 'x' })
  for (const [kind, { status, headers, inbox, events }] of Object.entries(streams)) {
    t.equal(status, 200, kind)
    t.match(headers['content-type'], /^text\/event-stream\b/, kind)
    t.match(headers['cache-control'], /no-cache|no-store/, `${kind}: no cache keeps it`)
    t.match(headers['cache-control'], /no-transform/, `${kind}: nothing is made of it`)
    t.equal(headers['x-accel-buffering'], 'no', `${kind}: nginx does not gather it`)
    t.equal(headers['content-encoding'], undefined, `${kind}: as it is`)
    t.equal(headers['content-length'], undefined, kind)
    if (kind === 'HTTP+SSE') t.ok(await until(() => events.length > 0, PATIENCE), 'the endpoint event')
    else await inbox.first(`an event on ${kind} while it is open`, message => message.method !== undefined)
  }
  const list = await app.inject({ method: 'POST', url: '/mcp', headers: { 'accept-encoding': 'gzip' }, payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
  t.match(list, { statusCode: 200, headers: { 'content-encoding': 'gzip' } }, 'JSON may be compressed')
  t.match(JSON.parse(gunzipSync(list.rawPayload).toString()), { result: { tools: [{ name: 'ticker' }, { name: 'new' }] } })
})

t.test('BB-034 headers that hooks have set are on streams as on any reply', async t => {
  const origin = 'https://app.example'
  const headers = { Origin: origin }
  let requests = 0
  const { base } = await host(t, async app => {
    await app.register(cors, { origin: [origin], exposedHeaders: ['Mcp-Session-Id'] })
    app.addHook('onRequest', async (_, reply) => { reply.header('x-request-id', `r${++requests}`).header('x-frame-options', 'DENY') })
    app.addHook('preHandler', async (_, reply) => { reply.header('x-limit', '10') })
    await app.register(mcpPlugin, { tools: [ticker], origins: [origin], closeTimeout: 50 })
  })
  const client = await legacy(`${base}/mcp`, '2025-11-25', { t, headers })
  const json = await client.request('ping')
  const opened = await legacy(`${base}/mcp`, '2025-11-25', { t, headers: { ...headers, Accept: 'text/event-stream' }, handshake: false })
  const asStream = (await opened.initialize()).answer as Answer
  const asJson = (await (await legacy(`${base}/mcp`, '2025-11-25', { t, headers, handshake: false })).initialize()).answer as Answer
  t.strictSame([asStream.type, asJson.type], ['text/event-stream', 'application/json'])
  const names = ['access-control-allow-origin', 'access-control-expose-headers', 'vary', 'x-frame-options', 'x-limit']
  const of = (answer: Answer) => Object.fromEntries(names.map(name => [name, answer.headers[name]]))
  const expected = of(json.answer as Answer)
  t.match(expected, { 'access-control-allow-origin': origin, 'access-control-expose-headers': 'Mcp-Session-Id', vary: /Origin/, 'x-limit': '10' })
  for (const [kind, answer] of Object.entries({ ...await allStreams(t, `${base}/mcp`, headers), initialize: asStream })) {
    t.strictSame(of(answer), expected, kind)
    t.match(answer.headers['x-request-id'], /^r\d+$/, kind)
  }
  for (const answer of [asStream, asJson]) t.match(answer.headers['mcp-session-id'], String, 'the session of initialize')
})

t.test('BB-035 a quiet stream is kept open by comments', async t => {
  const timers = watchTimers(t)
  const { app, base } = await host(t, app => app.register(mcpPlugin, { tools: [ticker], sse: { keepAlive: 50 }, closeTimeout: 50 }))
  const streams = await allStreams(t, `${base}/mcp`)
  for (const [kind, answer] of Object.entries(streams)) {
    t.ok(await until(() => answer.comments.length >= 3, PATIENCE), `${kind}: comments`)
    const primed = kind === 'GET' || kind === 'POST' // streams of 2025-11-25, which can be resumed, begin with an id and no data
    const events = answer.events.filter(({ id, data }, i) => !(primed && i === 0 && data === '' && id !== undefined))
    t.equal(events.length, kind === 'GET' ? 0 : 1, `${kind}: no event for it`)
    t.notOk(events.some(({ data }) => data === ''), `${kind}: none without data`)
  }
  t.ok(timers.open() > 0, 'the timers are seen')
  await app.close()
  t.ok(await until(() => timers.open() === 0), 'no timer is left')
  for (const [kind, answer] of Object.entries(streams)) {
    t.ok(await answer.over(), kind)
    const { length } = answer.comments
    await sleep(60)
    t.equal(answer.comments.length, length, `${kind}: nothing follows the end`)
  }
})

t.test('BB-035 a call that streams late is kept open as well, and an error is never preceded', async t => {
  const { url } = await build(t, { options: { sse: { keepAlive: 50, after: 50 } } })
  const client = await legacy(url, '2025-11-25', { t })
  const slow = await client.call('slow', { ms: 500 })
  t.equal(slow.answer?.type, 'text/event-stream')
  t.ok((slow.answer?.comments.length ?? 0) >= 3, 'comments while it runs')
  t.match(slow.result, { content: [{ text: 'done' }] })
  const refused = await client.post({ jsonrpc: '2.0', id: 1 })
  t.match({ status: refused.status, type: refused.type }, { status: 400, type: 'application/json' })
})

t.test('BB-036 no event without data reaches a client that would choke on it', async t => {
  const options: McpOptions = { sse: { after: 20, keepAlive: 50 } }
  const { url, app } = await build(t, { options })
  for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const) {
    const stateless = revision === '2026-07-28'
    const client = stateless ? modern(url, { t }) : await legacy(url, revision, { t })
    const call = client.start('tools/call', { name: 'slow', arguments: { ms: 150 } })
    const progress = await client.call('progress', { n: 2 }, { meta: { progressToken: 1 } })
    const change = stateless ? await client.listen({ toolsListChanged: true }).answer as Answer : await client.get()
    change_(app)
    await change.inbox.first('a change', isNote('notifications/tools/list_changed'))
    const answers = [(await call.reply).answer as Answer, progress.answer as Answer, change]
    for (const { events } of answers) {
      events.forEach(({ id, data }, i) => {
        if (revision === '2025-11-25') t.ok(data !== '' || (i === 0 && id !== undefined), `${revision}: empty is at most the first, and has an id`)
        else t.not(data, '', `${revision}: none is empty`)
        if (stateless) t.equal(id, undefined, `${revision}: no id, since nothing can be resumed`)
      })
    }
    const opening = await legacy(url, revision === '2026-07-28' ? '2025-06-18' : revision, { t, handshake: false, headers: { Accept: 'text/event-stream' } })
    const { answer } = await opening.initialize()
    if (revision < '2025-11-25') t.notOk(answer?.events.some(({ data }) => data === ''), `${revision}: nor on the reply to initialize`)
    change.close()
  }
})

function change_ (app: FastifyInstance) {
  app.mcp.tools.disable('noargs')
  app.mcp.tools.enable('noargs')
}

t.test('a handler that sends much at once waits for its reader, and loses nothing', async t => {
  const { url } = await build(t, { options: { tools: [defineTool({ name: 'flood', handler: async (_, ctx) => { for (let i = 1; i <= 60_000; i++) await ctx.progress(i); return 'done' } })] } })
  const meta = { progressToken: 1, 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'flood' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'flood', _meta: meta } })
  })
  const text = await response.text()
  t.equal(text.split('notifications/progress').length, 60_001)
  t.match(text, /"text":"done"\}\]\}\}\n\n$/)
})
