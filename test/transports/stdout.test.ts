import { spawn } from 'node:child_process'
import t, { type Test } from 'tap'

// What is claimed here is the standard output of a process, so each test has a process of its own.

const lib = new URL('../../lib/transports/stdout.js', import.meta.url).href

interface Run { stdout: string, stderr: string, code: number | null }

/** Runs a script with `claimStdout` and Fastify at hand; `after` may close the pipe that it writes to. */
function run (t: Test, body: string, breakPipe = false): Promise<Run> {
  const dir = t.testdir({ 'script.mjs': `import { claimStdout } from ${JSON.stringify(lib)}\nimport Fastify from 'fastify'\n${body}` })
  const child = spawn(process.execPath, [...process.execArgv, `${dir}/script.mjs`], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => { said.stdout += chunk })
  child.stderr.on('data', chunk => {
    said.stderr += chunk
    if (breakPipe && said.stderr.includes('ready')) child.stdout.destroy()
  })
  return new Promise(resolve => child.on('close', code => resolve({ ...said, code })))
}

t.test('what is written to the claimed output, and nothing else, is on standard output', async t => {
  const { stdout, stderr, code } = await run(t, `
    const app = Fastify({ logger: true })
    const child = app.log.child({ made: 'before' })
    console.log('a line before')
    const output = claimStdout(app.log)
    console.log('a line after')
    console.info({ an: 'object' })
    process.stdout.write('bare\\n')
    app.log.info('from the logger')
    child.info('from its child')
    app.log.child({ made: 'after' }).info('from a later child')
    output.write('{"jsonrpc":"2.0"}\\n')
    output.write('{"ö":"€"}\\n')
    if (claimStdout(app.log) !== output) throw new Error('claimed twice')
  `)
  t.equal(code, 0, stderr)
  t.equal(stdout, 'a line before\n{"jsonrpc":"2.0"}\n{"ö":"€"}\n')
  for (const line of ['a line after', "{ an: 'object' }", 'bare', 'from the logger', 'from its child', 'from a later child']) t.match(stderr, line)
})

t.test('a logger that writes elsewhere, or nowhere, is left alone', async t => {
  const { stdout, stderr, code } = await run(t, `
    const lines = []
    const app = Fastify({ logger: { stream: { write: line => lines.push(line) } } })
    claimStdout(app.log)
    claimStdout(Fastify().log)
    app.log.info('to the stream')
    process.stderr.write(String(lines.length))
  `)
  t.strictSame([stdout, stderr, code], ['', '1', 0])
})

t.test('when standard output breaks, so does the claimed output', async t => {
  const { stderr, code } = await run(t, `
    const output = claimStdout(Fastify().log)
    output.on('error', error => process.stderr.write('error ' + error.code + ';'))
    output.on('close', () => { process.stderr.write('closed'); process.exit(0) })
    process.stderr.write('ready;')
    setInterval(() => { if (!output.destroyed) output.write('x\\n') }, 10)
    setTimeout(() => process.exit(1), 8000)
  `, true)
  t.match(stderr, /closed$/)
  t.equal(code, 0)
})
