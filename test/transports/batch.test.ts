import t from 'tap'
import { BatchAnswer, readBatch } from '../../lib/transports/batch.js'
import { FakeChannel, servedOf } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'

const served = servedOf('2025-03-26')
const request = (id: unknown, method = 'ping') => ({ jsonrpc: '2.0', id, method })
const note = { jsonrpc: '2.0', method: 'notifications/cancelled' }
const response = { jsonrpc: '2.0', id: 'ask', result: {} }

/** A batch of requests with these ids, and what came of it on a channel. */
function answering (ids: number[], { apart = true, items = [] as unknown[] } = {}) {
  const channel = new FakeChannel()
  const batch = readBatch([...ids.map(id => request(id)), ...items], served, 100)
  const answer = new BatchAnswer(channel, batch, apart)
  return { channel, members: batch.requests.map(() => answer.member()) }
}

t.test('only 2025-03-26 has batches', async t => {
  for (const version of ['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'] as const) {
    t.match(thrown(() => readBatch([request(1)], servedOf(version), 100)), { code: -32600, status: 400, message: RegExp(version) })
  }
})

t.test('the members are sorted by what they are', async t => {
  const batch = readBatch([request(1), note, response, request('1', 'tools/list')], served, 100)
  t.strictSame(batch, { requests: [request(1), request('1', 'tools/list')], notifications: [note], responses: [response], refused: [] })
})

t.test('a member that is no message is refused by itself, with its id where it has one', async t => {
  const items = [5, null, [], {}, { jsonrpc: '2.0', id: 7 }, { jsonrpc: '2.0', id: null, method: 'ping' }, request(1)]
  const { requests, refused } = readBatch(items, served, 100)
  t.equal(requests.length, 1)
  t.strictSame(refused.map(text => JSON.parse(text)).map(({ id, error }) => [id, error.code]), [
    [undefined, -32600], [undefined, -32600], [undefined, -32600], [undefined, -32600], [7, -32600], [undefined, -32600]
  ])
})

t.test('initialize cannot be part of a batch', async t => {
  const { requests, refused } = readBatch([request(1, 'initialize'), request(2)], served, 100)
  t.strictSame(requests, [request(2)])
  t.match(JSON.parse(refused[0] as string), { id: 1, error: { code: -32600, message: /initialize/ } })
})

t.test('a request whose id is in use is refused by itself', async t => {
  const { requests, refused } = readBatch([request(1), request('1'), note], served, 100, id => id === 1)
  t.strictSame(requests, [request('1')])
  t.match(JSON.parse(refused[0] as string), { id: 1, error: { code: -32600, message: /id 1 is in use/ } })
})

t.test('a batch that cannot be served at all is refused as a whole', async t => {
  const rows: [string, unknown[], RegExp][] = [
    ['an empty one', [], /at least one/],
    ['a long one', [request(1), request(2), request(3)], /may have 2 messages, this one has 3/],
    ['one with an id twice', [request('a'), request('a')], /the same id/]
  ]
  for (const [what, items, message] of rows) t.match(thrown(() => readBatch(items, served, 2)), { code: -32600, status: 400, message }, what)
})

t.test('the answers go out together as one array when the last is there', async t => {
  const { channel, members } = answering([1, 2], { items: [5] })
  members[1]?.end('{"id":2}', 200)
  t.strictSame(channel.ended, [])
  members[0]?.end('{"id":1}', 404)
  t.match(channel.answer, [{ error: { code: -32600 } }, { id: 2 }, { id: 1 }])
  t.strictSame([channel.status, channel.ended.length, channel.closed], [200, 1, 0])
})

t.test('a cancelled member has no answer', async t => {
  const { channel, members } = answering([1, 2])
  members[0]?.close()
  members[1]?.end('{"id":2}', 200)
  t.strictSame(channel.answer, [{ id: 2 }])
})

t.test('a batch without any answer closes', async t => {
  const { channel, members } = answering([1])
  members[0]?.close()
  t.strictSame([channel.ended, channel.closed], [[], 1])
})

t.test('of cancelled members something is said only where all are', async t => {
  const { channel, members } = answering([1, 2])
  members[0]?.close('{"id":1,"error":{}}')
  members[1]?.close('{"id":2,"error":{}}')
  t.strictSame(channel.errors, ['[{"id":1,"error":{}},{"id":2,"error":{}}]'])
  const half = answering([1, 2])
  half.members[0]?.close('{"id":1,"error":{}}')
  half.members[1]?.end('{"id":2}', 200)
  t.strictSame(half.channel.answer, [{ id: 2 }])
})

t.test('a batch of nothing that can be answered is over at once', async t => {
  t.strictSame(answering([], { items: [note, response] }).channel.closed, 1)
  t.match(answering([], { items: [5] }).channel.answer, [{ error: { code: -32600 } }])
})

t.test('once something precedes them, the answers are messages of the stream', async t => {
  const { channel, members } = answering([1, 2])
  members[0]?.send('{"method":"n"}')
  members[0]?.end('{"id":1}', 200)
  members[1]?.end('{"id":2}', 200)
  t.strictSame(channel.messages, [{ method: 'n' }, { id: 1 }, { id: 2 }])
  t.strictSame([channel.ended, channel.closed], [[], 1])
})

t.test('where they may not go out apart they stay an array, whatever precedes them', async t => {
  const { channel, members } = answering([1], { apart: false })
  members[0]?.send('{"method":"n"}')
  members[0]?.end('{"id":1}', 200)
  t.strictSame(channel.answer, [{ id: 1 }])
})

t.test('a member shares the channel of the batch, but opens no session', async t => {
  const { channel, members } = answering([1])
  const member = members[0] as NonNullable<typeof members[0]>
  t.match(member, { streams: true, hears: true, connected: true })
  member.hold()
  t.equal(channel.held, 1)
  channel.connected = false
  t.equal(member.connected, false, 'it is connected as long as that is')
  t.match(thrown(() => member.open(served, undefined, {})), { code: -32600 })
})

t.test('all members are told that the client is gone, by one listener', async t => {
  const { channel, members } = answering(Array.from({ length: 12 }, (_, id) => id))
  const gone: number[] = []
  for (const [id, member] of members.entries()) member.onGone(() => { gone.push(id) })
  t.equal(channel.listeners, 1, 'a response warns of more than ten')
  t.equal(members[0]?.gone, false)
  channel.leave()
  t.equal(members[0]?.gone, true)
  t.strictSame(gone, [...members.keys()])
  members[0]?.onGone(() => { gone.push(99) })
  channel.leave()
  t.strictSame([gone.length, gone.at(-1)], [13, 99], 'who asks later is told too, and nobody twice')
})

t.test('who made a member is told when nothing more comes of it', async t => {
  const channel = new FakeChannel()
  const answer = new BatchAnswer(channel, readBatch([request(1), request(2)], served, 100), true)
  const settled: number[] = []
  const [first, second] = [answer.member(() => { settled.push(1) }), answer.member(() => { settled.push(2) })]
  first.send('{"method":"n"}')
  t.strictSame(settled, [])
  first.end('{"id":1}', 200)
  second.close()
  t.strictSame(settled, [1, 2])
})
