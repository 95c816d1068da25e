// Section 2: sessions are cheap to ask for, so there is an end to them.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { build } from '../support/app.js'
import { until } from '../support/audit.js'
import { httpSse, legacy, type HttpPeer } from '../support/http.js'
import { sleep } from '../support/stdio.js'
import { initializeBody, PATIENCE, pingBody, rpcRefusal } from './host.js'

const nothing = JSON.stringify({ sessions: 0, streams: 0, calls: 0 })

/** Runs one of the programs against the build and gives what it prints. */
const run = (file: string, ...flags: string[]) => new Promise<any>((resolve, reject) => {
  const program = fileURLToPath(new URL(`programs/${file}`, import.meta.url))
  execFile(process.execPath, [...flags, program], { timeout: 60_000 }, (error, out, err) => {
    if (error !== null) reject(new Error(`${file}: ${err || error.message}`))
    else resolve(JSON.parse(out))
  })
})

t.test('BB-017 sessions that nobody uses go by themselves', async t => {
  const { url, app } = await build(t, { options: { sessions: { idle: 3000 } } })
  const clients = await Promise.all(Array.from({ length: 10 }, () => legacy(url, '2025-11-25', { t })))
  const streams = await Promise.all(clients.map(client => client.get()))
  for (let i = 0; i < 30; i++) await app.inject({ method: 'POST', url: '/mcp', payload: initializeBody() })
  t.equal(app.mcp.stats().sessions, 40)
  t.ok(await until(() => app.mcp.stats().sessions === 10, PATIENCE), 'those without a stream go')
  await sleep(300)
  t.equal(app.mcp.stats().sessions, 10, 'those with one stay')
  for (const stream of streams) stream.close()
  t.ok(await until(() => JSON.stringify(app.mcp.stats()) === nothing, PATIENCE), 'until it is gone')
  rpcRefusal(t, await (clients[0] as HttpPeer).post(pingBody()), 404)
})

t.test('BB-017 a session that is used stays', async t => {
  const { url, app, slow } = await build(t, { options: { sessions: { idle: 1500 } } })
  const client = await legacy(url, '2025-11-25', { t })
  const busy = await legacy(url, '2025-11-25', { t })
  const call = busy.call('slow', { ms: 2500 })
  for (let i = 0; i < 25; i++) {
    await sleep(100)
    const { answer } = await client.request('ping')
    if (answer?.status !== 200) t.fail(`HTTP ${answer?.status} after ${i} pings`)
  }
  t.match((await call).result, { content: [{ text: 'done' }] }, 'and so does one with a call under way')
  t.strictSame(slow, [{ ms: 2500, outcome: 'finished' }])
  t.ok(await until(() => app.mcp.stats().sessions === 0, PATIENCE))
})

t.test('BB-017 over the limit a client is told to come back', async t => {
  const { url, app } = await build(t, { options: { sessions: { max: 50 } } })
  const clients = []
  for (let i = 0; i < 50; i++) clients.push(await legacy(url, '2025-11-25', { t }))
  const late = await legacy(url, '2025-11-25', { t, handshake: false })
  for (let i = 0; i < 10; i++) {
    const answer = await late.post(initializeBody(i))
    rpcRefusal(t, answer, [503, 429], undefined, `the ${51 + i}.`)
    t.match(answer.headers['retry-after'], /^\d+$/)
    t.equal(answer.headers['mcp-session-id'], undefined)
  }
  await t.rejects(httpSse(url, { t }), /HTTP 503/, 'HTTP+SSE counts among them')
  t.equal(app.mcp.stats().sessions, 50)
  for (const client of clients) t.match((await client.request('ping')).result, {})
  await clients[0]?.delete()
  t.equal((await late.post(initializeBody())).status, 200, 'there is room again')
})

t.test('BB-017 what is refused makes no session', async t => {
  const { url, app } = await build(t)
  const client = await legacy(url, '2025-11-25', { t, handshake: false })
  const bodies = [initializeBody(null), initializeBody(1, 7), [initializeBody(1, '2025-03-26')], initializeBody(1, '2025-11-25', { capabilities: 'x' })]
  for (const body of bodies) await client.post(body)
  for (let i = 0; i < 20; i++) await client.post(pingBody(), { 'Mcp-Session-Id': `${i}` })
  await client.post(initializeBody(), { Accept: 'text/html' })
  t.equal(app.mcp.stats().sessions, 0)
})

t.test('BB-017 memory comes back after 2,000 abandoned sessions', async t => {
  const { sessions, before, after } = await run('abandon-sessions.js', '--expose-gc')
  t.equal(sessions, 0)
  t.ok(after < before * 1.1, `the heap is at most a tenth larger: ${before} → ${after} bytes`)
})

t.test('BB-017 idle sessions do not keep the process alive', async t => {
  t.strictSame(await run('idle-process.js'), { sessions: 3 })
})
