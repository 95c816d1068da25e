import t from 'tap'
import { dispatch } from '../../lib/dispatch.js'
import { subscriptions } from '../../lib/features/subscriptions.js'
import type { Change } from '../../lib/changes.js'
import { CallCancelled } from '../../lib/errors.js'
import { Subscriptions } from '../../lib/subscriptions.js'
import { endpointOf, exchangeOf, FakeChannel, servedOf } from '../support/doubles.js'

const everything: Change['kind'][] = ['tools', 'prompts', 'resources', 'resource']

/** An endpoint that offers changes of some kinds, to as many as `max`. */
function endpoint ({ offered = everything, max = 10 } = {}) {
  const listeners = new Subscriptions()
  const { methods } = subscriptions(listeners, max, kind => offered.includes(kind))
  const served = servedOf('2026-07-28', methods)
  const double = endpointOf()
  const listen = (notifications: unknown, { id = 'sub' as string | number, channel = new FakeChannel(), more = {} } = {}) => {
    const made = exchangeOf(double.endpoint, 'subscriptions/listen', { id, channel, served, params: { notifications, ...more } })
    made.exchange.raw = 'the text'
    dispatch(made.exchange)
    return made
  }
  return { listeners, listen, calls: double.calls }
}

const meta = (id: string | number) => ({ 'io.modelcontextprotocol/subscriptionId': id })
const acknowledged = (notifications: object, id: string | number = 'sub') => ({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta: meta(id), notifications } })

t.test('the first message names the subscription and what it will bring', async t => {
  const rows: [Change['kind'][], unknown, object][] = [
    [everything, {}, {}],
    [everything, { toolsListChanged: true, promptsListChanged: false }, { toolsListChanged: true }],
    [everything, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }, { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }],
    [everything, { resourceSubscriptions: ['mem://a', 'mem://b', 'mem://a'] }, { resourceSubscriptions: ['mem://a', 'mem://b'] }],
    [['tools'], { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['mem://a'], later: true }, { toolsListChanged: true }]
  ]
  for (const [offered, wanted, granted] of rows) {
    const { channel } = endpoint({ offered }).listen(wanted)
    t.strictSame(channel.messages, [acknowledged(granted)], JSON.stringify(wanted))
    t.strictSame(channel.ended, [], 'the answer is still to come')
  }
})

t.test('only what was granted is brought, each time with the id of the subscription', async t => {
  const { listeners, listen } = endpoint({ offered: ['tools', 'resource'] })
  const { channel } = listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['mem://a'] }, { id: 7 })
  for (const change of [{ kind: 'tools' }, { kind: 'prompts' }, { kind: 'resources' }, { kind: 'resource', uri: 'mem://b' }, { kind: 'resource', uri: 'mem://a' }] satisfies Change[]) listeners.publish(change)
  t.strictSame(channel.messages.slice(1), [
    { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: meta(7) } },
    { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { _meta: meta(7), uri: 'mem://a' } }
  ])
})

t.test('several subscriptions stand side by side', async t => {
  const { listeners, listen } = endpoint()
  const [one, two] = [listen({ toolsListChanged: true }, { id: 1 }), listen({ promptsListChanged: true }, { id: 2 })]
  listeners.publish({ kind: 'prompts' })
  t.strictSame(one.channel.messages, [acknowledged({ toolsListChanged: true }, 1)])
  t.match(two.channel.messages[1], { method: 'notifications/prompts/list_changed', params: { _meta: meta(2) } })
})

t.test('a wish that is malformed is refused', async t => {
  for (const wanted of [undefined, null, [], 'x', { toolsListChanged: 'yes' }, { resourceSubscriptions: 'mem://a' }, { resourceSubscriptions: [5] }]) {
    const { listeners, listen } = endpoint()
    t.match(listen(wanted).channel.answer.error, { code: -32602 }, JSON.stringify(wanted))
    t.equal(listeners.size, 0)
  }
})

t.test('a stream subscribes to no more than it may, as a session does', async t => {
  const long = (length: number, i: number) => `mem://${i}/`.padEnd(length, 'x')
  const most = Array.from({ length: 8 }, (_, i) => long(8_192, i))
  const { listeners, listen } = endpoint()
  t.match(listen({ resourceSubscriptions: [...most, ...most] }, { id: 'most' }).channel.messages[0], { method: 'notifications/subscriptions/acknowledged' }, 'each counts once')
  t.match(listen({ resourceSubscriptions: [...most, 'x'] }).channel.answer.error, { code: -32602, message: /65536 characters together, these have 65537/ })
  t.equal(listeners.size, 1)
  t.match(endpoint({ offered: ['tools'] }).listen({ resourceSubscriptions: [...most, 'x'] }).channel.messages[0], acknowledged({}), 'what is not granted is not kept')
})

t.test('nothing of the request is kept but who made it', async t => {
  const { listeners, listen } = endpoint()
  const about = { 'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' }, 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': { roots: {} } }
  const { exchange, channel } = listen({ toolsListChanged: true }, { more: { other: 'x', _meta: { ...about, 'com.example/more': 'x'.repeat(20_000) } } })
  t.strictSame(exchange.message.params, { _meta: about })
  t.match([exchange.raw, exchange.client, exchange.capabilities], [undefined, { name: 'c' }, { roots: {} }])
  listeners.publish({ kind: 'tools' })
  t.equal(channel.messages.length, 2)
  t.match(listen({}, { more: { _meta: { ...about, 'io.modelcontextprotocol/clientInfo': { name: 'c'.repeat(16_384) } } } }).channel.answer.error, { code: -32602, message: /16384/ })
  t.match(listen({}, { id: 'x'.repeat(16_384) }).channel.answer.error, { code: -32602, message: /id/ })
  t.equal(listeners.size, 1)
})

t.test('a client that takes no stream is told so', async t => {
  const { listeners, listen } = endpoint()
  const { channel } = listen({}, { channel: Object.assign(new FakeChannel(), { streams: false }) })
  t.match([channel.answer.error.code, channel.status, listeners.size], [-32600, 406, 0])
})

t.test('there are no more streams than there may be', async t => {
  const { listen } = endpoint({ max: 1 })
  listen({})
  const { channel } = listen({})
  t.match([channel.answer.error.message, channel.status], [/too many streams/, 503])
})

t.test('a subscription is no call: it is neither timed nor waited for', async t => {
  const { listen, calls } = endpoint()
  listen({})
  t.equal(calls.size, 0)
})

t.test('who cancels or leaves hears nothing more', async t => {
  const ends: [string, (made: ReturnType<ReturnType<typeof endpoint>['listen']>) => void][] = [
    ['cancels', ({ exchange }) => exchange.cancel(new CallCancelled('x'))],
    ['leaves', ({ channel }) => channel.leave()]
  ]
  for (const [what, end] of ends) {
    const { listeners, listen } = endpoint()
    const made = listen({ toolsListChanged: true })
    end(made)
    t.equal(listeners.size, 0, what)
    listeners.publish({ kind: 'tools' })
    t.strictSame([made.channel.sent.length, made.channel.ended], [1, []], what)
  }
})

t.test('a server that ends a subscription answers it, then cancels it, then closes', async t => {
  const { listeners, listen } = endpoint()
  const { channel } = listen({ toolsListChanged: true }, { id: 'a' })
  listeners.end()
  t.match(channel.messages.slice(1), [
    { id: 'a', result: { resultType: 'complete', _meta: meta('a') } },
    { method: 'notifications/cancelled', params: { _meta: meta('a'), requestId: 'a', reason: /server/ } }
  ])
  t.equal(channel.messages.length, 3)
  t.strictSame([channel.ended, channel.closed], [[], 1])
})

t.test('a subscription that the client has cancelled is not ended again', async t => {
  const { listeners, listen } = endpoint()
  const { exchange, channel } = listen({})
  exchange.cancel(new CallCancelled('x'))
  listeners.end()
  t.strictSame([channel.sent.length, channel.closed], [1, 1])
})
