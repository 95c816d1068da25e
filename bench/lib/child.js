import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

// Servers run on one CPU and the load on another where the system can say so: two servers that share a CPU see the same machine.

const SERVERS = 0
const LOAD = 1
const server = fileURLToPath(new URL('server.js', import.meta.url))
const canPin = process.platform === 'linux' && availableParallelism() > 1 && spawnSync('taskset', ['-c', `${SERVERS},${LOAD}`, 'true']).status === 0

const pinned = (cpu, command) => canPin ? ['taskset', '-c', String(cpu), ...command] : command

export function spawnLoad (command, options) {
  const [file, ...args] = pinned(LOAD, command)
  return spawn(file, args, options)
}

/** This process too makes load, where nothing better is at hand. */
export function pinSelf () {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', String(LOAD), String(process.pid)])
}

export async function startServer (kind, workload, level) {
  const [file, ...args] = pinned(SERVERS, [process.execPath, '--expose-gc', server, kind, workload, level])
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env: { ...process.env, NODE_ENV: 'production' } })
  const exited = once(child, 'exit').then(([code, signal]) => { throw new Error(`the ${kind} server of ${workload} ended (${signal ?? `exit status ${code}`})`) })
  exited.catch(() => {}) // whoever waits for an answer will hear of it
  const heard = () => Promise.race([once(child, 'message'), exited])
  const [{ port, headers = {} }] = await heard()
  const ask = async question => {
    child.send(question)
    const [answer] = await heard()
    return answer[question]
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    headers,
    cpu: () => ask('cpu'),
    age: () => ask('age'),
    async stop () {
      if (child.connected) child.disconnect()
      await exited.catch(() => {})
    }
  }
}
