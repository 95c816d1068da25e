// A real Redis for one test file, on a free port, with nothing on disk.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import { until } from './time.js'

const BINARY = ['redis-server', 'valkey-server'].find(name => spawnSync(name, ['--version']).status === 0)

/** Why tests with Redis do not run; false where they do. On CI they have to. */
export function withoutRedis (): string | false {
  if (BINARY !== undefined) return false
  const why = 'NO redis-server HERE: NOTHING THAT NEEDS REDIS IS TESTED'
  if (process.env.CI === 'true') throw new Error(why)
  console.error(`\n!!! ${why}\n`)
  return why
}

export class RedisServer {
  readonly port: number
  private child: ChildProcess | undefined

  constructor (port: number) { this.port = port }

  get url (): string { return `redis://127.0.0.1:${this.port}` }

  async start (...more: string[]): Promise<void> {
    const child = spawn(BINARY as string, ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--loglevel', 'warning', ...more], { stdio: 'ignore' })
    this.child = child
    const probe = new Redis(this.port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: null })
    probe.on('error', () => {})
    await probe.ping()
    probe.disconnect()
  }

  /** SIGSTOP: connections stay open, and nothing is answered. */
  pause (): void { this.child?.kill('SIGSTOP') }
  goOn (): void { this.child?.kill('SIGCONT') }

  async kill (): Promise<void> {
    const { child } = this
    this.child = undefined
    if (child === undefined || child.exitCode !== null) return
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

export async function startRedis (t: Test): Promise<RedisServer> {
  const server = new RedisServer(await freePort())
  t.teardown(() => server.kill())
  await server.start()
  return server
}

/** A client that the test closes. */
export function clientOf (t: Test, server: { port: number }): Redis {
  const client = new Redis(server.port, '127.0.0.1', { retryStrategy: times => Math.min(times * 20, 200) })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await until(() => !server.listening)
  return port
}
