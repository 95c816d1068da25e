// Section 1: the plugin's routes beside those of its host, and the statuses that clients steer by.
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import t from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions } from '../../types/index.js'
import { build } from '../support/app.js'
import { alive } from '../support/audit.js'
import { HttpPeer, legacy, modern } from '../support/http.js'
import { legacyDialect } from '../support/stdio.js'
import { callBody, host, initializeBody, pingBody, rpcRefusal } from './host.js'

t.test('BB-006 nothing of the plugin reaches the host', async t => {
  const own = (app: FastifyInstance) => {
    app.setErrorHandler((_, request, reply) => { reply.code(418).send({ app: true, path: request.url }) })
    app.setNotFoundHandler((request, reply) => { reply.code(404).send({ lost: request.url }) })
    app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_, body, done) => done(null, { csv: body }))
    app.post('/api', { schema: { body: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } } } }, async request => ({ got: request.body, mcp: request.mcp }))
    app.get('/stream', (_, reply) => { reply.header('content-type', 'text/plain').send('x') })
  }
  const plain = (app: FastifyInstance) => { app.decorateRequest('mcp', null as never) }
  const orders: Record<string, (app: FastifyInstance) => unknown> = {
    without: async app => { plain(app); own(app) },
    before: async app => { await app.register(mcpPlugin); own(app) },
    after: async app => { own(app); await app.register(mcpPlugin) }
  }
  const questions: Array<{ method: 'POST' | 'GET' | 'DELETE' | 'OPTIONS' | 'HEAD', url: string, payload?: string, type?: string }> = [
    { method: 'POST', url: '/api', payload: '{' },
    { method: 'POST', url: '/api', payload: '', type: 'application/json' },
    { method: 'POST', url: '/api', payload: '{"a":"5","x":1}' },
    { method: 'POST', url: '/api', payload: '{}' },
    { method: 'POST', url: '/api', payload: 'a,b', type: 'text/csv' },
    { method: 'POST', url: '/api', payload: 'x', type: 'text/plain' },
    { method: 'POST', url: '/api', payload: '<a/>', type: 'text/xml' },
    { method: 'DELETE', url: '/api', payload: '', type: 'application/json' },
    { method: 'GET', url: '/nope' },
    { method: 'GET', url: '/stream' },
    { method: 'HEAD', url: '/stream' },
    { method: 'GET', url: '/mcpx' },
    { method: 'OPTIONS', url: '/api' }
  ]
  const answers: Record<string, unknown[]> = {}
  for (const [order, setup] of Object.entries(orders)) {
    const app = Fastify()
    t.teardown(() => app.close())
    await setup(app)
    answers[order] = []
    for (const { type = 'application/json', ...question } of questions) {
      const { statusCode, headers: { date, ...headers }, body } = await app.inject({ ...question, headers: { 'content-type': type } }) as LightMyRequestResponse
      answers[order].push({ ...question, statusCode, headers, body })
    }
    if (order === 'without') continue
    const refused = await app.inject({ method: 'POST', url: '/mcp', payload: '{', headers: { 'content-type': 'application/json' } })
    t.match(refused.json(), { jsonrpc: '2.0', error: { code: -32700 } }, `the endpoint speaks JSON-RPC (${order})`)
    t.match(await app.inject({ method: 'POST', url: '/mcp', payload: 'a,b', headers: { 'content-type': 'text/csv' } }), { statusCode: 415 }, `and has none of the host's parsers (${order})`)
  }
  t.strictSame(answers.before, answers.without, 'registered before')
  t.strictSame(answers.after, answers.without, 'registered after')
})

t.test('BB-006 two endpoints of one app share neither tools nor sessions', async t => {
  const options = (name: string): McpOptions => ({ serverInfo: { name, version: '1' } })
  const { base, app } = await host(t, async app => {
    for (const name of ['a', 'b']) {
      await app.register(async scope => {
        await scope.register(mcpPlugin, options(name))
        scope.mcp.tools.add({ name: `only_${name}`, handler: () => name })
      }, { prefix: `/${name}` })
    }
  })
  const [a, b] = await Promise.all(['a', 'b'].map(name => legacy(`${base}/${name}/mcp`, '2025-11-25', { t })))
  if (a === undefined || b === undefined) throw new Error('two clients')
  t.strictSame((await a.request('tools/list')).result.tools.map((tool: { name: string }) => tool.name), ['only_a'])
  t.strictSame((await b.request('tools/list')).result.tools.map((tool: { name: string }) => tool.name), ['only_b'])
  t.match((await b.call('only_a')).error, { code: -32602 })
  rpcRefusal(t, await b.post(pingBody(), { 'Mcp-Session-Id': a.session }), 404, undefined, 'a session of the other')
  rpcRefusal(t, await b.delete({ 'Mcp-Session-Id': a.session }), 404, undefined, 'and it cannot be ended from here')
  await a.request('ping')
  t.notOk('mcp' in app, 'and the host itself has none')
})

t.test('BB-007 with and without a slash at the end it is one door', async t => {
  const table: Array<[string, McpOptions & { prefix?: string }, string[]]> = [
    ['by default', {}, ['/mcp', '/mcp/']],
    ['below a prefix', { prefix: '/api/v1' }, ['/api/v1/mcp', '/api/v1/mcp/']],
    ['with a path of its own', { path: '/tools/' }, ['/tools', '/tools/']],
    ['at the root', { path: '/' }, ['/']],
    ['at the root of a prefix', { prefix: '/x', path: '/' }, ['/x', '/x/']]
  ]
  for (const [title, options, doors] of table) {
    await t.test(title, async t => {
      const { base } = await host(t, app => app.register(mcpPlugin, options))
      for (const door of doors) {
        const client = await legacy(base + door, '2025-11-25', { t })
        for (const other of doors) {
          const second = new HttpPeer(t, base + other, legacyDialect('2025-11-25'))
          second.session = client.session
          t.match((await second.request('ping')).answer, { status: 200 }, `${door} → ${other}`)
        }
        const stream = await client.get()
        t.equal(stream.status, 200, `${door}: a stream`)
        stream.close()
        t.equal((await client.delete()).status, 204)
        t.match((await modern(base + door, { t }).request('server/discover')).result, { supportedVersions: Array })
      }
    })
  }
})

t.test('BB-007 an app that is lenient about slashes itself stays so', async t => {
  const { base } = await host(t, app => app.register(mcpPlugin), { routerOptions: { ignoreTrailingSlash: true } })
  for (const door of ['/mcp', '/mcp/']) await legacy(base + door, '2025-11-25', { t })
})

t.test('BB-008 without sessions GET is refused at once', async t => {
  const { url, app } = await build(t, { options: { sessions: false } })
  const client = await legacy(url, '2025-11-25', { t, handshake: false })
  const before = Date.now()
  for (const accept of ['text/event-stream', '*/*', undefined]) {
    const answer = await client.get({ Accept: accept })
    rpcRefusal(t, answer, 405, undefined, accept)
    t.match(answer.headers.allow, /POST/)
    t.notMatch(answer.headers.allow, /GET/)
  }
  t.ok(Date.now() - before < 2000, 'nobody waits')
  const removed = await client.delete()
  rpcRefusal(t, removed, 405, undefined, 'DELETE')
  t.strictSame(app.mcp.stats(), { sessions: 0, streams: 0, calls: 0 })
  const opened = await client.initialize()
  t.equal(opened.answer?.headers['mcp-session-id'], undefined, 'initialize gives no session')
  t.match((await client.call('echo', { text: 'x' })).result, { content: [{ text: 'x' }] })
})

t.test('BB-008 other verbs are 405 with Allow', async t => {
  const { url } = await build(t)
  const client = await legacy(url, '2025-11-25', { t })
  for (const verb of ['PUT', 'PATCH', 'HEAD']) {
    const answer = await client.bodiless(verb, { Accept: '*/*' })
    t.match(answer, { status: 405, headers: { allow: 'GET, POST, DELETE' } }, verb)
  }
})

t.test('BB-009 what wants no answer gets 202 and not a byte', async t => {
  const { url } = await build(t)
  const client = await legacy(url, '2025-06-18', { t })
  const events = await client.events()
  const note = (method: string, params?: unknown) => ({ jsonrpc: '2.0', method, params })
  const table: Array<[string, unknown, number[]]> = [
    ['initialized again', note('notifications/initialized'), [202]],
    ['cancelled for an unknown id', note('notifications/cancelled', { requestId: 999 }), [202]],
    ['one of a vendor', note('notifications/some_vendor_thing'), [202]],
    ['roots changed', note('notifications/roots/list_changed'), [202]],
    ['a response to nothing', { jsonrpc: '2.0', id: 4242, result: {} }, [202, 400]],
    ['an error to nothing', { jsonrpc: '2.0', id: 4243, error: { code: -1, message: 'x' } }, [202, 400]],
    ['cancelled without params', note('notifications/cancelled'), [202, 400]],
    ['cancelled with params of the wrong kind', note('notifications/cancelled', [1]), [202, 400]],
    ['cancelled without an id', note('notifications/cancelled', {}), [202, 400]]
  ]
  for (const [title, body, statuses] of table) {
    for (const accept of ['application/json, text/event-stream', 'application/json', 'text/event-stream', undefined]) {
      const answer = await client.post(body, { Accept: accept })
      t.ok(statuses.includes(answer.status), `${title}: HTTP ${answer.status}`)
      if (answer.status !== 202) continue
      t.equal(answer.text, '', `${title}: no body`)
      t.ok([undefined, '0'].includes(answer.headers['content-length']), `${title}: nor the promise of one`)
      t.not(answer.type, 'application/json', `${title}: nor a type`)
    }
  }
  t.strictSame(await events.during(50), [], 'nothing is echoed on the stream')
  await alive(t, client)
})

t.test('BB-009 in 2026-07-28 nobody asks, so an answer is refused', async t => {
  const { url } = await build(t)
  const client = modern(url, { t })
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  const answer = await client.post({ jsonrpc: '2.0', id: 1, result: { _meta: meta } }, { 'Mcp-Method': undefined })
  t.ok(answer.status >= 400 && answer.status < 500, `HTTP ${answer.status}`)
  const said = await client.notify('notifications/cancelled', { requestId: 1 }, { meta: {} })
  t.equal(said.status, 202)
  t.equal(said.text, '')
})

t.test('BB-009 a notification carries out nothing', async t => {
  const server = await build(t)
  const client = await legacy(server.url, '2025-06-18', { t })
  const { id, ...body } = callBody('echo', { text: 'x' })
  t.equal((await client.post(body)).status, 202, 'a request without an id is one')
  const { id: other, ...opening } = initializeBody()
  t.equal((await client.post(opening)).status, 202)
  t.strictSame(server.echoed, [])
  t.equal(server.app.mcp.stats().sessions, 1)
})
