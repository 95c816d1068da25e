// Plugins of the app around the endpoint: what they do for any route they do for its routes, streamed replies included.
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import { Type } from '@sinclair/typebox'
import { defineTool } from '../support/app.js'
import { legacy, modern, type Answer, type HttpPeer } from '../support/http.js'
import { wait } from '../support/time.js'
import { callBody, host, initializeBody, pingBody, rpcRefusal } from './host.js'

const ORIGIN = 'https://app.example'
const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const orders = ['before', 'after'] as const
type Order = typeof orders[number]

const tools = [
  defineTool({ name: 'plain', handler: () => 'plain' }),
  defineTool({ name: 'steps', inputSchema: Type.Object({}), handler: async (_, ctx) => { await ctx.progress(1); await ctx.progress(2); return 'streamed' } })
]

/** The endpoint, with something registered before or after it. */
const around = async (t: Test, order: Order, setup: (app: FastifyInstance) => unknown) => await host(t, async app => {
  if (order === 'before') await setup(app)
  await app.register(mcpPlugin, { tools, origins: [ORIGIN] })
  if (order === 'after') await setup(app)
}, { logger: false })

/** Every kind of answer that the endpoint has: JSON, a stream of a call in a session and without one, and one for changes. */
async function answers (t: Test, url: string, headers: Record<string, string> = {}): Promise<Record<string, Answer>> {
  const session = await legacy(url, '2025-11-25', { t, headers })
  const stateless = modern(url, { t, headers })
  const steps = { name: 'steps', arguments: {} }
  const call = async (peer: HttpPeer, params: object) => (await peer.request('tools/call', params, { meta: { progressToken: 'p' } })).answer as Answer
  const all = {
    'JSON in a session': await call(session, { name: 'plain' }),
    JSON: await call(stateless, { name: 'plain' }),
    'a stream of a call in a session': await call(session, steps),
    'a stream of a call': await call(stateless, steps),
    'a stream for changes': await session.get(),
    'a subscription': await stateless.listen({ toolsListChanged: true }).answer as Answer,
    'a refusal': await session.post('{'),
    'no such session': await session.get({ 'Mcp-Session-Id': 'none' }),
    'the end of a session': await session.delete()
  }
  t.strictSame(Object.values(all).map(({ streams }) => streams), [false, false, true, true, true, true, false, false, false])
  t.match(all['a stream of a call'].messages.map(({ method, result }) => method ?? result.content[0].text), ['notifications/progress', 'notifications/progress', 'streamed'])
  return all
}

for (const order of orders) {
  t.test(`registered ${order}: headers of @fastify/cors and @fastify/helmet are on every answer`, async t => {
    const { base } = await around(t, order, async app => {
      await app.register(cors, { origin: [ORIGIN], exposedHeaders: ['Mcp-Session-Id', 'Retry-After'] })
      await app.register(helmet)
    })
    for (const [what, { headers, streams }] of Object.entries(await answers(t, `${base}/mcp`, { origin: ORIGIN }))) {
      t.match(headers, {
        'access-control-allow-origin': ORIGIN,
        'access-control-expose-headers': /Mcp-Session-Id/,
        'content-security-policy': /default-src 'self'/,
        'x-content-type-options': 'nosniff',
        'strict-transport-security': /max-age/,
        vary: /Origin/i
      }, what)
      if (streams) t.match(headers['content-type'], /^text\/event-stream/, what)
    }
    const preflight = await fetch(`${base}/mcp`, { method: 'OPTIONS', headers: { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': 'mcp-session-id' } })
    t.match([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, ORIGIN])
  })

  t.test(`registered ${order}: @fastify/rate-limit counts every request, and its refusal is one of JSON-RPC`, async t => {
    const limit = { max: 12, timeWindow: 60_000 }
    const { base } = await around(t, order, async app => {
      // As with any route: one that is there before the plugin is not seen by it, and is given its hook.
      await app.register(rateLimit, { ...limit, global: order === 'before' })
      if (order === 'after') app.addHook('onRequest', app.rateLimit(limit))
    })
    const url = `${base}/mcp`
    const all = Object.entries(await answers(t, url))
    for (const [what, { headers }] of all) t.match(headers, { 'x-ratelimit-limit': '12', 'x-ratelimit-remaining': /^\d+$/, 'x-ratelimit-reset': /^\d+$/ }, what)
    t.strictSame(new Set(all.map(([, { headers }]) => headers['x-ratelimit-remaining'])).size, all.length, 'each is counted')
    const peer = modern(url, { t })
    let answer = await peer.post(pingBody())
    while (answer.status !== 429) answer = await peer.post(pingBody())
    await refused(t, url, 429)
  })

  t.test(`registered ${order}: @fastify/under-pressure refuses in JSON-RPC`, async t => {
    let healthy = true
    const { base } = await around(t, order, async app => {
      await app.register(underPressure, { healthCheck: async () => healthy, healthCheckInterval: 20, retryAfter: 17 } as never)
    })
    const url = `${base}/mcp`
    await answers(t, url)
    healthy = false
    const status = async () => (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(pingBody()) })).status
    for (let i = 0; i < 100 && await status() === 200; i++) await wait(20)
    const { post } = await refused(t, url, 503)
    t.equal(post.headers['retry-after'], '17')
    t.match(post.json.error, { code: -32603, message: /[Uu]navailable/ })
    t.notMatch(post.json.error.message, /[Ii]nternal/, 'it is no fault')
  })
}

/** What is refused before it is served, by every verb and revision, whatever the answer would have been. */
async function refused (t: Test, url: string, status: number): Promise<{ post: Answer }> {
  const peer = modern(url, { t })
  const of2025 = { 'Mcp-Method': undefined, 'Mcp-Name': undefined, 'MCP-Protocol-Version': undefined }
  const post = await peer.post({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'steps', arguments: {}, _meta: { ...META, progressToken: 'p' } } })
  const all: Record<string, Answer> = {
    'a call': post,
    'a call that takes streams alone': await peer.post(callBody('steps', {}, 7), { Accept: 'text/event-stream' }),
    initialize: await peer.post(initializeBody(7), of2025),
    'a batch': await peer.post([pingBody(7)], of2025),
    'a notification': await peer.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, of2025),
    'a stream': await peer.get(of2025),
    'the end of a session': await peer.delete(of2025)
  }
  for (const [what, answer] of Object.entries(all)) {
    rpcRefusal(t, answer, status, status < 500 ? -32600 : -32603, what)
    t.match(answer.headers['retry-after'], /^\d+$/, `${what}: when to come back`)
  }
  return { post }
}
