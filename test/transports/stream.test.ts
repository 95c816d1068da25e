import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { kStreaming } from '../../lib/connection.js'
import { frame, openStream, sendHeaders, SseStream, Streams } from '../../lib/transports/stream.js'
import { FakeReply, FakeResponse } from '../support/reply.js'
import { turn, until, wait } from '../support/time.js'

const streamOf = (maxBuffered = 1000) => {
  const response = new FakeResponse()
  return { response, stream: new SseStream(response.raw, maxBuffered) }
}

function read (text: string) {
  const events: EventSourceMessage[] = []
  const comments: string[] = []
  const parser = createParser({ onEvent: event => events.push(event), onComment: comment => comments.push(comment) })
  parser.feed(text)
  return { events, comments }
}

t.test('nothing is said of the connection: HTTP/2 must not have it, and in HTTP/1 Node knows better', async t => {
  const headers: string[] = []
  const raw = { setHeader (name: string) { headers.push(name) } }
  const { setHeader } = raw
  const sse = { keepAlive () {}, sendHeaders () { for (const name of ['Content-Type', 'Connection', 'X-Own']) raw.setHeader(name) } }
  sendHeaders({} as any, { raw, sse } as any)
  t.strictSame(headers, ['Content-Type', 'X-Own'])
  t.equal(raw.setHeader, setHeader, 'what follows is left alone')
})

t.test('a stream whose client did not wait is not among those that are open', async t => {
  const streams = new Streams({ keepAlive: 1000, maxBuffered: 1000 })
  const response = new FakeResponse()
  response.destroy()
  t.equal(streams.add(response.raw).connected, false)
  t.equal(streams.size, 0)
})

t.test('every message is one event, whatever is in it', async t => {
  fc.assert(fc.property(fc.array(fc.jsonValue({ stringUnit: 'binary' }), { minLength: 1, maxLength: 5 }), values => {
    const { events } = read(values.map(value => frame(JSON.stringify({ value }))).join(''))
    return JSON.stringify(events.map(event => [event.event, JSON.parse(event.data)])) === JSON.stringify(values.map(value => ['message', { value }]))
  }))
  t.pass('no counterexample')
})

t.test('what one turn writes goes out in one piece', async t => {
  const { response, stream } = streamOf()
  stream.write('a')
  stream.write('b')
  t.strictSame(response.chunks, [])
  await turn()
  t.strictSame(response.chunks, ['ab'])
  stream.write('c')
  await turn()
  t.strictSame(response.chunks, ['ab', 'c'])
})

t.test('the headers go out by the end of the turn, by themselves only where nothing follows in it', async t => {
  const quiet = streamOf()
  t.equal(quiet.response.flushed, 0)
  await turn()
  t.strictSame([quiet.response.flushed, quiet.response.chunks], [1, []])
  quiet.stream.write('a')
  await turn()
  t.strictSame([quiet.response.flushed, quiet.response.chunks], [1, ['a']])
  const busy = streamOf()
  busy.stream.write('a')
  await turn()
  t.strictSame([busy.response.flushed, busy.response.chunks], [0, ['a']])
})

/** What a client gets of a stream that is written to in several turns. */
async function served (t: Test, version: string, prepare: (response: ServerResponse) => void = () => {}) {
  const server = createServer(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    prepare(response)
    const stream = new SseStream(response, 1_000_000)
    for (const piece of ['', 'a', 'é中😀', 'x'.repeat(70_000)]) {
      await turn()
      stream.write(piece)
      stream.write('|')
    }
    await turn()
    stream.end('z')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`)
  const received = Buffer.concat(await socket.toArray()).toString()
  const at = received.indexOf('\r\n\r\n') + 4
  return { head: received.slice(0, at), body: received.slice(at) }
}

const EXPECTED = ['|a|', 'é中😀|', 'x'.repeat(70_000) + '|', 'z']

function dechunked (body: string) {
  const bytes = Buffer.from(body)
  const chunks: string[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (!(size > 0)) return { chunks, rest: bytes.toString('latin1', line) }
    chunks.push(bytes.toString('utf8', line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

t.test('a chunk is a chunk of HTTP, whichever way it goes', async t => {
  const written: string[] = []
  const between = (response: ServerResponse) => {
    const write = response.write.bind(response) as (piece: string) => boolean
    response.write = (piece: string) => {
      written.push(piece)
      return write(piece)
    }
  }
  for (const prepare of [undefined, between]) {
    const { chunks, rest } = dechunked((await served(t, '1.1', prepare)).body)
    t.equal(chunks.join(''), EXPECTED.join(''))
    t.equal(rest, '\r\n\r\n')
  }
  t.equal(written.join(''), EXPECTED.slice(0, -1).join(''), 'all but the end by way of who is in between')
})

t.test('HTTP/1.0 knows no chunks', async t => {
  const { head, body } = await served(t, '1.0')
  t.notMatch(head, /chunked/i)
  t.equal(body, EXPECTED.join(''))
})

t.test('what was written before the end goes out before it, nothing after it', async t => {
  const { response, stream } = streamOf()
  stream.write('a')
  stream.end('z')
  stream.end('again')
  stream.write('late')
  await turn()
  t.strictSame(response.chunks, ['az'])
})

t.test('a reader that falls too far behind is cut off, once it had a chance to read', async t => {
  const { response, stream } = streamOf(10)
  stream.write('12345')
  response.writableLength = 11
  stream.write('67')
  t.equal(response.destroyed, false, 'it may be the writer who is to blame')
  await turn()
  await turn()
  stream.write('8')
  t.equal(response.destroyed, true)
  stream.write('9')
  stream.end('0')
  await turn()
  t.strictSame(response.chunks, ['1234567'], 'and gets nothing more')
})

t.test('a reader that has caught up in the meantime is not', async t => {
  const { response, stream } = streamOf(10)
  response.writableLength = 11
  stream.write('1')
  await turn()
  await turn()
  response.writableLength = 10
  stream.write('2')
  response.writableLength = 11
  stream.write('3')
  t.equal(response.destroyed, false)
})

t.test('what one turn writes, however much, goes to the system in pieces', async t => {
  const { response, stream } = streamOf(10)
  for (let i = 0; i < 200; i++) stream.write('x'.repeat(1000))
  t.equal(response.destroyed, false)
  t.equal(response.chunks.length, 3)
  await turn()
  t.equal(response.text.length, 200_000)
})

t.test('a writer can wait for its reader', async t => {
  const { response, stream } = streamOf()
  t.equal(stream.ready, undefined)
  response.writableNeedDrain = true
  let done = 0
  const waiting = [stream.ready, stream.ready].map(async ready => { await ready; done++ })
  t.equal(response.listenerCount('drain'), 1, 'however many wait')
  await turn()
  t.equal(done, 0)
  response.writableNeedDrain = false
  response.emit('drain')
  await Promise.all(waiting)
  t.equal(stream.ready, undefined)
  response.writableNeedDrain = true
  const gone = stream.ready
  response.destroy()
  await t.resolves(gone as Promise<void>, 'nobody waits for a reader who is gone')
  t.equal(stream.ready, undefined)
})

t.test('to a connection that is gone nothing is written', async t => {
  const { response, stream } = streamOf()
  stream.write('a')
  response.destroyed = true
  stream.write('b')
  await turn()
  stream.end('c')
  t.strictSame(response.chunks, [])
})

t.test('a stream is closed when its response is finished, or its connection gone', async t => {
  for (const end of ['end', 'destroy'] as const) {
    const { response, stream } = streamOf()
    const closed = stream.closed
    response[end]()
    await t.resolves(closed, end)
    await t.resolves(stream.closed, `${end}, asked for later`)
  }
})

t.test('who asks is told when a stream closes, at once where it has', async t => {
  const { response, stream } = streamOf()
  let told = 0
  stream.onClose(() => { told++ })
  t.equal(told, 0)
  response.destroy()
  t.equal(told, 1)
  stream.onClose(() => { told++ })
  t.equal(told, 2)
})

t.test('open streams are counted until they close', async t => {
  const streams = new Streams({ keepAlive: 1000, maxBuffered: 1000 })
  const responses = [new FakeResponse(), new FakeResponse()]
  for (const response of responses) streams.add(response.raw)
  t.equal(streams.size, 2)
  responses[0]?.destroy()
  t.equal(streams.size, 1)
  responses[1]?.end()
  t.equal(streams.size, 0)
  t.equal((streams as unknown as { timer: unknown }).timer, undefined, 'no timer is left')
})

t.test('comments keep every open stream open', async t => {
  const streams = new Streams({ keepAlive: 20, maxBuffered: 1000 })
  const responses = [new FakeResponse(), new FakeResponse()]
  for (const response of responses) streams.add(response.raw)
  for (const response of responses) {
    t.ok(await until(() => response.chunks.length >= 2))
    t.match(read(response.text), { events: { length: 0 }, comments: ['', ''] })
    response.destroy()
  }
})

t.test('finishing ends every stream and waits for its last byte', async t => {
  const streams = new Streams({ keepAlive: 1000, maxBuffered: 1000 })
  const response = new FakeResponse()
  streams.add(response.raw).write('a')
  await streams.finished(1000)
  t.strictSame([response.chunks, response.destroyed], [['a'], false])
  await streams.finished(1000)
})

t.test('finishing destroys what does not end in time', async t => {
  const streams = new Streams({ keepAlive: 1000, maxBuffered: 1000 })
  const response = new FakeResponse()
  response.end = () => {}
  streams.add(response.raw)
  const start = Date.now()
  await streams.finished(40)
  t.ok(Date.now() - start >= 39)
  t.equal(response.destroyed, true)
})

t.test('a reply becomes a stream by the handler that sends the headers, and says so', async t => {
  const reply = new FakeReply()
  const entered: unknown[][] = []
  const raw = openStream(function (this: unknown, ...what: unknown[]) { entered.push([this, ...what]) } as never, reply.reply)
  t.equal(raw as unknown, reply.raw)
  t.strictSame(entered, [[reply.server, reply.request, reply]])
  t.match(reply.headers['cache-control'], /no-cache.*no-transform/)
  t.strictSame([reply.hijacked, reply.request[kStreaming]], [true, true])
})

t.test('a stream that cannot be opened is cut and logged', async t => {
  const reply = new FakeReply()
  openStream((async () => { throw new Error('no headers') }) as never, reply.reply)
  await wait(5)
  t.equal(reply.raw.destroyed, true)
  t.match(reply.logged, [{ err: { message: 'no headers' } }])
})
