// @modelcontextprotocol/client 2.x over HTTP: which revision it settles on, and what only 2026-07-28 has.
import t from 'tap'
import { textOf } from './scenarios.js'
import { nested, serve } from './server.js'
import { client, pinned } from './v2.js'

t.test('left to find out, it settles on what the server speaks', async t => {
  const server = await serve(t, { revisions: ['2025-06-18', '2025-03-26'] })
  const { driver } = client(t, server.url, '2025-06-18', { mode: 'auto' })
  await driver.connect()
  t.equal(driver.known().revision, '2025-06-18')
  t.equal(textOf(await driver.call('noargs')), 'ok')
  await driver.close()
})

t.test('pinned, it is told clearly what it cannot have', async t => {
  const server = await serve(t, { revisions: ['2025-11-25'] })
  await t.rejects(client(t, server.url, '2026-07-28', pinned).driver.connect())
  t.equal(server.app.mcp.stats().sessions, 0)
})

t.test('a handshake where there is none is told what is spoken instead', async t => {
  const server = await serve(t, { revisions: ['2026-07-28'] })
  await t.rejects(client(t, server.url, '2025-11-25', { mode: 'legacy' }).driver.connect(), /2026-07-28/)
  const { driver } = client(t, server.url, '2026-07-28', { mode: 'auto' })
  await driver.connect()
  t.equal(driver.known().revision, '2026-07-28')
  await driver.close()
})

t.test('in a nested scope, without sessions', async t => {
  const { url } = await nested(t, '/tenant', '/a')
  const { driver } = client(t, url, '2026-07-28', pinned)
  await driver.connect()
  t.equal(textOf(await driver.call('where')), '/tenant/a')
  await driver.close()
})

t.test('arguments are mirrored in headers', async t => {
  const server = await serve(t)
  const { driver, recorder } = client(t, server.url, '2026-07-28', pinned)
  await driver.connect()
  await driver.listTools()
  for (const region of ['eu', 'größe', ' padded ', '=?base64?x?=']) {
    const args = { region, limit: 10, dry: true, query: 'q' }
    t.strictSame(JSON.parse(textOf(await driver.call('region_query', args))), args, JSON.stringify(region))
  }
  t.notMatch(recorder.requests, [{ status: 400 }])
  await driver.close()
})

t.test('when the server closes, a subscription ends well', async t => {
  const server = await serve(t)
  const { driver, recorder } = client(t, server.url, '2026-07-28', pinned)
  await driver.connect()
  await driver.listen()
  await server.app.close()
  await new Promise(resolve => setTimeout(resolve, 100))
  const methods = recorder.messages.map(message => message.method ?? 'result').slice(-2)
  t.strictSame(methods, ['result', 'notifications/cancelled'])
  await driver.close()
})
