// 2026-07-28: how its messages travel. Pages: basic/transports/streamable-http, basic/transports/stdio.
import type { Answer } from '../support/http.js'
import { isResponse, sleep } from '../support/stdio.js'
import { both, until, type Audit } from '../support/audit.js'

const http: Audit['over'] = ['http']
const streamableHttp = 'basic/transports/streamable-http'

export const modernHttp: Audit[] = [
  {
    id: 'http/methods-1',
    says: 'MUST answer a method it does not have with 404 and -32601, those of the past too',
    from: `${streamableHttp} § Protocol Version Header; changelog major 2, 4, 5`,
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const method of ['vendor/unknown', 'initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']) {
        const { error, id, answer } = await client.request(method, { level: 'info', uri: 'mem://a' }, { id: `of ${method}` })
        t.equal(error?.code, -32601, method)
        t.equal(id, `of ${method}`)
        if (answer !== undefined) t.equal(answer.status, 404)
      }
    }
  },
  {
    id: 'http/sending-1',
    says: 'MUST answer a request with one JSON object or an event stream',
    from: `${streamableHttp} § Sending Messages 6`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const plain = (await client.call('echo', { text: 'x' })).answer as Answer
      t.match([plain.status, plain.type], [200, /^(application\/json|text\/event-stream)$/])
      const { answer } = await client.call('progress', { n: 2 }, { meta: { progressToken: 'p' } })
      t.match([answer?.status, answer?.type], [200, 'text/event-stream'])
    }
  },
  {
    id: 'http/sending-2',
    says: 'MUST answer a notification with 202 and no body, or with an error status',
    from: `${streamableHttp} § Sending Messages 5`,
    over: http,
    async check (t, it) {
      const { status, text } = await (await it.http()).notify('notifications/vendor/thing', {}, { meta: {} })
      t.ok(status === 202 ? text === '' : status >= 400 && status < 500, `HTTP ${status} ${text}`)
    }
  },
  {
    id: 'http/sending-3',
    says: 'the body MUST be a single request or notification: responses and batches are refused',
    from: `${streamableHttp} § Sending Messages 4`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const call = client.compose('tools/call', { name: 'echo', arguments: { text: 'x' } }, { id: 1 })
      for (const body of [[call], [call, { ...call, id: 2 }], [], { jsonrpc: '2.0', id: 1, result: { resultType: 'complete' } }]) {
        const answer = await client.post(body, { 'Mcp-Method': 'tools/call', 'Mcp-Name': 'echo' })
        t.equal(answer.status, 400, JSON.stringify(body).slice(0, 40))
      }
      t.same(it.server.echoed, [])
    }
  },
  {
    id: 'http/sending-4',
    says: 'requests that carry the version of this revision are not served by the rules of another, which has batches and no header',
    from: 'basic/versioning § Backward Compatibility, "A request carrying modern per-request _meta"',
    over: http,
    async check (t, it) {
      const client = await it.http()
      const call = client.compose('tools/call', { name: 'echo', arguments: { text: 'x' } }, { id: 1 })
      t.equal((await client.post([call], { 'MCP-Protocol-Version': undefined })).status, 400)
      t.same(it.server.echoed, [])
    }
  },
  {
    id: 'stdio/messages-5',
    says: 'a message is a single one: batches are refused',
    from: 'basic/transports/stdio (first list); basic/versioning § Backward Compatibility, "A request carrying modern per-request _meta"',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      const call = client.compose('tools/call', { name: 'echo', arguments: { text: 'x' } }, { id: 1 })
      const { messages } = await client.raw(JSON.stringify([call]))
      t.match(messages, [{ error: { code: -32600 } }])
      t.same(it.server.echoed, [])
    }
  },
  {
    id: 'http/receiving-1',
    says: 'what precedes the response MUST relate to its request, and the response SHOULD end the stream',
    from: `${streamableHttp} § Receiving Messages`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const replies = await Promise.all(['a', 'b'].map(progressToken => client.call('progress', { n: 4, delayMs: 10 }, { meta: { progressToken } })))
      t.same(replies.map(({ notes }) => notes.map(note => note.params.progressToken).join('')), ['aaaa', 'bbbb'])
      for (const { answer } of replies) {
        t.ok(await answer?.over(500))
        t.notOk(answer?.cut)
        t.equal(answer?.messages.findIndex(isResponse), 4)
      }
    }
  },
  {
    id: 'http/receiving-2',
    says: 'SHOULD send X-Accel-Buffering: no with a stream',
    from: `${streamableHttp} § Receiving Messages`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const { answer } = await client.call('progress', { n: 1 }, { meta: { progressToken: 'p' } })
      t.equal(answer?.headers['x-accel-buffering'], 'no')
      t.equal((await client.listen({}).answer)?.headers['x-accel-buffering'], 'no')
    }
  },
  {
    id: 'http/receiving-3',
    says: 'keeps a quiet stream open with comments, which carry no event',
    from: `${streamableHttp} § Receiving Messages, note`,
    over: http,
    server: { options: { sse: { keepAlive: 30 } } },
    async check (t, it) {
      const answer = await (await it.http()).listen({ toolsListChanged: true }).answer as Answer
      t.ok(await until(() => answer.comments.length >= 3))
      t.equal(answer.events.length, 1, 'the acknowledgement')
    }
  },
  {
    id: 'http/receiving-4',
    says: 'streams cannot be resumed: no event ids, Last-Event-ID is ignored',
    from: `${streamableHttp} § Receiving Messages, § Earlier Streamable HTTP Revisions`,
    over: http,
    async check (t, it) {
      const { answer, notes } = await (await it.http()).call('progress', { n: 3 }, { meta: { progressToken: 'p' }, headers: { 'Last-Event-ID': '5' } })
      t.equal(notes.length, 3)
      t.equal(answer?.events.length, 4)
      t.same(answer?.events.filter(event => event.id !== undefined || event.data === ''), [])
    }
  },
  {
    id: 'http/earlier-1',
    says: 'SHOULD ignore Mcp-Session-Id, and not give or echo one',
    from: `${streamableHttp} § Earlier Streamable HTTP Revisions`,
    over: http,
    async check (t, it) {
      const { answer, result } = await (await it.http()).call('echo', { text: 'x' }, { headers: { 'Mcp-Session-Id': 'abc' } })
      t.ok(result)
      t.notOk('mcp-session-id' in (answer as Answer).headers)
      t.equal(it.server.app.mcp.stats().sessions, 0)
    }
  },
  {
    id: 'http/earlier-2',
    says: 'SHOULD answer GET and DELETE with 405 where only this revision is supported',
    from: `${streamableHttp} § Earlier Streamable HTTP Revisions`,
    over: http,
    server: { options: { revisions: ['2026-07-28'] } },
    async check (t, it) {
      const client = await it.http()
      for (const answer of [await client.get(), await client.delete()]) {
        t.equal(answer.status, 405)
        t.equal(answer.headers.allow, 'POST')
      }
    }
  },
  {
    id: 'http/version-4',
    says: 'MUST refuse a request without MCP-Protocol-Version where no older client is supported',
    from: `${streamableHttp} § Protocol Version Header`,
    over: http,
    server: { options: { revisions: ['2026-07-28'] } },
    async check (t, it) {
      const client = await it.http()
      const { status, json } = await client.post(client.compose('tools/list', undefined, { id: 1 }), { 'MCP-Protocol-Version': undefined })
      t.match([status, json], [400, { id: 1, error: { code: -32020 } }])
    }
  },
  {
    id: 'http/security-1',
    says: 'MUST validate Origin, and answer an invalid one with 403',
    from: `${streamableHttp} § Security & Endpoint 1`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const call = client.compose('tools/call', { name: 'echo', arguments: { text: 'evil' } }, { id: 1 })
      for (const Origin of ['https://evil.example', 'null', 'http://localhost.evil.example', `http://evil.example:${it.server.port}`]) {
        t.equal((await client.post(call, { Origin })).status, 403, Origin)
      }
      t.same(it.server.echoed, [])
      t.equal((await client.post(call, { Origin: `http://localhost:${it.server.port}` })).status, 200)
    }
  },
  {
    id: 'http/security-2',
    says: 'MUST prevent DNS rebinding: a server on loopback is not spoken to under another name',
    from: `${streamableHttp} § Security & Endpoint 1`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const list = client.compose('tools/list', undefined, { id: 1 })
      t.match((await client.post(list, { Host: 'evil.example' })).status, /^4/)
      t.equal((await client.post(list, { Host: `localhost:${it.server.port}` })).status, 200)
    }
  },
  {
    id: 'stdio/shutdown-1',
    says: 'SHOULD end promptly when its input is closed',
    from: 'basic/transports/stdio § Shutdown',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      const call = client.start('tools/call', { name: 'slow', arguments: { ms: 100 } })
      client.input.end()
      t.equal((await call.reply).result?.content[0].text, 'done')
      t.equal(await Promise.race([client.done.then(() => 'ended'), sleep(1500)]), 'ended')
    }
  }
]
