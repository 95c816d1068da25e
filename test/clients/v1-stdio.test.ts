// @modelcontextprotocol/sdk 1.x, which starts a server and speaks to it over stdio.
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import t from 'tap'
import { childSubject, ended, fixture, weather, type Command } from './child.js'
import { v1 } from './driver.js'
import { scenariosInTurn, textOf } from './scenarios.js'

/** Long before the client would lose its patience and send a signal. */
const PROMPT = 1500

const make = (command: Command) => {
  const transport = new StdioClientTransport(command)
  return { driver: v1(() => transport), transport }
}

t.test('the fixture', async t => {
  const { driver, transport } = make(fixture())
  await scenariosInTurn(t, await childSubject(driver, '2025-11-25', transport))
})

t.test('the example, by way of the binary', async t => {
  const { driver, transport } = make(weather())
  await driver.connect()
  const started = transport.pid as number
  t.match(driver.known(), { name: 'weather', revision: '2025-11-25' })
  t.strictSame((await driver.listTools()).map(({ name }) => name), ['get_weather', 'greet', 'sum'])
  t.equal(textOf(await driver.call('greet', { name: 'Ada' })), 'Hello, Ada!')
  t.match((await driver.call('get_weather', { city: 'sao paulo' })).structuredContent, { city: 'São Paulo', celsius: Number })
  t.match(await driver.call('get_weather', { city: 'Berln' }), { isError: true, content: [{ text: /Berlin/ }] })
  const before = Date.now()
  await driver.close()
  t.ok(Date.now() - before < PROMPT, 'the end of its input is enough')
  t.ok(await ended(started), 'and nothing is left behind')
})
