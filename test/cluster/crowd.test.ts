// Many clients of one session at once, in several processes.
import t from 'tap'
import { apps, methods, onEach, Roamer } from './cluster.js'
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
