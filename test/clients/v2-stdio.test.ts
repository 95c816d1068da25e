// @modelcontextprotocol/client 2.x, which starts a server and speaks to it over stdio.
import type { ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { childSubject, ended, fixture, weather, type Command } from './child.js'
import { v2 } from './driver.js'
import { scenariosInTurn, textOf } from './scenarios.js'

const make = (command: Command, negotiation: ClientOptions['versionNegotiation']) => {
  const transport = new StdioClientTransport(command)
  return { driver: v2(() => transport, negotiation), transport }
}

const modes: Array<[string, string, ClientOptions['versionNegotiation']]> = [
  ['legacy', '2025-11-25', { mode: 'legacy' }],
  ['auto', '2026-07-28', { mode: 'auto' }],
  ['pinned', '2026-07-28', { mode: { pin: '2026-07-28' } }]
]

for (const [title, revision, negotiation] of modes) {
  t.test(title, async t => {
    const { driver, transport } = make(fixture(), negotiation)
    await scenariosInTurn(t, await childSubject(driver, revision, transport))
  })
}

t.test('left to find out, it settles on what the server speaks', async t => {
  const { driver } = make(fixture({ REVISIONS: '2025-06-18' }), { mode: 'auto' })
  await driver.connect()
  t.equal(driver.known().revision, '2025-06-18')
  t.equal(textOf(await driver.call('noargs')), 'ok')
  await driver.close()
})

t.test('the example, by way of the binary', async t => {
  const { driver, transport } = make(weather(), { mode: { pin: '2026-07-28' } })
  await driver.connect()
  const started = transport.pid as number
  t.match(driver.known(), { name: 'weather', revision: '2026-07-28' })
  t.strictSame((await driver.call('sum', { numbers: [1, 2, 3] })).structuredContent, { sum: 6 })
  t.match(await driver.call('get_weather', { city: 'Berln' }), { isError: true, content: [{ text: /Berlin/ }] })
  const before = Date.now()
  await driver.close()
  t.ok(Date.now() - before < 1500, 'the end of its input is enough')
  t.ok(await ended(started), 'and nothing is left behind')
})
