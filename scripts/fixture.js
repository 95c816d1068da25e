// Starts test/fixture/server.js on a free port, in an environment of its own, and ends it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const server = fileURLToPath(new URL('../test/fixture/server.js', import.meta.url))

export async function startFixture () {
  const child = spawn(process.execPath, [server], {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'fatal' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = once(child, 'exit')
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    exited.then(([code]) => { throw new Error(`The fixture did not start (exit status ${code})`) })
  ])
  // The suite speaks to no host but localhost.
  const url = JSON.parse(line).url.replace('127.0.0.1', 'localhost')

  return {
    url,
    async assertAlive () {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('The fixture ended during the run')
      await fetch(url, { method: 'POST', signal: AbortSignal.timeout(5000) })
    },
    async stop () {
      child.kill()
      await exited
    }
  }
}
