import { PassThrough, Writable } from 'node:stream'
import { mock } from 'node:test'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { McpServer } from '../../lib/server.js'
import { stdio } from '../../lib/transports/stdio.js'
import type { Tool } from '../../types/index.js'
import { anyText, isAnswer } from '../support/messages.js'
import { serverOf } from '../support/server.js'
import { turn, until, wait } from '../support/time.js'

const MIB = 1_048_576
const ping = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })
const call = (id: unknown, name: string) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })

/** A server with tools that tell how long they take by their name. */
function serving (t: Test) {
  const { app, server } = serverOf(t)
  const aborted: unknown[] = []
  const slow = (ms: number) => (_: unknown, { signal }: any) => new Promise(resolve => {
    const timer = setTimeout(() => resolve(`after ${ms}`), ms)
    signal.addEventListener('abort', () => { clearTimeout(timer); aborted.push(signal.reason) })
  })
  for (const [name, handler] of Object.entries({ quick: () => 'now', slow: slow(80), endless: slow(60_000) })) server.tools.add({ name, handler } as unknown as Tool, app)
  return { server, aborted }
}

/** Serves one client on streams of its own. */
function connect (server: McpServer, { lineLimit = MIB, output = new PassThrough() as PassThrough | Writable } = {}) {
  const input = new PassThrough()
  const chunks: Buffer[] = []
  output.on('data', chunk => chunks.push(chunk))
  const done = stdio(server, { input, output, lineLimit })
  const text = () => Buffer.concat(chunks).toString()
  return { input, output, done, chunks, text, messages: (): any[] => text().split('\n').filter(line => line !== '').map(line => JSON.parse(line)) }
}

/** All that comes back for some chunks of input. */
async function answers (server: McpServer, chunks: (string | Buffer)[], lineLimit?: number): Promise<any[]> {
  const { input, done, messages } = connect(server, lineLimit === undefined ? {} : { lineLimit })
  for (const chunk of chunks) input.write(chunk)
  input.end()
  await done
  return messages()
}

t.test('each line is a message, and each answer a line', async t => {
  const { server } = serving(t)
  const { input, done, text } = connect(server)
  input.write(`${ping(1)}\n${ping(2)}\n`)
  input.end()
  await done
  t.equal(text(), '{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","id":2,"result":{}}\n')
})

t.test('lines may end in any usual way, and empty ones are nothing', async t => {
  const { server } = serving(t)
  const rows: [string, string, number[]][] = [
    ['CRLF', `${ping(1)}\r\n${ping(2)}\r\n`, [1, 2]],
    ['no end of the last', `${ping(1)}\n${ping(2)}`, [1, 2]],
    ['empty lines', `\n\r\n  \n${ping(1)}\n\n`, [1]],
    ['a byte order mark', `\ufeff${ping(1)}\n`, [1]],
    ['a byte order mark after an empty line', `\n\ufeff${ping(1)}\n`, [1]],
    ['spaces around', `  ${ping(1)}\t\n`, [1]],
    ['nothing', '', []]
  ]
  for (const [what, text, ids] of rows) t.strictSame((await answers(server, [text])).map(message => message.id), ids, what)
})

t.test('however the bytes are split, the lines are the same', async t => {
  const { server } = serving(t)
  const id = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.integer())
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
  await fc.assert(fc.asyncProperty(fc.array(id, { minLength: 1, maxLength: 6 }), cuts, fc.constantFrom('\n', '\r\n'), async (ids, cuts, end) => {
    const bytes = Buffer.from(ids.map(id => ping(id) + end).join(''))
    const places = [0, ...cuts.map(cut => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length]
    const chunks = places.slice(1).map((to, i) => bytes.subarray(places[i], to))
    return JSON.stringify((await answers(server, chunks)).map(message => message.id)) === JSON.stringify(ids)
  }), { numRuns: 50 })
  t.pass('no counterexample')
})

t.test('whatever the lines hold, what comes back is messages, and the next line is served', async t => {
  const { server } = serving(t)
  const line = fc.oneof({ weight: 5, arbitrary: anyText }, { weight: 1, arbitrary: fc.string({ unit: 'binary' }) })
  await fc.assert(fc.asyncProperty(fc.array(line, { maxLength: 5 }), async lines => {
    const got = await answers(server, [...lines, ping('the last one')].map(one => one + '\n'))
    return got.every(isAnswer) && got.some(one => one.id === 'the last one' && 'result' in one)
  }), { numRuns: 200 })
  t.pass('no counterexample')
})

t.test('a line that is not JSON, or no message, is refused and the next one served', async t => {
  const { server } = serving(t)
  const got = await answers(server, ['{"jsonrpc":\n', '5\n', 'ünïcode\n', `${ping(1)}\n`])
  t.match(got, [{ id: undefined, error: { code: -32700 } }, { error: { code: -32600 } }, { error: { code: -32700 } }, { id: 1, result: {} }])
})

t.test('a line that is too long is refused once, and the next one served', async t => {
  const { server } = serving(t)
  const [long, short] = [ping('x'.repeat(100)), ping(1)]
  for (const chunks of [[`${long}\n${short}\n`], [long.slice(0, 80), long.slice(80), `\n${short}`], [`${short}\n`, long]]) {
    const got = await answers(server, chunks, 60)
    t.match(got.filter(message => message.error), [{ error: { code: -32600, message: /60 bytes/ } }], JSON.stringify(chunks.map(chunk => chunk.length)))
    t.match(got.filter(message => message.result), [{ id: 1 }])
  }
})

t.test('the limit of a line is one of bytes', async t => {
  const { server } = serving(t)
  const line = ping('€'.repeat(10))
  const bytes = Buffer.byteLength(line)
  t.match(await answers(server, [line + '\n'], bytes), [{ result: {} }], 'as many as there may be')
  t.match(await answers(server, [line + '\n'], bytes - 1), [{ error: { code: -32600 } }], 'one more')
})

t.test('what one turn of the loop has to say is one write', async t => {
  const { server } = serving(t)
  const { input, done, chunks } = connect(server)
  input.write([1, 2, 3].map(id => ping(id) + '\n').join(''))
  await turn()
  t.equal(chunks.length, 1)
  input.end()
  await done
})

t.test('when the input ends, what was asked is answered first', async t => {
  const { server, aborted } = serving(t)
  t.match(await answers(server, [call(1, 'slow') + '\n']), [{ id: 1, result: { content: [{ text: 'after 80' }] } }])
  t.strictSame(aborted, [])
})

t.test('when nobody reads any more, calls are cancelled and it is over', async t => {
  const ends: [string, (output: Writable) => void][] = [
    ['the reader leaves', output => output.destroy()],
    ['the pipe breaks', output => output.destroy(Object.assign(new Error('broken'), { code: 'EPIPE' }))]
  ]
  for (const [what, end] of ends) {
    const { server, aborted } = serving(t)
    const { input, output, done } = connect(server)
    input.write(call(1, 'endless') + '\n')
    t.ok(await until(() => server.calls.size === 1), what)
    end(output)
    await done
    t.match(aborted, [{ message: 'The client is gone' }], what)
    t.equal(server.subscriptions.size, 0)
  }
})

t.test('a reader that is gone when the input ends gets nothing, and that is no error', async t => {
  const { server } = serving(t)
  const { input, output, done } = connect(server)
  input.write(call(1, 'endless') + '\n')
  await turn()
  input.end()
  await wait(5)
  output.destroy()
  await t.resolves(done)
})

t.test('an input that breaks is an input that ends', async t => {
  const { server } = serving(t)
  const { input, done, messages } = connect(server)
  input.write(ping(1) + '\n')
  await turn()
  input.destroy(new Error('broken'))
  await t.resolves(done)
  t.match(messages(), [{ id: 1 }])
})

t.test('a slow reader gets everything before it is over', async t => {
  const { server } = serving(t)
  const taken: string[] = []
  const output = new Writable({
    highWaterMark: 1,
    write (chunk, _, callback) { taken.push(String(chunk)); setTimeout(callback, 20) }
  })
  const { input, done } = connect(server, { output })
  for (const id of [1, 2, 3]) {
    input.write(ping(id) + '\n')
    await turn()
  }
  input.end()
  await done
  t.strictSame(taken.join('').split('\n').filter(Boolean).map(line => JSON.parse(line).id), [1, 2, 3])
  t.equal(output.writableLength, 0)
})

t.test('a reader that takes nothing is waited for 30 s, and a second more for what was said then', async t => {
  const { server, aborted } = serving(t)
  const clock = mock.timers
  clock.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => { clock.reset() })
  const over = async (lines: string[]) => {
    const { input, done } = connect(server, { output: new Writable({ write () {} }) })
    let is = false
    done.then(() => { is = true })
    input.end(lines.join('\n'))
    const after = async (ms: number) => {
      for (let i = 0; i < 10; i++) await turn()
      clock.tick(ms)
      for (let i = 0; i < 10; i++) await turn()
      return is
    }
    return after
  }
  const read = await over([ping(1)])
  t.strictSame([await read(29_900), await read(100)], [false, true])
  const busy = await over([ping(1), call(2, 'endless')])
  t.strictSame([await busy(30_000), aborted.length, await busy(900), await busy(100)], [false, 1, false, true])
})

t.test('a server that closes ends the input, and the calls in flight get their answer', async t => {
  const { server } = serving(t)
  const { input, done, messages } = connect(server)
  input.write(call(1, 'slow') + '\n')
  t.ok(await until(() => server.calls.size === 1))
  await server.close()
  await done
  t.match(messages(), [{ id: 1, result: { content: [{ text: 'after 80' }] } }])
  t.equal(input.destroyed, true)
})

t.test('a handshake on stdio opens a session of its own, and each connection has one', async t => {
  const { server } = serving(t)
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }) + '\n'
  const level = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'error' } }) + '\n'
  t.match(await answers(server, [hello, level]), [{ result: { capabilities: { tools: { listChanged: true } } } }, { id: 1, result: {} }])
  t.equal(server.sessions.size, 0, 'it does not count among those of HTTP')
})

t.test('a client that asks and does not read is not asked for more until it reads', async t => {
  const { server } = serving(t)
  server.tools.add({ name: 'big', handler: () => 'x'.repeat(MIB) } as unknown as Tool, server.app)
  const taken: string[] = []
  let release: (() => void) | undefined
  const output = new Writable({
    write (chunk, _, done) {
      taken.push(String(chunk))
      release = done
    }
  })
  const { input, done } = connect(server, { output })
  for (let id = 1; id <= 10; id++) {
    input.write(call(id, 'big') + '\n')
    await turn()
  }
  t.ok(input.isPaused())
  const unread = output.writableLength
  t.ok(unread > 4 * MIB && unread < 8 * MIB, `${unread} bytes wait`)
  input.end()
  t.ok(await until(() => {
    release?.()
    return taken.join('').split('\n').length === 11
  }), 'it is all answered when the client reads')
  const reading = setInterval(() => release?.(), 5)
  await done
  clearInterval(reading)
})
