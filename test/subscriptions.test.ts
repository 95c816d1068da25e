import t from 'tap'
import type { Change } from '../lib/changes.js'
import { Subscriptions } from '../lib/subscriptions.js'
import type { Subscription } from '../lib/subscriptions.js'
import { until, wait } from './support/time.js'

class Listener implements Subscription {
  readonly heard: [Change, string][] = []
  ended = 0
  private readonly kind: string
  private readonly after: () => void

  constructor (kind: string, after = () => {}) {
    this.kind = kind
    this.after = after
  }

  wants (change: Change) { return change.kind === this.kind }
  deliver (change: Change, plain: string) { this.heard.push([change, plain]) }
  end () {
    this.ended++
    this.after()
  }
}

t.test('a change goes to those who want it, with its plain message', async t => {
  const subscriptions = new Subscriptions()
  const [tools, prompts] = [new Listener('tools'), new Listener('prompts')]
  subscriptions.add(tools)
  subscriptions.add(prompts)
  subscriptions.publish({ kind: 'tools' })
  t.strictSame(tools.heard, [[{ kind: 'tools' }, '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}']])
  t.strictSame(prompts.heard, [])
})

t.test('where it is not known what changed, each is told of all that it wants, its resources one by one', async t => {
  const subscriptions = new Subscriptions()
  const [tools, resource] = [new Listener('tools'), Object.assign(new Listener('resource'), { uris: ['mem://a', 'mem://b'] })]
  subscriptions.add(tools)
  subscriptions.add(resource)
  subscriptions.missed()
  t.strictSame(tools.heard.map(([change]) => change), [{ kind: 'tools' }])
  t.strictSame(resource.heard.map(([change]) => change), [{ kind: 'resource', uri: 'mem://a' }, { kind: 'resource', uri: 'mem://b' }])
  t.match(resource.heard[1]?.[1], /resources\/updated.*mem:\/\/b/)
})

t.test('a stream that nobody is connected to is there, but does not count', async t => {
  const subscriptions = new Subscriptions()
  const away = Object.assign(new Listener('tools'), { connected: true })
  subscriptions.add(away)
  t.equal(subscriptions.size, 1)
  away.connected = false
  t.equal(subscriptions.size, 0)
  subscriptions.publish({ kind: 'tools' })
  t.equal(away.heard.length, 1, 'it keeps what comes until its client is back')
})

t.test('who is taken out hears nothing more', async t => {
  const subscriptions = new Subscriptions()
  const listener = new Listener('tools')
  subscriptions.add(listener)
  subscriptions.add(listener)
  t.equal(subscriptions.size, 1, 'who is added twice is there once')
  subscriptions.delete(listener)
  t.equal(subscriptions.size, 0)
  subscriptions.publish({ kind: 'tools' })
  t.strictSame(listener.heard, [])
})

t.test('ending tells each once and leaves none, even if they take themselves out', async t => {
  const subscriptions = new Subscriptions()
  const second = new Listener('tools')
  const first = new Listener('tools', () => subscriptions.delete(first))
  subscriptions.add(first)
  subscriptions.add(second)
  subscriptions.end()
  subscriptions.end()
  t.equal(subscriptions.size, 0)
  t.strictSame([first.ended, second.ended], [1, 1])
})

t.test('a stream ends with the token that it was opened with, unless a new one came', async t => {
  const subscriptions = new Subscriptions()
  const [short, renewed, long, open] = Array.from({ length: 4 }, () => new Listener('tools')) as [Listener, Listener, Listener, Listener]
  let lapsed = 0
  const back = Object.assign(new Listener('tools'), { lapse: () => { lapsed++ } })
  const now = Date.now()
  for (const one of [short, renewed, back]) subscriptions.add(one, now + 20)
  subscriptions.add(long, now + 60_000)
  subscriptions.add(open)
  subscriptions.add(renewed, now + 60_000)
  await wait(1_300)
  t.strictSame([short.ended, renewed.ended, long.ended, open.ended], [1, 0, 0, 0])
  t.strictSame([lapsed, back.ended], [1, 0], 'one that can be come back to lets its connection go')
  for (const one of [renewed, long]) subscriptions.delete(one)
  t.ok(await until(() => (subscriptions as unknown as { timer: unknown }).timer === undefined), 'and no timer is left')
})
