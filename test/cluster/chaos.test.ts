// Three processes behind a proxy that knows no client, one of them killed every second; and a Redis that goes away, under load.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startRedis, withoutRedis } from '../support/redis.js'
import { sleep } from '../support/stdio.js'
import { until } from '../support/time.js'
import { Survivor, type Fate } from './survivor.js'

const { roundRobin } = await import(new URL('../../examples/cluster/proxy.js', import.meta.url).href) as { roundRobin: (targets: string[]) => Server }
const fixture = fileURLToPath(new URL('../fixture/server.js', import.meta.url))
const skip = withoutRedis()
const real = skip === false ? {} : { skip }

const PROCESSES = 3
const CLIENTS = 50
const STEPS = 5
/** One in five cannot come back for anything: its revision has no streams that are resumed. */
const REVISIONS = ['2025-11-25', '2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']

class Processes {
  readonly targets: string[] = []
  private readonly running: (ChildProcess | undefined)[] = []
  private readonly env: Record<string, string>
  private readonly t: Test
  killed = 0

  constructor (t: Test, redis: string) {
    this.t = t
    this.env = { REDIS_URL: redis, ALLOWED_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent' }
  }

  async start (i: number): Promise<void> {
    const child = spawn(process.execPath, [fixture], { env: { ...process.env, ...this.env }, stdio: ['ignore', 'pipe', 'ignore'] })
    this.t.teardown(() => { child.kill('SIGKILL') })
    let out = ''
    child.stdout.on('data', chunk => { out += chunk })
    if (!await until(() => out.includes('\n'), 30_000)) throw new Error('no server')
    this.targets[i] = new URL(JSON.parse(out).url).host
    this.running[i] = child
  }

  /** Kills one, if the others are there to go on, and starts another in its place. */
  async replace (i: number): Promise<void> {
    const child = this.running[i]
    if (child === undefined || this.running.filter(one => one !== undefined).length < PROCESSES - 1) return
    this.running[i] = undefined
    child.kill('SIGKILL')
    this.killed++
    await this.start(i)
  }
}

async function cluster (t: Test) {
  const redis = await startRedis(t)
  const processes = new Processes(t, redis.url)
  await Promise.all(Array.from({ length: PROCESSES }, (_, i) => processes.start(i)))
  const proxy = roundRobin(processes.targets).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => { proxy.closeAllConnections(); proxy.close() })
  return { redis, processes, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp` }
}

/** Each client makes its calls one after the other, as long as there are more; what became of all of them. */
async function load (t: Test, url: string, more: (n: number) => boolean) {
  const counts = { calls: 0, answered: 0, error: 0, cut: 0, silent: 0, resumed: 0, forgotten: 0, wrong: 0, steps: 0 }
  const wrong = (what: string) => { counts.wrong++; t.fail(what) }
  const judge = (name: string, what: string, wanted: string | undefined, { outcome, text, steps, resumed }: Fate) => {
    counts.calls++
    counts[outcome]++
    counts.resumed += resumed
    if (text?.startsWith('HTTP ') === true) counts.forgotten++
    counts.steps += steps.length
    if (steps.some((step, i) => step !== i + 1)) wrong(`${name} ${what}: steps ${steps.join()}`)
    if (outcome === 'answered' && text !== wanted) wrong(`${name} ${what}: ${text} for ${wanted}`)
    if (outcome === 'answered' && what === 'progress' && steps.length !== STEPS) wrong(`${name}: ${steps.length} steps of ${STEPS}`)
  }
  await Promise.all(Array.from({ length: CLIENTS }, async (_, i) => {
    const name = `c${i}`
    const client = new Survivor(url, REVISIONS[i % REVISIONS.length] as string, name)
    await client.open()
    for (let n = 0; more(n); n++) {
      const { answered } = counts
      const nonce = `${name}-${n}-${Math.random()}`
      if (n % 4 === 1 && client.revision !== '2025-03-26') judge(name, 'ask_name', `Hello, ${nonce}!`, await client.call('ask_name', {}, nonce))
      else if (n % 4 === 3) judge(name, 'progress', 'done', await client.call('progress', { n: STEPS, delayMs: 30 }, nonce))
      else judge(name, 'echo', nonce, await client.call('echo', { text: nonce }, nonce))
      if (counts.answered === answered) await sleep(50)
    }
  }))
  return counts
}

t.test('50 clients and 2,000 calls while a process is killed every second', { ...real, timeout: 280_000 }, async t => {
  const { processes, url } = await cluster(t)
  let next = 0
  const replaced: Promise<void>[] = []
  const killing = setInterval(() => { replaced.push(processes.replace(next++ % PROCESSES)) }, 1_000)
  const counts = await load(t, url, n => n < 40)
  clearInterval(killing)
  await Promise.all(replaced)
  t.comment(JSON.stringify({ ...counts, killed: processes.killed }))
  t.match(counts, { calls: 2_000, silent: 0, forgotten: 0, wrong: 0 })
  t.ok(processes.killed > 3, `${processes.killed} were killed`)
  t.ok(counts.answered > 1_200, 'most are answered')
})

t.test('Redis is stopped, paused and restarted under load', { ...real, timeout: 280_000 }, async t => {
  const { redis, url } = await cluster(t)
  const trouble = async (begin: () => unknown, end: () => unknown): Promise<number> => {
    await sleep(1_500)
    await begin()
    await sleep(1_500)
    const from = Date.now()
    await end()
    const client = new Survivor(url, '2025-11-25', 'probe')
    await client.open()
    return Date.now() - from
  }
  let over = false
  const running = load(t, url, n => n < 12 || !over)
  const times = {
    paused: await trouble(() => redis.pause(), () => redis.goOn()),
    restarted: await trouble(() => redis.kill(), () => redis.start())
  }
  over = true
  const counts = await running
  t.comment(JSON.stringify({ ...counts, 'ms until a session opens again': times }))
  t.match(counts, { silent: 0, wrong: 0 })
  t.ok(counts.answered > 600, 'many are answered')
  t.ok(counts.error + counts.cut > 0, 'and some were refused')
})
