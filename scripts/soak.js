// npm run soak [minutes]: mixed load with clients that leave in the middle, and then: what is left of it?
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { load } from '../test/soak/clients.js'

const WIDTH = 40
const WARM_UP = 60_000
const GROWTH = 1.05
const PATIENCE = 20_000

const minutes = Number(process.argv[2] ?? 10)
if (!(minutes > 0)) {
  console.error('npm run soak [minutes]: how long, a number above 0')
  process.exit(2)
}

const child = fork(fileURLToPath(new URL('../test/soak/server.js', import.meta.url)), { execArgv: ['--expose-gc'] })
child.on('exit', code => { if (code !== 0) throw new Error(`the server ended by itself (${code})`) })
const [url] = await once(child, 'message')

async function measure () {
  child.send('measure')
  return (await once(child, 'message'))[0]
}

/** What is there when nobody is: it is waited for until nothing is open. */
async function quiet () {
  const until = Date.now() + PATIENCE
  let left = await measure()
  while (Date.now() < until && left.sessions + left.streams + left.calls + left.sockets > 0) {
    await sleep(500)
    left = await measure()
  }
  return left
}

async function under (ms) {
  const counts = await load(url, WIDTH, AbortSignal.timeout(ms))
  return { counts, left: await quiet() }
}

const { left: before } = await under(WARM_UP)
const { counts, left: after } = await under(minutes * 60_000)
child.send('end')
await once(child, 'exit')

console.table(counts)
console.table({ before, after })
const checks = {
  'no call is left without its answer': Object.values(counts).every(({ lost }) => lost === 0),
  'every kind of client came': Object.values(counts).every(({ done }) => done > 0),
  'no session, stream, call or socket is left': after.sessions + after.streams + after.calls + after.sockets === 0,
  'no more timers than before': after.timers <= before.timers,
  'no more listeners than before': after.listeners <= before.listeners,
  [`the heap is at most ${Math.round((GROWTH - 1) * 100)} % larger`]: after.heap <= before.heap * GROWTH
}
for (const [what, holds] of Object.entries(checks)) console.log(`${holds ? 'ok' : 'not ok'} - ${what}`)
const failed = Object.values(checks).filter(holds => !holds).length
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
