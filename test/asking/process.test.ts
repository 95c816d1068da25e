// No question and no answer ends the process, or keeps it from serving others.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { wait } from '../support/time.js'
import { everything, named } from './client.js'

/** How long a machine with much to do may take for an answer. */
const PATIENCE = 10_000
const server = fileURLToPath(new URL('./server.js', import.meta.url))
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': everything }

/** A client that answers questions with the next of `answers`, the last one again and again. */
function start (t: Test, revision: '2025-11-25' | '2026-07-28', answer: (method: string, nth: number) => any) {
  const child = spawn(process.execPath, [server], { env: { PATH: process.env.PATH ?? '', STDIO: '1' }, stdio: ['pipe', 'pipe', 'ignore'] })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  child.stdin.on('error', () => {})
  const waiting = new Map<number, (message: any) => void>()
  let last = 0
  let asked = 0
  const write = (message: object) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
  createInterface(child.stdout).on('line', line => {
    const message = JSON.parse(line)
    if (message.method === undefined) waiting.get(message.id)?.(message)
    else if (message.id !== undefined) write({ id: message.id, ...answer(message.method, ++asked) })
  })
  const request = async (method: string, params: object): Promise<any> => {
    const id = ++last
    const reply = new Promise(resolve => waiting.set(id, resolve))
    write({ id, method, params })
    return await Promise.race([reply, wait(PATIENCE).then(() => 'no answer'), once(child, 'exit').then(() => 'the process has ended')])
  }
  const call = async (name: string): Promise<any> => {
    if (revision === '2025-11-25') return await request('tools/call', { name })
    let more: object = {}
    for (;;) {
      const reply = await request('tools/call', { name, ...more, _meta: meta })
      if (reply.result?.inputRequests === undefined) return reply
      const { inputRequests, requestState } = reply.result
      more = { requestState, inputResponses: Object.fromEntries(Object.keys(inputRequests).map(key => [key, answer(inputRequests[key].method, ++asked).result])) }
    }
  }
  const begin = async () => {
    if (revision === '2026-07-28') return
    await request('initialize', { protocolVersion: revision, capabilities: everything, clientInfo: { name: 'x', version: '1' } })
    write({ method: 'notifications/initialized' })
  }
  return { call, begin, alive: async () => (await call('alive')).result?.content?.[0]?.text }
}

const numbers = (_: string, nth: number) => ({ result: named(nth < 4 ? 'x' : '42') })

for (const revision of ['2025-11-25', '2026-07-28'] as const) {
  for (const tool of ['by_elicit', 'by_input', 'catching']) {
    t.test(`a loop that asks until the answer is valid: ${tool} in ${revision}`, async t => {
      const { begin, call, alive } = start(t, revision, numbers)
      await begin()
      t.match(await call(tool), { result: { content: [{ text: '42' }] } })
      t.equal(await alive(), 'alive')
    })
  }

  t.test(`questions that nobody awaits, in ${revision}`, async t => {
    const answers: Record<string, any> = { 'elicitation/create': named('Ada'), 'sampling/createMessage': { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }, 'roots/list': { roots: [] } }
    const { begin, call, alive } = start(t, revision, method => ({ result: answers[method] }))
    await begin()
    t.match(await call('careless'), { result: { content: [{ text: 'done' }] } })
    await wait(200)
    t.equal(await alive(), 'alive')
  })
}

for (const error of [null, 'no', 7, {}, [], { code: 'x' }]) {
  t.test(`an answer with the error ${JSON.stringify(error)}`, async t => {
    const { begin, call, alive } = start(t, '2025-11-25', () => ({ error }))
    await begin()
    t.match(await call('roots'), { result: { isError: true } })
    t.equal(await alive(), 'alive')
  })
}
