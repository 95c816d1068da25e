import t, { type Test } from 'tap'
import { Session } from '../../lib/session.js'
import { Peer } from '../../lib/transports/peer.js'
import type { PeerOptions } from '../../lib/transports/peer.js'
import type { McpOptions, Revision, Tool } from '../../types/index.js'
import { serverOf } from '../support/server.js'
import { turn } from '../support/time.js'

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const request = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params })
const initialize = (protocolVersion: string, id: unknown = 'init') => request(id, 'initialize', { protocolVersion, capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } })
const call = (id: unknown, name: string, more: object = {}) => request(id, 'tools/call', { name, ...more })
const cancel = (requestId: unknown) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })

/** A peer of a server whose tool `wait` ends when the test says so. */
async function peerOf (t: Test, options: Partial<PeerOptions> = {}, settings: McpOptions = {}) {
  const { app, server } = serverOf(t, settings)
  const release: (() => void)[] = []
  const aborted: unknown[] = []
  const tools = [
    { name: 'echo', handler: () => 'said' },
    { name: 'ask', handler: async (_: unknown, ctx: any) => JSON.stringify(await ctx.roots()) },
    {
      name: 'late',
      handler: async (_: unknown, ctx: any) => {
        await new Promise<void>(resolve => release.push(resolve))
        return JSON.stringify(await ctx.roots())
      }
    },
    { name: 'steps', handler: async (_: unknown, ctx: any) => { await ctx.progress(1); return 'done' } },
    {
      name: 'wait',
      handler: (_: unknown, ctx: any) => new Promise(resolve => {
        ctx.signal.addEventListener('abort', () => aborted.push(ctx.signal.reason))
        release.push(() => resolve('waited'))
      })
    }
  ]
  for (const tool of tools) server.tools.add(tool as unknown as Tool, app)
  const written: any[] = []
  const ended: string[] = []
  const peer = new Peer(server, {
    write: text => { written.push(JSON.parse(text)) },
    begin: (served, client, capabilities) => new Session('s', 'stdio', served, client, capabilities),
    end: () => ended.push('end'),
    ...options
  })
  await turn() // that there are tools has been told by now
  return { app, server, peer, written, ended, release, aborted }
}

t.test('the revision is that of how the client opens', async t => {
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as Revision[]) {
    const { peer, written } = await peerOf(t)
    peer.receive(initialize(version))
    t.match(written, [{ id: 'init', result: { protocolVersion: version } }], version)
    t.match(peer.session, { served: { revision: { version } }, client: { name: 'c' } })
  }
})

t.test('a message with its own context is served by it, whatever session there is', async t => {
  const { peer, written } = await peerOf(t)
  peer.receive(initialize('2025-11-25'))
  peer.receive(request(1, 'server/discover', { _meta: meta }))
  peer.receive(request(2, 'ping'))
  t.match(written.slice(1), [{ id: 1, result: { resultType: 'complete' } }, { id: 2, result: { resultType: undefined } }])
})

t.test('a context that cannot be served is refused with what can be', async t => {
  const { peer, written } = await peerOf(t)
  for (const version of ['1900-01-01', 5]) peer.receive(request(version, 'server/discover', { _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': version } }))
  t.match(written, [{ id: '1900-01-01', error: { code: -32022, data: { supported: Array } } }, { id: 5, error: { code: -32602 } }])
})

t.test('what is no message is refused, with its id where it has one', async t => {
  const { peer, written } = await peerOf(t)
  for (const value of [5, null, {}, { jsonrpc: '2.0', id: 3 }, { jsonrpc: '2.0', id: null, method: 'ping' }]) peer.receive(value)
  t.strictSame(written.map(({ id, error }) => [id, error.code]), [[undefined, -32600], [undefined, -32600], [undefined, -32600], [3, -32600], [undefined, -32600]])
})

t.test('notifications and responses are never answered', async t => {
  const { peer, written } = await peerOf(t)
  for (const value of [{ jsonrpc: '2.0', method: 'x' }, cancel(1), { jsonrpc: '2.0', id: 9, result: {} }]) peer.receive(value)
  await turn()
  t.strictSame(written, [])
})

t.test('an id that is in use is refused until its request has an answer', async t => {
  const { peer, written, release } = await peerOf(t)
  peer.receive(call(1, 'wait'))
  peer.receive(call(1, 'echo'))
  peer.receive(call('1', 'echo'))
  t.match(written, [{ id: 1, error: { code: -32600, message: /id 1 is in use/ } }, { id: '1', result: {} }], 'a string is another id than a number')
  release[0]?.()
  await turn()
  t.match(written[2], { id: 1, result: { content: [{ text: 'waited' }] } })
  peer.receive(call(1, 'echo'))
  t.match(written[3], { id: 1, result: {} })
})

t.test('a call is cancelled by its id, without an answer', async t => {
  for (const first of [initialize('2025-11-25'), undefined]) {
    const { peer, written, aborted, release } = await peerOf(t)
    if (first !== undefined) peer.receive(first)
    peer.receive(call('a', 'wait', first === undefined ? { _meta: meta } : {}))
    peer.receive(cancel('a'))
    t.match(aborted, [{ name: 'AbortError' }])
    release[0]?.()
    await turn()
    t.strictSame(written.filter(message => message.id === 'a'), [])
    peer.receive(call('a', 'echo', first === undefined ? { _meta: meta } : {}))
    t.match(written.at(-1), { id: 'a', result: {} }, 'its id is free again')
  }
})

t.test('what a call says before its answer comes before it', async t => {
  const { peer, written } = await peerOf(t)
  peer.receive(call(1, 'steps', { _meta: { progressToken: 'p' } }))
  await turn()
  t.match(written, [{ method: 'notifications/progress', params: { progressToken: 'p' } }, { id: 1, result: {} }])
})

t.test('changes are told to who has shaken hands, and to nobody else', async t => {
  const { server, peer, written } = await peerOf(t)
  server.subscriptions.publish({ kind: 'tools' })
  t.strictSame(written, [])
  peer.receive(initialize('2025-11-25'))
  server.subscriptions.publish({ kind: 'tools' })
  server.subscriptions.publish({ kind: 'resource', uri: 'mem://a' })
  t.match(written.slice(1), [{ method: 'notifications/tools/list_changed' }])
  t.equal(written.length, 2)
})

t.test('a client of 2026-07-28 hears what it subscribed to', async t => {
  const { server, peer, written } = await peerOf(t)
  peer.receive(request('sub', 'subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: meta }))
  server.subscriptions.publish({ kind: 'tools' })
  t.match(written.map(message => message.method), ['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed'])
  peer.receive(cancel('sub'))
  server.subscriptions.publish({ kind: 'tools' })
  t.equal(written.length, 2)
})

t.test('a batch of 2025-03-26 is answered with one array', async t => {
  const { peer, written, release } = await peerOf(t)
  peer.receive(initialize('2025-03-26'))
  peer.receive([request(1, 'ping'), call(2, 'wait'), { jsonrpc: '2.0', method: 'x' }, 5])
  t.equal(written.length, 1)
  release[0]?.()
  await turn()
  t.match(written[1], [{ error: { code: -32600 } }, { id: 1 }, { id: 2 }])
})

t.test('a batch is answered with one array even where notifications precede it', async t => {
  const { peer, written } = await peerOf(t)
  peer.receive(initialize('2025-03-26'))
  peer.receive([request(1, 'ping'), call(2, 'steps', { _meta: { progressToken: 'p' } })])
  await turn()
  t.match(written.slice(1), [{ method: 'notifications/progress' }, [{ id: 1 }, { id: 2 }]], 'JSON-RPC 2.0 section 6: the responses come in an array')
})

t.test('a member of a batch can be cancelled', async t => {
  const { peer, written, aborted } = await peerOf(t)
  peer.receive(initialize('2025-03-26'))
  peer.receive([call(1, 'wait'), request(2, 'ping')])
  peer.receive(cancel(1))
  t.match(written[1], [{ id: 2 }])
  t.match(aborted, [{ name: 'AbortError' }])
})

t.test('an id that is in use is refused in a batch too', async t => {
  const { peer, written, release } = await peerOf(t)
  peer.receive(initialize('2025-03-26'))
  peer.receive(call(3, 'wait'))
  peer.receive([call(3, 'echo'), request(4, 'ping')])
  const answers = [written[1]].flat()
  t.match(answers.find(one => one.id === 3), { error: { code: -32600 } })
  t.match(answers.find(one => one.id === 4), { result: {} })
  release[0]?.()
  await turn()
  t.match(written.at(-1), { id: 3, result: { content: [{ text: 'waited' }] } }, 'the first request of the id has its answer')
})

t.test('answers of the client come in a batch too', async t => {
  const { peer, written } = await peerOf(t)
  peer.receive(initialize('2025-03-26'))
  for (const id of [1, 2]) peer.receive(call(id, 'ask'))
  const asked = written.filter(({ method }) => method === 'roots/list').map(({ id }) => id)
  peer.receive([...asked.map(id => ({ jsonrpc: '2.0', id, result: { roots: [{ uri: `file:///${id}` }] } })), request(3, 'ping')])
  await turn()
  t.strictSame(asked.length, 2)
  t.match(written.slice(3), [[{ id: 3 }], { id: 1, result: { content: [{ text: RegExp(asked[0]) }] } }, { id: 2, result: { content: [{ text: RegExp(asked[1]) }] } }])
})

t.test('a call whose client can answer nothing more is told so when it asks, in a batch too', async t => {
  for (const batch of [false, true]) {
    const { peer, written, release } = await peerOf(t)
    peer.receive(initialize('2025-03-26'))
    peer.receive(batch ? [call(1, 'late')] : call(1, 'late'))
    peer.silent()
    release[0]?.()
    await turn()
    t.match([written[1]].flat(), [{ id: 1, result: { isError: true, content: [{ text: /no GET stream|cannot answer|stream/ }] } }], batch ? 'in a batch' : 'alone')
  }
})

t.test('a connection is initialized once: its questions stay open, and no id is used again', async t => {
  const { peer, written } = await peerOf(t)
  peer.receive(initialize('2025-11-25'))
  const { session } = peer
  peer.receive(call(1, 'ask'))
  peer.receive(initialize('2025-11-25', 'again'))
  t.match(written[2], { id: 'again', error: { code: -32600, message: /already/ } })
  t.equal(peer.session, session)
  peer.receive(call(2, 'ask'))
  const asked = written.filter(({ method }) => method === 'roots/list').map(({ id }) => id)
  t.equal(new Set(asked).size, 2)
  for (const id of asked) peer.receive({ jsonrpc: '2.0', id, result: { roots: [] } })
  await turn()
  t.match(written.slice(4), [{ id: 1, result: {} }, { id: 2, result: {} }])
})

t.test('a handshake that was refused can be tried again', async t => {
  const { peer, written } = await peerOf(t)
  peer.receive(request(1, 'initialize', { protocolVersion: 5 }))
  peer.receive(initialize('2025-11-25'))
  t.match(written, [{ id: 1, error: { code: -32602 } }, { id: 'init', result: { protocolVersion: '2025-11-25' } }])
})

t.test('batches are refused where the revision has none', async t => {
  const { peer, written } = await peerOf(t)
  peer.receive(initialize('2025-11-25'))
  peer.receive([request(1, 'ping')])
  t.match(written[1], { id: undefined, error: { code: -32600, message: /no batches/ } })
})

t.test('who leaves has its calls cancelled and is told nothing more', async t => {
  const { server, peer, written, aborted, release } = await peerOf(t)
  peer.receive(initialize('2025-11-25'))
  peer.receive(call(1, 'wait'))
  peer.leave('The client is gone')
  t.match(aborted, [{ message: 'The client is gone' }])
  server.subscriptions.publish({ kind: 'tools' })
  peer.receive(request(2, 'ping'))
  release[0]?.()
  await turn()
  t.equal(written.length, 1)
  t.equal(server.subscriptions.size, 0)
})

t.test('a server that closes ends the connection', async t => {
  const { server, ended } = await peerOf(t)
  server.subscriptions.end()
  t.strictSame(ended, ['end'])
})

t.test('a transport of one revision serves that alone', async t => {
  const { server } = serverOf(t)
  const revision = server.revisions.get('2024-11-05')
  const written: any[] = []
  const peer = new Peer(server, { revision: revision as NonNullable<typeof revision>, write: text => { written.push(JSON.parse(text)) }, begin: served => new Session('s', 'http-sse', served, undefined, {}), end () {} })
  peer.receive(initialize('2025-11-25'))
  peer.receive(request(1, 'server/discover', { _meta: meta }))
  peer.receive([request(2, 'ping')])
  t.match(written, [{ result: { protocolVersion: '2024-11-05' } }, { id: 1, error: { code: -32601 } }, { error: { code: -32600 } }])
})

t.test('what is no refusal is told without details, logged in full, and ends nothing', async t => {
  const { peer, written, server } = await peerOf(t)
  const logged: unknown[] = []
  Object.assign(server.app.log, { error: (fields: unknown) => { logged.push(fields) } })
  const fault = new Error('pg://u:pw@db')
  peer.refuse(fault, 1)
  t.strictSame(written, [{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }])
  t.match(logged, [{ err: fault }])
})

t.test('whatever is in the place of a version, it is refused', async t => {
  const { peer, written } = await peerOf(t)
  const versions = [{ toString: 1 }, [], [[[]]], 7, null, true]
  for (const version of versions) peer.receive(request(1, 'tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': version } }))
  t.equal(written.length, versions.length)
  for (const { error } of written) t.equal(error.code, -32602)
})
