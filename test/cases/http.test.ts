// Section 1: what an HTTP client sends, and in which shape it is answered.
import http from 'node:http'
import mcpPlugin from '../../lib/index.js'
import t from 'tap'
import { build } from '../support/app.js'
import { alive, until } from '../support/audit.js'
import { HttpPeer, legacy, modern } from '../support/http.js'
import { legacyDialect } from '../support/stdio.js'
import { callBody, host, initializeBody, rpcRefusal } from './host.js'

const JSON_TYPE = 'application/json'
const SSE_TYPE = 'text/event-stream'

t.test('BB-001 whatever a client accepts, it is answered with that', async t => {
  const accepts: Array<[string | undefined, string | undefined]> = [
    [JSON_TYPE, JSON_TYPE],
    ['*/*', JSON_TYPE],
    [undefined, JSON_TYPE],
    ['application/*', JSON_TYPE],
    [`${SSE_TYPE};q=0.1, ${JSON_TYPE}`, JSON_TYPE],
    [SSE_TYPE, SSE_TYPE],
    ['text/html', undefined],
    ['image/png, text/*;q=0', undefined]
  ]
  const { url } = await build(t)
  for (const [accept, type] of accepts) {
    for (const client of [await legacy(url, '2025-11-25', { t, handshake: false }), modern(url, { t })]) {
      const message = client.dialect.revision === '2026-07-28' ? client.compose('tools/list', {}, { id: 7 }) : initializeBody(7)
      const answer = await client.post(message, { Accept: accept })
      const title = `${client.dialect.revision}, ${accept ?? 'no Accept'}`
      if (type === undefined) {
        rpcRefusal(t, answer, 406, -32600, title)
        continue
      }
      t.ok(await answer.over(), title)
      t.match({ status: answer.status, type: answer.type }, { status: 200, type }, title)
      t.match(answer.messages, [{ jsonrpc: '2.0', id: 7, result: {} }], title)
    }
  }
})

t.test('BB-001 a GET that does not take streams is 406, and is given none', async t => {
  const { url, app } = await build(t)
  const client = await legacy(url, '2025-11-25', { t })
  for (const session of [client.session, undefined]) {
    for (const accept of [JSON_TYPE, 'text/html', '*/*', undefined]) {
      const answer = await client.get({ Accept: accept, 'Mcp-Session-Id': session, 'MCP-Protocol-Version': session && '2025-11-25' })
      rpcRefusal(t, answer, 406, undefined, `${accept} ${session === undefined ? 'without' : 'with'} a session`)
    }
  }
  t.equal(app.mcp.stats().streams, 0)
})

t.test('BB-002 the content type is read as a media type', async t => {
  const good = ['application/json', 'application/json; charset=utf-8', 'Application/JSON;Charset=UTF-8', 'application/json ; x=1']
  const bad = ['text/plain', 'text/plain; a=application/json', 'application/jsonp', 'application/json-patch+json', 'application/x-www-form-urlencoded', 'multipart/form-data', undefined]
  const server = await build(t)
  const client = await legacy(server.url, '2025-11-25', { t, handshake: false })
  for (const type of good) t.equal((await client.post(initializeBody(), { 'Content-Type': type })).status, 200, type)
  const { sessions } = server.app.mcp.stats()
  t.equal(sessions, good.length)
  for (const type of bad) {
    for (const body of [initializeBody(), callBody('echo', { text: 'x' })]) {
      rpcRefusal(t, await client.post(body, { 'Content-Type': type }), [415, 400], undefined, type ?? 'none')
    }
  }
  t.equal(server.app.mcp.stats().sessions, sessions, 'no session was made')
  t.strictSame(server.echoed, [], 'no handler has run')
})

t.test('BB-003 DELETE with a JSON content type and no body ends the session', async t => {
  const { url, app } = await build(t)
  for (const headers of [{}, { 'Content-Length': 0 }, { 'Transfer-Encoding': 'chunked' }]) {
    const client = await legacy(url, '2025-11-25', { t })
    const answer = await client.delete({ 'Content-Type': JSON_TYPE, ...headers })
    t.ok([200, 202, 204].includes(answer.status), `${JSON.stringify(headers)}: HTTP ${answer.status}`)
    rpcRefusal(t, await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' }), 404, undefined, 'the session is gone')
  }
  t.equal(app.mcp.stats().sessions, 0)
  const client = await legacy(url, '2025-11-25', { t })
  rpcRefusal(t, await client.post(''), 400, [-32700, -32600], 'a POST without a body')
})

t.test('BB-004 what is no JSON, or no JSON-RPC, is told so in JSON-RPC', async t => {
  const table: Array<[string, number[], unknown?]> = [
    ['{"jsonrpc":', [-32700]],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"} x', [-32700]],
    ['null', [-32600]],
    ['42', [-32600]],
    ['"x"', [-32600]],
    ['true', [-32600]],
    ['{}', [-32600]],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', [-32600], 1],
    ['{"id":2,"method":"ping"}', [-32600], 2],
    ['{"jsonrpc":"2.0","id":3}', [-32600], 3],
    ['{"jsonrpc":"2.0","id":4,"method":7}', [-32600], 4],
    ['{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":"x"}}', [-32600], 5],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":{"__proto__":{"x":1}}}}', [-32700, -32600], 7],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":{"constructor":{"prototype":{"x":1}}}}', [-32700, -32600], 7]
  ]
  const { url } = await build(t)
  const client = await legacy(url, '2025-06-18', { t })
  for (const [body, codes, id] of table) {
    const answer = await client.post(body)
    rpcRefusal(t, answer, 400, codes, body)
    t.ok([undefined, null, id].includes(answer.json.id), `${body}: no id, or the one that can be read`)
  }
  await alive(t, client)
})

t.test('BB-005 a body over the limit is 413 in JSON-RPC, and the limit is this endpoint\'s own', async t => {
  const text = 'x'.repeat(1_200_000)
  const neighbour = (app: import('fastify').FastifyInstance) => app.post('/api', async request => ({ length: (request.body as { text: string }).text.length }))
  const make = (limits?: { body: number }) => host(t, async app => {
    await app.register(mcpPlugin, { ...(limits && { limits }) })
    app.mcp.tools.add({ name: 'size', inputSchema: { type: 'object', properties: { text: { type: 'string' } } }, handler: ({ text }) => `${String(text).length}` })
    neighbour(app)
  })
  const [usual, large, small] = await Promise.all([make(), make({ body: 4_194_304 }), make({ body: 10_000 })])
  const client = (base: string) => new HttpPeer(t, `${base}/mcp`, legacyDialect('2025-06-18'))
  const body = (length: number) => JSON.stringify(callBody('size', { text: text.slice(0, length) }))

  rpcRefusal(t, await client(usual.base).post(body(1_200_000)), 413, undefined, 'the default is that of the app')
  rpcRefusal(t, await client(usual.base).post(body(1_200_000), { 'Transfer-Encoding': 'chunked' }), 413, undefined, 'chunked')
  t.match((await client(usual.base).post(body(1_000_000))).json, { result: { content: [{ text: '1000000' }] } }, 'below the default')
  t.match((await client(large.base).post(body(1_200_000))).json, { result: { content: [{ text: '1200000' }] } }, 'a raised limit')
  rpcRefusal(t, await client(small.base).post(body(20_000)), 413, undefined, 'a lowered limit')
  t.match((await client(small.base).post(body(100))).json, { result: { content: [{ text: '100' }] } })

  const api = (app: typeof usual.app, length: number) => app.inject({ method: 'POST', url: '/api', payload: { text: text.slice(0, length) } })
  t.match(await api(large.app, 1_200_000), { statusCode: 413, body: /FST_ERR_CTP_BODY_TOO_LARGE/ }, 'a neighbour keeps its limit')
  t.match((await api(small.app, 20_000)).json(), { length: 20_000 }, 'in both directions')
})

t.test('BB-005 a refused body leaves the connection in order', async t => {
  const { port, app } = await build(t)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const post = (body: string) => new Promise<number>((resolve, reject) => {
    const headers = { 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(body) }
    const request = http.request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', agent, headers }, response => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', error => { if ((error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error) })
    request.end(body)
  })
  const large = JSON.stringify(callBody('echo', { text: 'x'.repeat(1_200_000) }))
  t.equal(await post(large), 413)
  t.equal(await post(JSON.stringify(callBody('echo', { text: 'x' }))), 200)
  t.ok(await until(() => app.mcp.stats().calls === 0))
})
