import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { until } from './support/time.js'

// What users run is what is built, so that is what runs here.

const bin = fileURLToPath(new URL('../dist/bin.js', import.meta.url))
const call = (name: string, id = 1) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } }) + '\n'

const tool = (name: string, body = `return ${JSON.stringify(name)}`) => `{ name: '${name}', handler: async (args, ctx) => { ${body} } }`
const register = (app: string, tools: string, more = '') => `await ${app}.register(mcp, { tools: [${tools}] ${more} })`
const imports = "import Fastify from 'fastify'\nimport mcp from 'fastify-mcp-plugin'\n"
const scoped = (path: string, name: string) => `await app.register(async scope => { ${register('scope', tool(name), `, path: '${path}'`)} })`

const files = {
  'builder.js': `${imports}export default async () => { const app = Fastify(); ${register('app', tool('a'))}; return app }`,
  'named.js': `${imports}export const app = Fastify()\n${register('app', tool('a'))}`,
  'common.cjs': "const mcp = require('fastify-mcp-plugin')\nmodule.exports = async function (app, options) { await app.register(mcp, { tools: [{ name: 'a', handler: () => 'a' }] }) }",
  'several.js': `${imports}export default async (app, options) => { ${register('app', tool('root'))}\n${scoped('/one', 'one')}\n${scoped('/two', 'two')} }`,
  'none.js': 'export default async function (app, options) {}',
  'nothing.js': 'export const x = 1',
  'loud.js': `${imports}import { execSync } from 'node:child_process'
    const shout = where => { console.log('console ' + where); process.stdout.write('bare ' + where + '\\n'); execSync('echo child ' + where, { stdio: 'inherit' }) }
    shout('at import')
    const app = Fastify({ logger: true })
    ${register('app', tool('a', "shout('in a call'); ctx.log.info('logger in a call'); return 'a'"))}
    app.addHook('onClose', async () => { shout('at the end') })
    export default app`,
  'closing.js': `${imports}export default async (app, options) => {
    app.addHook('onClose', async () => { process.stderr.write('closed by its hook\\n') })
    ${register('app', `${tool('a')}, ${tool('endless', 'await new Promise(() => {})')}`, ', closeTimeout: 100')} }`
}

interface Run {
  child: ReturnType<typeof spawn>
  said: { stdout: string, stderr: string }
  /** Exit code and signal, when it is over. */
  ended: Promise<[number | null, string | null]>
}

/** Runs the command; it is over when the test is. */
function run (t: Test, args: string[], input?: string): Run {
  const child = spawn(process.execPath, [bin, ...args], { stdio: 'pipe', env: { ...process.env, LOG_LEVEL: 'info' } })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => { said.stdout += chunk })
  child.stderr.on('data', chunk => { said.stderr += chunk })
  const ended = new Promise<[number | null, string | null]>(resolve => child.on('close', (...how) => resolve(how)))
  if (input !== undefined) child.stdin.end(input)
  t.teardown(() => { child.kill() })
  return { child, said, ended }
}

/** The answer to a request, among the lines of standard output. */
const answer = (stdout: string, id: number) => stdout.split('\n').filter(Boolean).map(line => JSON.parse(line)).find(message => message.id === id)

t.before(() => {
  if (!existsSync(bin)) throw new Error('there is no dist/bin.js; npm run build makes it')
})

const dir = t.testdir(files)
const at = (file: string) => `${dir}/${file}`

t.test('what is not understood is told on standard error, with the usage', async t => {
  const rows = [['serve', at('closing.js')], ['stdio'], ['stdio', at('closing.js'), 'more'], ['stdio', at('closing.js'), '--pth', '/mcp']]
  await Promise.all(rows.map(async args => {
    const { said, ended } = run(t, args, '')
    t.strictSame([await ended, said.stdout], [[1, null], ''], args.join(' '))
    t.match(said.stderr, /fastify-mcp stdio <app file>/)
  }))
})

t.test('help is given on standard output', async t => {
  const { said, ended } = run(t, ['--help'], '')
  t.strictSame([await ended, said.stderr], [[0, null], ''])
  t.match(said.stdout, /--path/)
})

t.test('a file that cannot be served is an error that says why', async t => {
  const rows: [string[], RegExp][] = [
    [['missing.js'], /^fastify-mcp: there is no file .*missing\.js\n$/],
    [['nothing.js'], /must export by default/],
    [['none.js'], /does not register fastify-mcp-plugin/],
    [['several.js'], /several endpoints.*\/mcp, \/one, \/two/],
    [['several.js', '--path', '/three'], /no endpoint \/three; it has \/mcp, \/one, \/two/]
  ]
  await Promise.all(rows.map(async ([[file = '', ...more], message]) => {
    const { said, ended } = run(t, ['stdio', at(file), ...more], call('a'))
    t.strictSame([await ended, said.stdout], [[1, null], ''], file)
    t.match(said.stderr, message)
  }))
})

t.test('an app may be a plugin, an instance or a function that makes one; when the input ends it is closed', async t => {
  await Promise.all(['closing.js', 'builder.js', 'named.js', 'common.cjs'].map(async file => {
    const { said, ended } = run(t, ['stdio', at(file)], call('a'))
    t.strictSame(await ended, [0, null], `${file}: ${said.stderr.slice(0, 300)}`)
    t.match(JSON.parse(said.stdout), { id: 1, result: { content: [{ text: 'a' }] } }, file)
    if (file === 'closing.js') t.match(said.stderr, /closed by its hook/)
  }))
})

t.test('of several endpoints the one that is named is served', async t => {
  const { said, ended } = run(t, ['stdio', at('several.js'), '--path', '/two'], call('two') + call('one', 2))
  t.strictSame(await ended, [0, null], said.stderr)
  t.match(answer(said.stdout, 1), { result: { content: [{ text: 'two' }] } })
  t.match(answer(said.stdout, 2), { error: { code: -32602 } }, 'it has no tool of another endpoint')
})

t.test('whatever else is written, standard output has messages alone', async t => {
  const { said, ended } = run(t, ['stdio', at('loud.js')], call('a'))
  t.strictSame(await ended, [0, null], said.stderr)
  t.strictSame(said.stdout.trim().split('\n').map(line => JSON.parse(line)), [{ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'a' }] } }])
  for (const where of ['at import', 'in a call', 'at the end']) for (const who of ['console', 'bare', 'child']) t.match(said.stderr, `${who} ${where}`)
  t.match(said.stderr, /logger in a call/)
})

t.test('a signal closes the app and ends the process, whatever runs', async t => {
  const { child, said, ended } = run(t, ['stdio', at('closing.js')])
  child.stdin?.write(call('endless') + call('a', 2))
  t.ok(await until(() => said.stdout.includes('"id":2'), 30_000), said.stderr)
  child.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
  t.match(said.stderr, /closed by its hook/)
  t.equal(said.stdout.trim().split('\n').length, 2, 'the call that was stopped is answered as well')
})

t.test('a client that reads no more ends the process', async t => {
  const { child, said, ended } = run(t, ['stdio', at('closing.js')])
  child.stdin?.on('error', () => {}).write(call('a'))
  t.ok(await until(() => said.stdout.includes('"id":1'), 30_000), said.stderr)
  child.stdout?.destroy()
  child.stdin?.write(call('endless') + call('a', 3))
  t.strictSame((await ended)[0], 0, said.stderr)
})
