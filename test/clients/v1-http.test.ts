// @modelcontextprotocol/sdk 1.x over Streamable HTTP.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import t, { type Test } from 'tap'
import type { McpOptions } from '../../types/index.js'
import { until } from '../support/audit.js'
import { v1 } from './driver.js'
import { Recorder, type Fetch } from './record.js'
import { PATIENCE, scenarios, textOf } from './scenarios.js'
import { namesOf, nested, serve, subjectOf } from './server.js'

const revision = '2025-11-25'
const transport = (url: string, fetch: Fetch) => () => new StreamableHTTPClientTransport(new URL(url), { fetch }) as Transport
const endSession = (transport: Transport) => (transport as StreamableHTTPClientTransport).terminateSession()

async function subject (t: Test, options?: McpOptions & { prefix?: string }) {
  const server = await serve(t, options)
  const recorder = new Recorder(t, revision)
  return subjectOf(server, v1(transport(server.url, recorder.fetch), endSession), recorder)
}

t.test('with sessions', t => scenarios(t, t => subject(t)))
t.test('below a prefix', t => scenarios(t, t => subject(t, { prefix: '/api/v1' })))

t.test('in a nested scope', async t => {
  const { url } = await nested(t, '/tenant', '/a')
  const client = v1(transport(url, new Recorder(t, revision).fetch), endSession)
  await client.connect()
  t.equal(textOf(await client.call('where')), '/tenant/a')
  await client.close()
})

t.test('without sessions', async t => {
  const server = await serve(t, { sessions: false })
  const recorder = new Recorder(t, revision)
  const client = v1(transport(server.url, recorder.fetch), endSession)
  await client.connect()
  t.strictSame((await client.listTools()).map(({ name }) => name), await namesOf(server))
  t.strictSame((await client.call('add', { a: 1, b: 2 })).structuredContent, { sum: 3 })
  const seen: number[] = []
  await client.call('progress', { n: 2 }, { onprogress: ({ progress }) => seen.push(progress) })
  t.strictSame(seen, [1, 2], 'progress needs no session')
  t.match(client.known().tools, {}, 'tools without list changes')
  t.notMatch(client.known().tools, { listChanged: true })
  t.match(recorder.requests, [{ verb: 'POST', status: 200 }, { verb: 'POST', status: 202 }, { verb: 'GET', status: 405 }], 'the stream is refused at once, and the client goes on')
  await client.close()
})

t.test('a session that the server has ended is 404, and a new one can be opened', async t => {
  const server = await serve(t, { sessions: { idle: 1000 } })
  const client = v1(transport(server.url, new Recorder(t, revision).fetch))
  await client.connect()
  await client.close() // the stream goes with it, the session stays until its time is over
  t.equal(server.app.mcp.stats().sessions, 1)
  t.ok(await until(() => server.app.mcp.stats().sessions === 0, PATIENCE), 'the session has ended')
  const second = v1(transport(server.url, new Recorder(t, revision).fetch), endSession)
  await second.connect()
  t.equal(textOf(await second.call('noargs')), 'ok')
  await second.close()
})
