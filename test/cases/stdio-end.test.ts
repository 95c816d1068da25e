// Section 12: a server over stdio is gone when its client is, and not before it has answered.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { ended } from '../clients/child.js'
import { until } from '../support/audit.js'
import { sleep } from '../support/stdio.js'
import { has, servers, start } from './child.js'
import { callBody, initializeBody, PATIENCE, pingBody } from './host.js'

/** The same with every server, side by side: most of the time goes into starting them. */
const each = (title: string, check: (t: Test, name: string) => Promise<void>) =>
  t.test(`BB-076 ${title}`, async t => { await Promise.all(Object.keys(servers).map(name => check(t, name))) })

each('without input it ends', async (t, name) => {
  const child = start(t, name, 'ignore')
  t.equal(await child.closed, 0, name)
  t.equal(child.out(), '', name)
})

each('what was asked before the end is answered', async (t, name) => {
  const child = start(t, name)
  child.write(initializeBody(1))
  child.write(callBody('slow', { ms: 300 }, 2))
  child.write(JSON.stringify(pingBody(3))) // without an end of line
  child.process.stdin?.end()
  t.ok(await until(() => has(child, 2), PATIENCE), `${name}: an answer`)
  const answered = Date.now()
  t.equal(await child.closed, 0, name)
  t.ok(Date.now() - answered < 5000, `${name}: and then it ends`)
  t.strictSame(child.messages().map(({ id }) => id).sort(), [1, 2, 3], name)
  t.match(child.messages().find(({ id }) => id === 2), { result: { content: [{ text: 'done' }] } }, name)
})

each('SIGTERM ends it although a call is in flight', async (t, name) => {
  const child = start(t, name)
  child.write(initializeBody(1))
  child.write(callBody('slow', { ms: 60_000 }, 2))
  t.ok(await until(() => has(child, 1), PATIENCE), `${name} has begun`)
  await sleep(50)
  child.process.kill('SIGTERM')
  t.equal(await child.closed, 0, name)
})

each('it does not outlive whoever started it', async (t, name) => {
  const { args, env } = servers[name] as { args: string[], env?: Record<string, string> }
  // The parent holds the pipes and is killed, so nobody is left to end them in good order.
  const script = `
    const { spawn } = require('node:child_process')
    const child = spawn(process.execPath, ${JSON.stringify(args)}, { env: { ...process.env, ...${JSON.stringify(env ?? {})} }, stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdin.write(${JSON.stringify(JSON.stringify(initializeBody(1)) + '\n')})
    child.stdout.once('data', () => console.log(child.pid))`
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => { parent.kill('SIGKILL') })
  const [chunk] = await once(parent.stdout, 'data') as [Buffer]
  const pid = Number(chunk)
  t.ok(pid > 0, `${name} has begun`)
  parent.kill('SIGKILL')
  t.ok(await ended(pid), `${name} is gone`)
})

each('where nobody reads any more it ends as well', async (t, name) => {
  const child = start(t, name)
  child.write(initializeBody(1))
  t.ok(await until(() => has(child, 1), PATIENCE), `${name} has begun`)
  child.process.stdout?.destroy()
  for (let i = 0; i < 20 && child.process.exitCode === null; i++) {
    child.write(pingBody(i + 2))
    await sleep(20)
  }
  t.equal(await Promise.race([child.closed, sleep(PATIENCE)]), 0, name)
})
