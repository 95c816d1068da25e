import t from 'tap'
import { isNote, isResponse, type Peer } from '../support/stdio.js'
import { alive, both, refused, run, until, type Audit } from '../support/audit.js'
import { features } from './features.js'
import { handshake } from './handshake.js'
import { sessions } from './sessions.js'
import { streamable } from './streamable.js'
import { tools } from './tools.js'

const ping = (client: Peer, id: unknown) => client.compose('ping', undefined, { id })
const notification = { jsonrpc: '2.0', method: 'notifications/vendor/thing' }
const call = (client: Peer, id: unknown, name: string, args: unknown, meta?: Record<string, unknown>) =>
  client.compose('tools/call', { name, arguments: args }, { id, meta })

/** Sends a batch and waits for so many answers. */
async function batch (client: Peer, members: unknown[], answers: number) {
  const before = 'all' in client ? (client as any).all.messages.length : 0
  const heard = await client.raw(JSON.stringify(members))
  const messages = () => 'all' in client ? (client as any).all.messages.slice(before) : heard.messages
  await until(() => messages().filter(isResponse).length >= answers)
  return { ...heard, messages: messages().filter(isResponse) as typeof heard.messages }
}

const batches: Audit[] = [
  {
    id: 'base/batching-1',
    says: 'MUST take batches, and gives one response for each request in them',
    from: 'basic/index § Batching; JSON-RPC 2.0 § 6',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const members = [ping(client, 'a'), notification, client.compose('tools/list', undefined, { id: 2 }), client.compose('vendor/unknown', undefined, { id: 3 })]
      const { messages, status } = await batch(client, members, 3)
      t.same(messages.map(m => m.id).sort(), [2, 3, 'a'])
      t.ok(messages.find(m => m.id === 2)?.result.tools.length)
      t.equal(messages.find(m => m.id === 3)?.error?.code, -32601)
      if (status !== undefined) t.equal(status, 200)
    }
  },
  {
    id: 'base/batching-2',
    says: 'the answer to a batch of one is a batch or a stream, never a bare object',
    from: 'basic/index § Batching; JSON-RPC 2.0 § 6',
    over: ['http'],
    async check (t, it) {
      const client = await it.http()
      const { answer, messages } = await client.raw(JSON.stringify([ping(client, 9)]))
      t.same(messages.map(m => [m.id, m.result]), [[9, {}]])
      t.ok(answer?.streams || Array.isArray(answer?.json))
    }
  },
  {
    id: 'base/batching-3',
    says: 'what is no request in a batch is answered as invalid, and the others as if it were not there',
    from: 'basic/index § Batching; JSON-RPC 2.0 § 6',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { messages } = await batch(client, [ping(client, 1), 7, ping(client, 2)], 3)
      t.same(messages.filter(m => m.result).map(m => m.id).sort(), [1, 2])
      t.same(messages.filter(m => m.error).map(m => [m.id ?? null, m.error.code]), [[null, -32600]])
    }
  },
  {
    id: 'base/batching-4',
    says: 'an empty batch is an invalid request, answered with one object',
    from: 'basic/index § Batching; JSON-RPC 2.0 § 6',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const heard = await client.raw('[]')
      refused(t, heard, -32600, 'no members')
      if (heard.answer !== undefined) t.notOk(Array.isArray(heard.answer.json))
      await alive(t, client)
    }
  },
  {
    id: 'lifecycle/initialization-6',
    says: 'initialize MUST NOT be part of a batch',
    from: 'basic/lifecycle § Initialization',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      const { params } = client.compose('initialize', { protocolVersion: it.revision, capabilities: {}, clientInfo: { name: 'x', version: '1' } }, { id: 'i' })
      const { messages } = await client.raw(JSON.stringify([{ jsonrpc: '2.0', id: 'i', method: 'initialize', params }, ping(client, 1)]))
      t.equal(messages.find(m => m.error)?.error.code, -32600)
      t.notOk(messages.some(m => m.result?.protocolVersion))
      t.equal(it.over === 'http' ? it.server.app.mcp.stats().sessions : 0, 0)
    }
  },
  {
    id: 'transports/sending-9',
    says: 'MUST answer what holds only notifications or responses with 202 and no body',
    from: 'basic/transports § Sending Messages to the Server 4',
    over: ['http'],
    async check (t, it) {
      const client = await it.http()
      for (const body of [[notification, notification], [{ jsonrpc: '2.0', id: 77, result: {} }, { jsonrpc: '2.0', id: 78, result: {} }]]) {
        const { status, text } = await client.post(body)
        t.same([status, text], [202, ''])
      }
    }
  },
  {
    id: 'transports/sending-10',
    says: 'SHOULD NOT end the stream before each request of the batch has its response, and SHOULD end it then',
    from: 'basic/transports § Sending Messages to the Server 6',
    over: ['http'],
    async check (t, it) {
      const client = await it.http()
      const answer = await client.post([
        call(client, 'p', 'progress', { n: 3, delayMs: 10 }, { progressToken: 'p' }), ping(client, 'q'), call(client, 's', 'slow', { ms: 120 })
      ])
      t.ok(answer.streams, 'progress makes it a stream')
      t.ok(await answer.over(1500), 'that ends')
      t.same(answer.messages.filter(isResponse).map(m => m.id).sort(), ['p', 'q', 's'])
      t.equal(answer.messages.filter(isNote('notifications/progress')).length, 3)
    }
  },
  {
    id: 'base/batching-5',
    says: 'a member of a batch can be cancelled for itself',
    from: 'basic/utilities/cancellation § Behavior Requirements; basic/index § Batching',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const heard = batch(client, [call(client, 'long', 'slow', { ms: 2000 }), call(client, 'short', 'slow', { ms: 150 })], 1)
      await until(() => it.server.app.mcp.stats().calls === 2)
      await client.notify('notifications/cancelled', { requestId: 'long' })
      const { messages } = await heard
      t.same(messages.filter(isResponse).map(m => m.id), ['short'])
      t.same(it.server.slow.map(({ ms, outcome }) => [ms, outcome]).sort(), [[150, 'finished'], [2000, 'aborted']])
    }
  },
  {
    id: 'stdio/messages-4',
    says: 'MUST NOT have newlines inside an answer to a batch either',
    from: 'basic/transports § stdio',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      const { messages } = await batch(client, [call(client, 1, 'echo', { text: 'a\nb' }), call(client, 2, 'echo', { text: 'c\r\nd' })], 2)
      t.same(messages.map(m => m.result.content[0].text).sort(), ['a\nb', 'c\r\nd'])
      t.equal(client.rest.length, 0)
    }
  }
]

await run(t, '2025-03-26', [...handshake, ...features, ...tools, ...streamable, ...sessions, ...batches])
