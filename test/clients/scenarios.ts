// What every client does with every server, whatever the revision and the transport.
import type { Test } from 'tap'
import { until } from '../support/audit.js'
import type { CallResult, Driver, LogMessage } from './driver.js'

/** How long to wait for what takes no time on a machine with nothing else to do. */
export const PATIENCE = 20_000

export interface Subject {
  driver: Driver
  name: string
  instructions: string
  revision: string
  /** The tools of the server, in the order in which it lists them. */
  tools: string[]
  /** Whether a change can reach the client yet. */
  hearing: () => boolean
  /** Whether a call is under way. */
  calling: () => boolean
  /** Shows or hides a tool. */
  toggle: (name: string, on: boolean) => Promise<void>
  /** How the calls of `slow` ended so far. */
  slow: () => Promise<string[]>
  /** Waits until the server is rid of the client; false if it is not. */
  gone: () => Promise<boolean>
  /** How many messages of the server went through the wire check, where that is possible. */
  checked?: () => number
}

export const textOf = ({ content }: CallResult): string => (content as Array<{ text?: string }>).map(block => block.text).join('')

/** Each scenario has a server and a client of its own. */
export async function scenarios (t: Test, make: (t: Test) => Promise<Subject>) {
  for (const [title, run] of Object.entries(all)) {
    await t.test(title, async t => {
      const subject = await make(t)
      await subject.driver.connect()
      await run(t, subject)
      await leave(t, subject)
    })
  }
}

/** One after the other with the same client, where a server is costly to start. */
export async function scenariosInTurn (t: Test, subject: Subject) {
  await subject.driver.connect()
  for (const [title, run] of Object.entries(all)) await t.test(title, t => run(t, subject))
  await leave(t, subject)
}

async function leave (t: Test, { driver, gone, checked }: Subject) {
  await driver.close()
  t.ok(await gone(), 'the server is rid of the client')
  if (checked !== undefined) t.ok(checked() > 1, `${checked()} messages were checked`)
}

const all: Record<string, (t: Test, subject: Subject) => Promise<void>> = {
  async 'connects and lists every page' (t, { driver, name, revision, instructions, tools }) {
    t.match(driver.known(), { name, revision, tools: { listChanged: true }, instructions })
    t.strictSame((await driver.listTools()).map(tool => tool.name), tools, 'every tool, once, in order')
  },

  async 'calls tools' (t, { driver }) {
    t.equal(textOf(await driver.call('echo', { text: 'grüße\n世界' })), 'grüße\n世界')
    t.equal(textOf(await driver.call('noargs')), 'ok', 'without arguments')
    await driver.listTools() // from here on the client checks results against the output schema
    const added = await driver.call('add', { a: 1, b: 2 })
    t.strictSame(added.structuredContent ?? JSON.parse(textOf(added)), { sum: 3 }, 'structured content')
    t.strictSame(JSON.parse(textOf(added)), { sum: 3 }, 'and its text')
    t.equal(textOf(await driver.call('big', { bytes: 300_000 })).length, 300_000, 'a large result')
    const together = await Promise.all(Array.from({ length: 20 }, (_, i) => driver.call('echo', { text: `${i}` })))
    t.strictSame(together.map(textOf), together.map((_, i) => `${i}`), 'many at once')
  },

  async 'is told of errors' (t, { driver, revision }) {
    const failed = await driver.call('tool_error', { message: 'no such city' })
    t.match(failed, { isError: true })
    t.equal(textOf(failed), 'no such city', 'of the tool, for the model')
    const masked = await driver.call('boom')
    t.equal(masked.isError, true)
    t.notMatch(textOf(masked), /pw@|srv/, 'of the server, without details')
    await t.rejects(driver.call('nope'), { code: -32602 }, 'no such tool')
    await t.rejects(driver.call('protocol_error', { code: -31999, message: 'not now' }), { code: -31999, message: /not now/, data: { hint: 'x' } }, 'of the protocol')
    if (revision < '2025-11-25') await t.rejects(driver.call('echo', { text: 7 }), { code: -32602 }, 'arguments that do not fit')
    else t.match(textOf(await driver.call('echo', { text: 7 })), '/text', 'arguments that do not fit')
  },

  async 'follows progress' (t, { driver }) {
    const seen: number[] = []
    const result = await driver.call('progress', { n: 4, total: 4, delayMs: 20 }, { onprogress: ({ progress, total }) => seen.push(progress, total ?? 0) })
    t.equal(textOf(result), 'done')
    // These clients forget whom to tell of progress when the answer is in the same piece of input as the last notification.
    t.strictSame(seen.slice(0, 6), [1, 4, 2, 4, 3, 4])
    t.equal(textOf(await driver.call('progress', { n: 2 })), 'done', 'and may go without')
  },

  async 'hears that the list has changed' (t, { driver, tools, hearing, toggle }) {
    let heard = 0
    driver.onToolsChanged(() => { heard++ })
    await driver.listen()
    t.ok(await until(hearing, PATIENCE), 'changes can reach the client')
    await toggle('noargs', false)
    t.ok(await until(() => heard === 1, PATIENCE), 'a tool goes')
    t.strictSame((await driver.listTools()).map(tool => tool.name), tools.filter(name => name !== 'noargs'))
    await t.rejects(driver.call('noargs'), { code: -32602 })
    await toggle('noargs', true)
    t.ok(await until(() => heard === 2, PATIENCE), 'and comes back')
    t.equal(textOf(await driver.call('noargs')), 'ok')
    t.equal(heard, 2, 'once for each change')
  },

  async 'cancels a call' (t, { driver, calling, slow }) {
    const controller = new AbortController()
    const call = driver.call('slow', { ms: 20_000 }, { signal: controller.signal })
    call.catch(() => {})
    t.ok(await until(calling, PATIENCE), 'the handler runs')
    controller.abort(new Error('changed my mind'))
    await t.rejects(call)
    let outcomes: string[] = []
    for (const end = Date.now() + PATIENCE; outcomes.length === 0 && Date.now() < end;) {
      await new Promise(resolve => setTimeout(resolve, 20))
      outcomes = await slow()
    }
    t.strictSame(outcomes, ['aborted'], 'and is told')
    t.equal(textOf(await driver.call('echo', { text: 'still here' })), 'still here')
  },

  async 'hears log messages' (t, { driver }) {
    const heard: LogMessage[] = []
    await driver.hearMessages('info', message => heard.push(message))
    await driver.call('log', { level: 'warning', n: 2 })
    await driver.call('log', { level: 'debug', n: 2 })
    t.ok(await until(() => heard.length >= 2, PATIENCE))
    t.strictSame(heard.map(({ level }) => level), ['warning', 'warning'], 'of the level asked for and above')
  }
}
