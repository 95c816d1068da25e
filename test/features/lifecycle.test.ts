import t from 'tap'
import { dispatch, notify } from '../../lib/dispatch.js'
import { lifecycle } from '../../lib/features/lifecycle.js'
import type { Revision } from '../../types/index.js'
import { endpointOf, exchangeOf, FakeChannel, servedOf } from '../support/doubles.js'

const asked: boolean[] = []
const feature = lifecycle({
  serverInfo: { name: 'unit', version: '1' },
  instructions: 'how',
  capabilities (hears) {
    asked.push(hears)
    return { tools: {} }
  }
})

function send (method: string, params: Record<string, unknown>, { version = '2025-11-25' as Revision, channel = new FakeChannel() } = {}) {
  const served = servedOf(version, feature.methods, feature.notifications)
  dispatch(exchangeOf(endpointOf().endpoint, method, { params, served, channel }).exchange)
  return { channel, served }
}

const client = { name: 'c', version: '1', title: 'C' }

t.test('initialize opens a session with what the client says of itself, and introduces the server', async t => {
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const) {
    const { channel, served } = send('initialize', { protocolVersion: 'any', capabilities: { roots: {} }, clientInfo: client }, { version })
    t.strictSame(channel.opened, [[served, client, { roots: {} }]])
    t.strictSame(channel.answer.result, { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'unit', version: '1' }, instructions: 'how' }, version)
  }
})

t.test('what is announced depends on whether the client can hear of changes', async t => {
  for (const hears of [true, false]) send('initialize', { protocolVersion: 'any' }, { channel: Object.assign(new FakeChannel(), { hears }) })
  t.strictSame(asked.slice(-2), [true, false])
})

t.test('a client may say less of itself than it must', async t => {
  t.strictSame(send('initialize', { protocolVersion: 'any' }).channel.opened.map(([, ...said]) => said), [[undefined, {}]])
})

t.test('what a client says wrongly is refused, and no session is opened', async t => {
  const rows: [string, Record<string, unknown>][] = [
    ['no version', {}],
    ['a version that is no string', { protocolVersion: 5 }],
    ['capabilities that are no object', { protocolVersion: 'x', capabilities: [] }],
    ['a client without a name', { protocolVersion: 'x', clientInfo: { version: '1' } }],
    ['an introduction without end', { protocolVersion: 'x', clientInfo: { ...client, title: 'x'.repeat(20_000) } }],
    ['capabilities without end', { protocolVersion: 'x', capabilities: { experimental: { a: 'x'.repeat(20_000) } } }]
  ]
  for (const [what, params] of rows) {
    const { channel } = send('initialize', params)
    t.match(channel.answer.error, { code: -32602 }, what)
    t.strictSame(channel.opened, [], what)
  }
})

t.test('where there is no room for a session the client is told so', async t => {
  const channel = Object.assign(new FakeChannel(), { open () { throw new Error('full') } })
  send('initialize', { protocolVersion: 'x' }, { channel })
  t.match(channel.answer.error, { code: -32603 })
})

t.test('ping is answered with nothing', async t => t.strictSame(send('ping', {}).channel.answer.result, {}))

t.test('initialized is taken without a word', async t => {
  const served = servedOf('2025-11-25', [], feature.notifications)
  t.doesNotThrow(() => notify(served, { jsonrpc: '2.0', method: 'notifications/initialized' }, []))
})
