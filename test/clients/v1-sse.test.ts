// @modelcontextprotocol/sdk 1.x and its client for HTTP+SSE, the transport of 2024-11-05, at the URL that serves all others.
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import t, { type Test } from 'tap'
import type { McpOptions } from '../../types/index.js'
import { v1 } from './driver.js'
import { Recorder, type Fetch } from './record.js'
import { scenarios, textOf } from './scenarios.js'
import { nested, serve, subjectOf } from './server.js'

const revision = '2024-11-05'
const transport = (url: string, fetch: Fetch) => () => new SSEClientTransport(new URL(url), { fetch }) as Transport

async function subject (t: Test, options?: McpOptions & { prefix?: string }) {
  const server = await serve(t, options)
  const recorder = new Recorder(t, revision)
  return subjectOf(server, v1(transport(server.url, recorder.fetch)), recorder)
}

t.test('at the endpoint', t => scenarios(t, t => subject(t)))
t.test('below a prefix', t => scenarios(t, t => subject(t, { prefix: '/api/v1' })))

t.test('in a nested scope, with a query on the URL', async t => {
  const { url } = await nested(t, '/tenant', '/a')
  const client = v1(transport(`${url}?key=1`, new Recorder(t, revision).fetch))
  await client.connect()
  t.equal(textOf(await client.call('where')), '/tenant/a')
  await client.close()
})

t.test('where it is not offered, the client is told so', async t => {
  const server = await serve(t, { httpSse: false })
  const client = v1(transport(server.url, new Recorder(t, revision).fetch))
  await t.rejects(client.connect(), { code: 400 })
  t.equal(server.app.mcp.stats().streams, 0)
})
