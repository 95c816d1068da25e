// Closing with very many streams: each gets its end, whatever it is, and nothing hangs.
import http from 'node:http'
import t from 'tap'
import { build } from '../support/app.js'
import { until } from '../support/time.js'

const COUNT = 1_000
const HANDSHAKE = '2025-11-25'
const STATELESS = '2026-07-28'
const meta = { 'io.modelcontextprotocol/protocolVersion': STATELESS, 'io.modelcontextprotocol/clientCapabilities': {} }
const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

interface Stream { text: string, ended: boolean, response: http.IncomingMessage }

function open (url: string, method: string, headers: Record<string, string>, body?: object): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers, agent: false }, response => {
      const stream: Stream = { text: '', ended: false, response }
      response.on('data', chunk => { stream.text += chunk })
      response.on('end', () => { stream.ended = true })
      response.on('error', () => {})
      resolve(stream)
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

t.test(`closing ends ${COUNT} streams of both kinds, a paused reader gets its last words, and it does not hang`, async t => {
  const { app, url } = await build(t, { options: { closeTimeout: 10_000 } })
  const listen = (id: number) => open(url, 'POST', { ...types, 'mcp-protocol-version': STATELESS, 'mcp-method': 'subscriptions/listen' },
    { jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: meta } })
  const get = async () => {
    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: HANDSHAKE, capabilities: {}, clientInfo: { name: 'c', version: '1' } } }
    const { headers } = await fetch(url, { method: 'POST', headers: types, body: JSON.stringify(initialize) })
    return await open(url, 'GET', { accept: 'text/event-stream', 'mcp-session-id': headers.get('mcp-session-id') as string })
  }
  const streams: Stream[] = []
  for (let i = 0; i < COUNT; i += 50) streams.push(...await Promise.all(Array.from({ length: 50 }, (_, j) => j % 2 === 0 ? listen(i + j) : get())))
  t.equal(app.mcp.stats().streams, COUNT)
  const paused = streams[0] as Stream
  paused.response.pause()
  setTimeout(() => paused.response.resume(), 300)
  const from = Date.now()
  await app.close()
  t.ok(Date.now() - from < 10_000, `closed in ${Date.now() - from} ms`)
  t.ok(await until(() => streams.every(one => one.ended), 10_000), 'every stream has ended, none was cut')
  const completed = streams.filter((_, i) => i % 2 === 0).filter(one => one.text.includes('"result"') && one.text.includes('notifications/cancelled'))
  t.equal(completed.length, COUNT / 2, 'each subscription was completed')
  t.equal(app.mcp.stats().streams, 0)
})
