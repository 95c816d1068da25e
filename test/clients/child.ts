// Servers that a client of stdio starts by itself.
import { fileURLToPath } from 'node:url'
import type { Driver } from './driver.js'
import { PATIENCE, textOf, type Subject } from './scenarios.js'

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

/** How to start a server: what a stdio transport takes. */
export interface Command { command: string, args: string[], env: Record<string, string>, stderr: 'ignore' }

const commandOf = (args: string[], env: Record<string, string> = {}): Command => ({
  command: process.execPath,
  args,
  env: { PATH: process.env.PATH ?? '', ...env },
  stderr: 'ignore'
})

export const fixture = (env: Record<string, string> = {}): Command => commandOf([path('test/fixture/server.js')], { STDIO: '1', PAGE_SIZE: '7', ...env })
export const weather = (): Command => commandOf([path('dist/bin.js'), 'stdio', path('examples/weather/app.js')])

/** Whether there is such a process. */
export function alive (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export async function ended (pid: number, ms = PATIENCE): Promise<boolean> {
  for (const end = Date.now() + ms; alive(pid) && Date.now() < end;) await new Promise(resolve => setTimeout(resolve, 20))
  return !alive(pid)
}

/** What a client starts a server with, and writes to it by. */
export interface Pipe { readonly pid: number | null, send (message: any, options?: any): Promise<void> }

/** Tells whether a call of this tool has gone out. A client that is told early enough to forget a call never sends it. */
function sentBy (pipe: Pipe, tool: string): () => boolean {
  const send = pipe.send.bind(pipe)
  let sent = false
  pipe.send = async (message, options) => {
    await send(message, options)
    sent ||= message.method === 'tools/call' && message.params.name === tool
  }
  return () => sent
}

/** The fixture as a subject: what another process knows has to be asked for. */
export async function childSubject (driver: Driver, revision: string, pipe: Pipe): Promise<Subject> {
  const { tools } = await import(new URL('../fixture/tools.js', import.meta.url).href)
  let started: number | null
  return {
    driver: {
      ...driver,
      async connect () {
        await driver.connect()
        started = pipe.pid
      }
    },
    revision,
    tools: tools.filter((tool: { visible?: unknown }) => tool.visible === undefined).map((tool: { name: string }) => tool.name),
    name: 'fixture',
    instructions: 'A server for checks. Every tool says what it does.',
    // Messages are read in the order in which they were written.
    hearing: () => true,
    calling: sentBy(pipe, 'slow'),
    async toggle (name, on) { await driver.call('toggle', { name, on }) },
    slow: async () => JSON.parse(textOf(await driver.call('slow_log'))).map((one: { outcome: string }) => one.outcome),
    gone: async () => typeof started === 'number' && await ended(started)
  }
}
