// An app that says a lot on standard output. A plugin for `fastify-mcp stdio`; with the argument `serve` it serves itself.
import Fastify from 'fastify'
import mcpPlugin from 'fastify-mcp-plugin'

const none = { type: 'object', properties: {} }

export default async function noisy (app, options) {
  console.log('at the start')
  await app.register(mcpPlugin)
  const add = (name, handler, inputSchema = none) => app.mcp.tools.add({ name, inputSchema, handler })
  add('log', (args, ctx) => { ctx.log.info('by the logger'); return 'ok' })
  add('console', () => { console.log('by console.log'); return 'ok' })
  add('stdout', () => { process.stdout.write('by process.stdout\n'); return 'ok' })
  add('boom', () => { throw new Error('boom inside') })
  add('lines', () => 'a\nb\rc\u2028d\u2029e')
  add('size', ({ text }) => `${text.length}`, { type: 'object', properties: { text: { type: 'string' } } })
  add('slow', ({ ms }, { signal }) => new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, 'done')
    signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason) })
  }), { type: 'object', properties: { ms: { type: 'integer' } } })
}

if (process.argv[2] === 'serve') {
  // What is written before stdio() begins is the program's own affair: lead it away as the documentation says.
  const { log } = console
  console.log = console.error
  const app = Fastify({ logger: true })
  await noisy(app, {})
  console.log = log
  process.once('SIGTERM', async () => {
    await app.close()
    process.exit(0)
  })
  await app.mcp.stdio()
  process.exit(0)
}
