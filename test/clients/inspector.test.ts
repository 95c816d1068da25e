// The CLI of @modelcontextprotocol/inspector: a client of yet another make, and the one that users reach for first.
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import { fixture, weather } from './child.js'
import { serve } from './server.js'

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
const inspector = join(dirname(manifest), 'cli/build/cli.js')

interface Outcome { code: number, out: string, err: string, json: any }

/** Runs the CLI; what it prints is one JSON document where all went well. */
const inspect = (target: string[], args: string[], env: Record<string, string> = {}) => new Promise<Outcome>(resolve => {
  execFile(process.execPath, [inspector, '--cli', ...target, ...args], { env: { ...process.env, ...env }, timeout: 60_000 }, (error, out, err) => {
    const code = error === null ? 0 : Number(error.code ?? 1)
    resolve({ code, out, err, get json () { return JSON.parse(out) } })
  })
})

const list = ['--method', 'tools/list']
const call = (name: string, args: Record<string, unknown>) =>
  ['--method', 'tools/call', '--tool-name', name, ...Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`])]

const sum = { content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } }

t.test('over HTTP', async t => {
  const { url } = await serve(t, { pageSize: 1000 })
  const [listed, added, refused] = await Promise.all([inspect([url], list), inspect([url], call('add', { a: 1, b: 2 })), inspect([url], call('nope', { a: 1 }))])
  t.match(listed.json, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })
  t.match(added.json, sum)
  t.not(refused.code, 0, 'an unknown tool is an error')
  t.match(refused.err + refused.out, 'nope')
})

t.test('over HTTP, below a prefix', async t => {
  const { url } = await serve(t, { prefix: '/api', pageSize: 1000 })
  t.match((await inspect([url], call('add', { a: 1, b: 2 }))).json, sum)
})

t.test('over stdio', async t => {
  const { command, args, env } = fixture({ PAGE_SIZE: '1000' })
  const [added, failed] = await Promise.all([
    inspect([command, ...args], call('add', { a: 1, b: 2 }), env),
    inspect([command, ...args], call('tool_error', { message: 'no' }), env)
  ])
  t.match(added.json, sum)
  t.match(failed.json, { isError: true, content: [{ text: 'no' }] })
})

t.test('the example, by way of the binary', async t => {
  const { command, args } = weather()
  const [listed, added] = await Promise.all([inspect([command, ...args], list), inspect([command, ...args], call('sum', { numbers: '[1,2,3]' }))])
  t.strictSame(listed.json.tools.map((tool: { name: string }) => tool.name), ['get_weather', 'greet', 'sum'])
  t.match(added.json, { structuredContent: { sum: 6 } })
})
