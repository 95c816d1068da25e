import t from 'tap'
import { HttpChannel } from '../../lib/transports/http-channel.js'
import type { Door } from '../../lib/transports/http-channel.js'
import { frame, SseStream } from '../../lib/transports/stream.js'
import { servedOf } from '../support/doubles.js'
import { FakeReply } from '../support/reply.js'
import { turn } from '../support/time.js'

const both = { json: true, sse: true }
const jsonOnly = { json: true, sse: false }
const sseOnly = { json: false, sse: true }

function channelOf (accepts = both, wrap?: ConstructorParameters<typeof HttpChannel>[3], closing = false) {
  const reply = new FakeReply()
  const opened: unknown[][] = []
  const made: SseStream[] = []
  const door: Door = {
    hears: true,
    closing,
    stream (reply) {
      made.push(new SseStream(reply.raw, 1000))
      return made.at(-1) as SseStream
    },
    open: (...what) => { opened.push(what) }
  }
  const channel = new HttpChannel(door, reply.reply, accepts, wrap)
  return { channel, reply, opened, made }
}

t.test('the connection of an answer is let go where the server closes; HTTP/2 has no word for that', async t => {
  for (const [closing, major, said] of [[false, 1, undefined], [true, 1, 'close'], [true, 2, undefined]] as const) {
    const { channel, reply } = channelOf(both, undefined, closing)
    reply.raw.req.httpVersionMajor = major
    channel.end('{}', 200)
    t.equal(reply.headers.connection, said, `${closing} ${major}`)
  }
})

t.test('an answer that stays alone is JSON with its status', async t => {
  for (const accepts of [both, jsonOnly]) {
    const { channel, reply, made } = channelOf(accepts)
    channel.end('{"id":1}', 404)
    t.strictSame([reply.sent, reply.status, made.length], [['{"id":1}'], 404, 0])
  }
})

t.test('what precedes the answer makes a stream of it, which ends with the answer', async t => {
  const { channel, reply, made } = channelOf()
  channel.send('{"n":1}')
  channel.send('{"n":2}')
  t.equal(reply.sent.length, 0)
  channel.end('{"id":1}', 404)
  await turn()
  t.equal(made.length, 1)
  t.equal(reply.raw.text, [frame('{"n":1}'), frame('{"n":2}'), frame('{"id":1}')].join(''))
  t.strictSame([reply.sent, reply.raw.writableFinished], [[], true])
})

t.test('to a client that takes no stream nothing is sent but the answer', async t => {
  const { channel, reply, made } = channelOf(jsonOnly)
  channel.send('{"n":1}')
  channel.hold()
  channel.end('{"id":1}', 200)
  t.strictSame([reply.sent, made.length, channel.streams], [['{"id":1}'], 0, false])
})

t.test('a client that takes nothing but streams gets its result as one, and its refusal as JSON', async t => {
  const good = channelOf(sseOnly)
  good.channel.end('{"id":1}', 200)
  t.strictSame([good.reply.raw.text, good.reply.sent], [frame('{"id":1}'), []])
  const bad = channelOf(sseOnly)
  bad.channel.end('{"id":1}', 400)
  t.strictSame([bad.reply.sent, bad.reply.status, bad.made.length], [['{"id":1}'], 400, 0])
})

t.test('holding opens the stream that keeps the connection alive, once and not after the answer', async t => {
  const { channel, made } = channelOf()
  channel.hold()
  channel.hold()
  t.equal(made.length, 1)
  const late = channelOf()
  late.channel.end('{}', 200)
  late.channel.hold()
  t.equal(late.made.length, 0)
})

t.test('a request without an answer is closed: an empty stream, or an error for who takes JSON alone', async t => {
  const streaming = channelOf()
  streaming.channel.close('{"error":1}')
  t.strictSame([streaming.reply.raw.text, streaming.reply.raw.writableFinished], ['', true])
  const plain = channelOf(jsonOnly)
  plain.channel.close('{"error":1}')
  t.strictSame([plain.reply.status, plain.reply.sent, plain.made.length], [200, ['{"error":1}'], 0])
})

t.test('to a client that is gone nothing is written', async t => {
  for (const gone of ['response', 'socket'] as const) {
    const { channel, reply, made } = channelOf()
    if (gone === 'response') reply.raw.destroyed = true
    else reply.raw.socket.destroyed = true
    channel.send('{"n":1}')
    channel.hold()
    channel.end('{"id":1}', 200)
    channel.close()
    t.strictSame([reply.sent, reply.raw.chunks, made.length], [[], [], 0], gone)
  }
})

t.test('who listens is told once that the client is gone, at once if it is already', async t => {
  const { channel, reply } = channelOf()
  let told = 0
  channel.onGone(() => { told++ })
  t.equal(told, 0)
  reply.raw.destroy()
  t.equal(told, 1)
  channel.onGone(() => { told++ })
  t.equal(told, 2)
})

t.test('a session is opened at the door', async t => {
  const { channel, opened, reply } = channelOf()
  const served = servedOf('2025-11-25')
  channel.open(served, { name: 'c', version: '1' }, { roots: {} })
  t.strictSame(opened, [[reply, served, { name: 'c', version: '1' }, { roots: {} }]])
  t.equal(channel.hears, true)
})

t.test('a stream that its client can come back to takes everything, connected or not, and can be let go', async t => {
  const told: string[] = []
  const { channel, reply, made } = channelOf(both, () => ({ connected: true, ready: undefined, write: text => { told.push(text) }, end: last => { told.push(`end ${last}`) }, release: () => { told.push('released') } }))
  channel.release()
  reply.raw.destroyed = true
  channel.send('{"n":1}')
  t.equal(channel.connected, true, 'on whichever connection it is now')
  channel.end('{"id":1}', 200)
  t.strictSame(told, ['released', '{"n":1}', 'end {"id":1}'])
  t.equal(made.length, 1)
  const closing = channelOf(both, () => ({ connected: false, ready: undefined, write () {}, end: last => { told.push(`end ${last}`) }, release () {} }))
  t.equal(closing.channel.connected, true)
  closing.channel.hold()
  t.equal(closing.channel.connected, false, 'as its stream is')
  closing.channel.close()
  t.equal(told.at(-1), 'end undefined')
})
