// Many clients of one session at once, in several processes.
import t from 'tap'
import { apps, methods, onEach, Roamer } from './cluster.js'
import { steps } from './steps.js'
import { defineTool } from '../support/app.js'
import { until, wait } from '../support/time.js'

const late = defineTool({ name: 'late', handler: () => '' })

onEach(t, 'streams that are opened at once, in several processes, all open, and a few stay', async (t, sharing) => {
  const servers = await apps(t, sharing, 3) as any[]
  const client = new Roamer(t)
  await client.open(servers[0])
  const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => client.listen(servers[i % 3]).answer))
  t.strictSame(answers.map(one => one.status).filter(status => status !== 200), [])
  t.ok(await until(() => servers.every(one => one.app.mcp.stats().streams === 8)), 'each process keeps as many as a session may have')
  servers[0].app.mcp.tools.add(late)
  const told = () => answers.filter(one => methods(one).includes('notifications/tools/list_changed')).length
  t.ok(await until(() => told() > 0), 'a change is told')
  await wait(100)
  t.equal(told(), 1, 'once')
})

onEach(t, 'a call that two come back to, in two processes, goes on with the one that came last', async (t, sharing) => {
  const servers = await apps(t, sharing, 3, { tools: [steps] }) as [any, any, any]
  const client = new Roamer(t)
  await client.open(servers[0])
  const call = client.call(servers[0], 'steps', { n: 20, ms: 40 }, { _meta: { progressToken: 'p' } })
  const first = await call.answer
  t.ok(await until(() => first.messages.length > 1))
  const answers = [first]
  for (const server of [servers[1], servers[2], servers[1]]) {
    const before = answers.at(-1) as typeof first
    const next = await client.listen(server, first.events[0]?.id).answer
    answers.push(next)
    t.ok(await before.over(), 'the one before ends')
    t.notOk(before.messages.some(one => one.id === call.id))
  }
  const last = answers.at(-1) as typeof first
  t.ok(await last.over())
  t.strictSame(last.messages.map(one => one.params?.progress ?? one.id), [...Array.from({ length: 20 }, (_, i) => i + 1), call.id])
})
