import createError from '@fastify/error'
import Fastify from 'fastify'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fc from 'fast-check'
import t from 'tap'
import { McpError, rpcError } from '../../lib/errors.js'
import { onError, sendError, sendJson } from '../../lib/transports/reply.js'
import { build } from '../support/app.js'
import { anyText, isAnswer } from '../support/messages.js'
import { FakeReply } from '../support/reply.js'

const secret = 'pg://u:pw@db'

/** What becomes of an error that a hook, a parser or Fastify throws. */
function raised (error: unknown, body?: unknown) {
  const reply = new FakeReply()
  const logged: unknown[] = []
  const warned: unknown[] = []
  const request = { body, log: { error: (fields: unknown) => logged.push(fields), warn: (fields: unknown) => warned.push(fields) } }
  onError(error as FastifyError, request as unknown as FastifyRequest, reply.reply)
  return { reply, logged, warned }
}

const fastify = (code: string, statusCode: number) => new (createError(code, `Fastify says ${secret}`, statusCode))()

t.test('JSON goes out as text, with its type and its status', async t => {
  const reply = new FakeReply()
  sendJson(reply.reply, '{"a":1}', 200)
  t.strictSame([reply.status, reply.sent, reply.headers], [200, ['{"a":1}'], { 'content-type': 'application/json; charset=utf-8' }])
  const other = new FakeReply()
  sendJson(other.reply, '{}', 404)
  t.equal(other.status, 404)
})

t.test('who is sent away for now is told when to come back', async t => {
  const reply = new FakeReply()
  sendJson(reply.reply, '{}', 503)
  t.match(reply.headers['retry-after'], /^\d+$/)
  const said = new FakeReply()
  said.header('Retry-After', '5')
  sendJson(said.reply, '{}', 503)
  t.equal(said.headers['retry-after'], '5', 'unless that is said already')
})

t.test('an error goes out with its own status, or as 400', async t => {
  for (const [error, status] of [[rpcError('SessionNotFound'), 404], [rpcError('InvalidParams', 'x'), 400]] as const) {
    const reply = new FakeReply()
    sendError(reply.reply, error, 'q')
    t.equal(reply.status, status)
    t.match(reply.json, { id: 'q', error: { code: error.code, message: error.message } })
  }
})

t.test('what Fastify refuses is told in JSON-RPC, in our words', async t => {
  const rows: [FastifyError, number, number, RegExp][] = [
    [fastify('FST_ERR_CTP_BODY_TOO_LARGE', 413), -32600, 413, /too large/],
    [fastify('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415), -32600, 415, /application\/json/],
    [fastify('FST_ERR_CTP_INVALID_JSON_BODY', 400), -32700, 400, /Parse error/],
    [fastify('FST_ERR_CTP_EMPTY_JSON_BODY', 400), -32700, 400, /Parse error/],
    [fastify('FST_ERR_CTP_INVALID_CONTENT_LENGTH', 400), -32600, 400, /Invalid request/]
  ]
  for (const [error, code, status, message] of rows) {
    const { reply } = raised(error)
    t.match([reply.status, reply.json], [status, { jsonrpc: '2.0', id: undefined, error: { code, message } }], error.code)
    t.notMatch(reply.sent[0], secret, error.code)
  }
})

t.test('what a hook of the app refuses keeps its status and its message', async t => {
  const { reply, logged } = raised(Object.assign(new Error('who are you?'), { statusCode: 401 }), { jsonrpc: '2.0', id: 7, method: 'ping' })
  t.match([reply.status, reply.json, logged.length], [401, { id: 7, error: { code: -32600, message: 'who are you?' } }, 0])
})

t.test('a hook may set the status on the reply, as on any route', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.setErrorHandler(onError)
  for (const [url, hook] of [['/set', async (_: unknown, reply: FastifyReply) => { reply.code(401); throw new Error('who are you?') }], ['/status', async () => { throw Object.assign(new Error('slowly'), { status: 429 }) }]] as const) {
    app.get(url, { onRequest: hook }, async () => 'no')
  }
  t.match([(await app.inject('/set')).statusCode, (await app.inject('/set')).json()], [401, { error: { code: -32600, message: 'who are you?' } }])
  t.equal((await app.inject('/status')).statusCode, 429)
})

t.test('a protocol error that a hook throws is sent as it is', async t => {
  t.match(raised(new McpError(-32000, 'no', { hint: 1 })).reply.json, { error: { code: -32000, message: 'no', data: { hint: 1 } } })
})

t.test('a hook that sends the client away for now is no fault, and keeps what it says of when to come back', async t => {
  const { reply, logged, warned } = raised(Object.assign(new Error(secret), { statusCode: 503 }), { jsonrpc: '2.0', id: 7, method: 'ping' })
  t.match([reply.status, reply.json, reply.headers['retry-after']], [503, { id: 7, error: { code: -32603, message: 'Unavailable: try again later' } }, '30'])
  t.strictSame([logged, warned], [[], [{ reason: secret }]])
})

t.test('anything else is masked, and logged in full', async t => {
  for (const error of [new Error(secret), Object.assign(new Error(secret), { statusCode: 502 }), secret]) {
    const { reply, logged } = raised(error)
    t.match(reply.json, { error: { code: -32603, message: 'Internal error' } })
    t.notMatch(reply.sent[0], secret)
    t.match(logged, [{ err: error }])
    t.ok(reply.status >= 500)
  }
})

t.test('whatever is posted, the answer is of JSON-RPC and never a fault of the server', async t => {
  const { app, log } = await build(t, { listen: false })
  const headers = fc.record({
    accept: fc.constantFrom('application/json', 'application/json, text/event-stream', 'text/event-stream'),
    'mcp-protocol-version': fc.constantFrom('2025-03-26', '2025-11-25', '2026-07-28', 'x'),
    'mcp-method': fc.constantFrom('tools/call', 'server/discover'),
    'mcp-name': fc.constantFrom('echo', '=?base64?eA==?=')
  }, { requiredKeys: [] })
  await fc.assert(fc.asyncProperty(anyText, headers, async (payload, headers) => {
    const { statusCode, body, headers: { 'content-type': type } } = await app.inject({ method: 'POST', url: '/mcp', payload, headers: { 'content-type': 'application/json', ...headers } })
    if (statusCode === 202) return body === ''
    return statusCode < 500 && (String(type).startsWith('text/event-stream') || isAnswer(JSON.parse(body)))
  }), { numRuns: 500 })
  t.strictSame(log.filter(({ level }) => Number(level) >= 50), [])
})
