// A server as a child process, spoken to in lines.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Message } from '../support/wire.js'

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const noisy = path('test/cases/programs/noisy.js')

/** What the two ways of serving an app have in common: a child that takes and gives lines. */
export const servers: Record<string, { args: string[], env?: Record<string, string> }> = {
  'app.mcp.stdio()': { args: [noisy, 'serve'] },
  'fastify-mcp stdio': { args: [path('dist/bin.js'), 'stdio', noisy] },
  'the fixture': { args: [path('test/fixture/server.js')], env: { STDIO: '1' } }
}

export interface Child { process: ChildProcess, out: () => string, err: () => string, messages: () => Message[], write: (value: unknown) => void, closed: Promise<number | null> }

export function start (t: Test, name: string, stdin: 'pipe' | 'ignore' = 'pipe'): Child {
  const { args, env } = servers[name] as { args: string[], env?: Record<string, string> }
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: [stdin, 'pipe', 'pipe'] })
  t.teardown(() => { child.kill('SIGKILL') })
  const chunks: Buffer[] = []
  let err = ''
  child.stdout?.on('data', chunk => chunks.push(chunk))
  child.stderr?.on('data', chunk => { err += chunk })
  child.stdin?.on('error', () => {})
  const out = () => Buffer.concat(chunks).toString()
  return {
    process: child,
    out,
    err: () => err,
    messages: () => out().split('\n').slice(0, -1).map(line => JSON.parse(line)),
    write: value => child.stdin?.write(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value) + '\n'),
    closed: once(child, 'close').then(([code]) => code as number | null)
  }
}

/** Whether a request is answered. */
export const has = ({ messages }: Child, id: unknown) => messages().some(message => message.id === id && message.method === undefined)
