import t from 'tap'
import { accepted, asksForStream } from '../../lib/transports/accept.js'

const both = { json: true, sse: true }
const json = { json: true, sse: false }
const sse = { json: false, sse: true }
const neither = { json: false, sse: false }

t.test('a client takes what its header admits, and streams only where it names them', async t => {
  const rows: [string | undefined, object][] = [
    [undefined, json],
    ['', json],
    ['*/*', json],
    ['application/json', json],
    ['application/*', json],
    ['application/json, */*', json],
    ['application/json, text/event-stream', both],
    ['text/event-stream, application/json', both],
    ['text/event-stream,application/json;q=0.5', both],
    ['Application/JSON, Text/Event-Stream', both],
    ['*/*, text/event-stream', both],
    ['text/event-stream', sse],
    ['text/event-stream, application/json;q=0', sse],
    ['application/json, text/event-stream;q=0', json],
    ['text/event-stream;q=0, */*', json],
    ['text/html', neither],
    ['text/html, application/xml;q=0.9', neither],
    ['application/json;q=0', neither],
    ['nonsense', neither]
  ]
  for (const [header, expected] of rows) {
    t.strictSame(accepted(header), expected, String(header))
    t.strictSame(accepted(header), expected, `${header}, read again`)
  }
})

t.test('a parameter such as a charset makes no other type of it', async t => {
  const rows: [string, object][] = [
    ['application/json; charset=utf-8', json],
    ['application/json;charset=UTF-8, text/event-stream', both],
    ['text/event-stream; charset=utf-8', sse]
  ]
  for (const [header, expected] of rows) t.strictSame(accepted(header), expected, header)
})

t.test('a client that admits streams alone by a wildcard is served, for it admits one of the two', async t => {
  for (const header of ['text/*', 'text/*, text/html']) t.strictSame(accepted(header), sse, header)
})

t.test('a GET asks for a stream by its name alone', async t => {
  const rows: [string | undefined, boolean][] = [
    ['text/event-stream', true], ['Text/Event-Stream', true], ['application/json, text/event-stream', true], ['*/*, text/event-stream;q=0.1', true],
    [undefined, false], ['*/*', false], ['text/*', false], ['application/json', false], ['text/event-stream;q=0', false]
  ]
  for (const [header, expected] of rows) t.equal(asksForStream(header), expected, String(header))
})

t.test('headers without end fill no memory and are read all the same', async t => {
  const read = Array.from({ length: 500 }, (_, i) => accepted(`application/json, text/x-${i}`))
  t.ok(read.every(one => one.json && !one.sse))
  t.not(accepted('application/json, text/x-499'), read[499], 'the five hundredth is not kept')
  t.strictSame(accepted(`text/event-stream, application/json, ${'text/x, '.repeat(100)}text/y`), both)
})
