// CASES.md section 9: a resource server, as clients and as others who are none of them see it.
import cors from '@fastify/cors'
import Fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions } from '../../types/index.js'
import { defineTool } from '../support/app.js'
import { AUDIENCE, Issuer, seconds } from '../support/issuer.js'

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

async function serve (t: Test, options: (issuer: Issuer) => Partial<McpOptions> = () => ({}), before?: (app: ReturnType<typeof Fastify>) => Promise<unknown>) {
  const issuer = await new Issuer().start(t)
  const app = Fastify()
  t.teardown(() => app.close())
  await before?.(app)
  const ran: string[] = []
  const run = (name: string, more: object = {}) => defineTool({ name, ...more, handler: (_, ctx) => { ran.push(name); return ctx.auth?.subject ?? 'anon' } })
  const tools = [run('who'), run('admin', { scopes: ['files:read', 'files:write'] }), run('hidden', { visible: (ctx: any) => ctx.auth?.scopes.includes('admin') })]
  await app.register(mcpPlugin, { tools, auth: { jwt: issuer.jwt, resource: AUDIENCE, implies: (granted, needed) => granted === 'files:*' && needed.startsWith('files:') }, ...options(issuer) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/mcp`
  const send = async (token: string | undefined, body: unknown, headers: Record<string, string> = {}, method = 'POST') => {
    const accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream'
    const response = await fetch(url, { method, headers: { accept, ...(token && { authorization: `Bearer ${token}` }), ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }, ...(body !== undefined && { body: JSON.stringify(body) }) })
    if (method === 'GET' && response.status === 200) return { status: 200, headers: response.headers, json: undefined as any, cancel: async () => await response.body?.cancel() }
    const text = await response.text()
    return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text.replace(/^[\s\S]*?data: /, '')) as any, cancel: async () => {} }
  }
  const legacy = async (token: string, revision = '2025-11-25') => {
    const reply = await send(token, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'c', version: '1' } } })
    return { 'mcp-session-id': reply.headers.get('mcp-session-id') as string, 'mcp-protocol-version': revision }
  }
  const modern = async (token: string | undefined, method: string, params: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    await send(token, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(typeof params.name === 'string' && { 'mcp-name': params.name }), ...headers })
  return { app, issuer, url, ran, send, legacy, modern }
}

const call = (name: string) => ({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name } })

t.test('BB-054 lists and calls are each caller\'s own', async t => {
  const { issuer, modern, send, legacy, ran } = await serve(t)
  const [user, admin] = [await issuer.token(), await issuer.token({ sub: 'root', scope: 'admin' })]
  const names = async (token: string) => (await modern(token, 'tools/list')).json.result
  t.match(await names(admin), { tools: [{ name: 'who' }, { name: 'admin' }, { name: 'hidden' }], cacheScope: 'private' })
  const seen = await names(user)
  t.strictSame([seen.tools.map((one: any) => one.name), seen.cacheScope], [['who', 'admin'], 'private'])
  const unknown = (await modern(user, 'tools/call', { name: 'nope' })).json.error
  const hidden = (await modern(user, 'tools/call', { name: 'hidden' })).json.error
  t.strictSame([hidden.code, hidden.message.replace('hidden', 'nope')], [unknown.code, unknown.message])
  t.match((await send(user, call('hidden'), await legacy(user))).json, { error: { code: -32602 } })
  t.strictSame(ran, [])
})

t.test('BB-059 BB-060 the challenge leads to the metadata, which names the URL that clients use', async t => {
  const told = await serve(t)
  const denied = await told.modern(undefined, 'tools/list')
  t.equal(denied.status, 401)
  const link = /resource_metadata="([^"]+)"/.exec(denied.headers.get('www-authenticate') ?? '')?.[1] as string
  t.equal(link, 'https://mcp.example.test' + WELL_KNOWN + '/mcp')
  t.match((await told.app.inject(new URL(link).pathname)).json(), { resource: AUDIENCE, authorization_servers: [told.issuer.url], scopes_supported: ['files:read', 'files:write'] })
  const { app } = await serve(t, issuer => ({ auth: { jwt: issuer.jwt } }))
  t.match((await app.inject({ url: `${WELL_KNOWN}/mcp`, headers: { 'x-forwarded-host': 'evil.example' } })).json(), { resource: /^http:\/\/localhost/ }, 'a forwarded host counts where the app trusts its proxy alone')
})

t.test('BB-063 a scope that is missing is 403 before any stream, and named with the others', async t => {
  const { issuer, send, modern, legacy, ran } = await serve(t)
  const [one, both, star] = await Promise.all(['files:read', 'files:write files:read', 'files:*'].map(async scope => await issuer.token({ scope }))) as [string, string, string]
  for (const accept of ['application/json, text/event-stream', 'text/event-stream']) {
    for (const reply of [await modern(one, 'tools/call', { name: 'admin' }, { accept }), await send(one, call('admin'), { ...await legacy(one), accept })]) {
      t.equal(reply.status, 403)
      t.match(reply.headers.get('content-type'), /^application\/json/)
      t.match(reply.headers.get('www-authenticate'), /^Bearer error="insufficient_scope".*scope="files:read files:write".*resource_metadata=/)
    }
  }
  const batch = await send(one, [call('admin'), { jsonrpc: '2.0', id: 3, method: 'ping' }], await legacy(one, '2025-03-26'))
  t.match(batch.json.find((answer: any) => answer.id === 2), { error: { code: -32600 } })
  t.strictSame(ran, [])
  for (const token of [both, star]) t.match((await modern(token, 'tools/call', { name: 'admin' })).json, { result: { content: [{ text: 'ada' }] } })
})

t.test('BB-064 a browser may ask before it has a token, and read every answer', async t => {
  const origin = 'https://app.example'
  const { app, issuer, modern } = await serve(t, issuer => ({ auth: { jwt: issuer.jwt }, origins: [origin] }), async app => await app.register(cors, { origin, methods: ['GET', 'POST', 'DELETE'], exposedHeaders: ['Mcp-Session-Id', 'WWW-Authenticate'] }))
  const preflight = await app.inject({ method: 'OPTIONS', url: '/mcp', headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,mcp-method' } })
  t.match(preflight, { statusCode: 204, headers: { 'access-control-allow-origin': origin } })
  for (const token of [undefined, await issuer.token()]) {
    const { headers } = await modern(token, 'tools/call', { name: 'admin' }, { origin })
    t.equal(headers.get('access-control-allow-origin'), origin)
    t.match(headers.get('access-control-expose-headers'), /WWW-Authenticate/)
  }
})

t.test('BB-066 BB-020 a session is its caller\'s, whichever token the caller has now', async t => {
  const { issuer, send, legacy, modern } = await serve(t)
  const ada = await issuer.token({ jti: '1' })
  const session = await legacy(ada)
  for (const other of [await issuer.token({ sub: 'eve' }), await issuer.token({ client_id: 'another' })]) {
    const bodies: Array<[string, unknown]> = [['POST', call('who')], ['POST', { jsonrpc: '2.0', id: 'ask-1', result: {} }], ['POST', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } }], ['GET', undefined], ['DELETE', undefined]]
    for (const [method, body] of bodies) t.equal((await send(other, body, session, method)).status, 404, `${method} ${JSON.stringify(body)}`)
  }
  t.match((await send(ada, call('who'), session)).json, { result: { content: [{ text: 'ada' }] } }, 'nothing of it was ended')
  t.match((await send(await issuer.token({ jti: '2', scope: '' }), call('who'), session)).json, { result: { content: [{ text: 'ada' }] } })
  t.equal((await send(await issuer.token({ scope: '' }), call('admin'), session)).status, 403, 'what counts is the token that comes')
  t.equal((await modern(undefined, 'tools/list', {}, session)).status, 401)
})

t.test('streams end with the token that opened them', async t => {
  const { url, issuer, legacy } = await serve(t)
  const end = seconds() + 2
  const token = await issuer.token({ exp: end })
  const auth = { authorization: `Bearer ${token}` }
  const session = await legacy(token)
  const listen = { jsonrpc: '2.0', id: 9, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: META } }
  const streams = await Promise.all([
    fetch(url, { headers: { ...auth, ...session, accept: 'text/event-stream' } }),
    fetch(url, { headers: { ...auth, accept: 'text/event-stream' } }),
    fetch(url, { method: 'POST', headers: { ...auth, accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }, body: JSON.stringify(listen) })
  ])
  t.strictSame(streams.map(({ status }) => status), [200, 200, 200])
  const texts = await Promise.all(streams.map(async stream => await stream.text()))
  const late = Date.now() - end * 1000
  t.ok(late > -1500 && late < 5000, `${late} ms after its end`)
  t.match(texts[1], /event: endpoint/)
  t.match(texts[2], /subscriptions\/acknowledged[\s\S]*"result"/, 'with the answer that a client waits for')
})
