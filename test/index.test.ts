import { createRequire } from 'node:module'
import { execFileSync } from 'node:child_process'
import { fastifySSE } from '@fastify/sse'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyPluginAsync, FastifyServerOptions } from 'fastify'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import mcpPlugin, * as named from '../lib/index.js'
import type { McpOptions, Tool } from '../types/index.js'
import { legacy, modern } from './support/http.js'
import { until } from './support/time.js'

const request = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const hello = request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } })
const toolOf = (name: string, handler: Tool['handler'] = () => name) => ({ name, handler }) as Tool
const steps = toolOf('steps', async (_, ctx) => { await ctx.progress(1); return 'done' })

function appOf (t: Test, options: FastifyServerOptions = {}): FastifyInstance {
  const app = Fastify(options as object)
  t.teardown(() => app.close())
  return app
}

const post = (app: FastifyInstance, url: string, payload: object, headers = {}) => app.inject({ method: 'POST', url, payload, headers })
const names = async (app: FastifyInstance, url = '/mcp') => (await post(app, url, request('tools/list'))).json().result.tools.map((tool: Tool) => tool.name)
const said = async (app: FastifyInstance, name: string, url = '/mcp') => (await post(app, url, request('tools/call', { name }))).json().result.content[0].text
const start = (app: FastifyInstance) => app.listen({ port: 0, host: '127.0.0.1' })

t.test('the plugin is a function with all else as its properties, however it is taken', async t => {
  const names = ['audio', 'defineTool', 'embedded', 'image', 'McpError', 'mcpPlugin', 'resourceLink', 'result', 'text', 'ToolError']
  const required = createRequire(import.meta.url)('../dist/index.js')
  for (const [what, plugin] of [['default', mcpPlugin], ['module.exports', (named as any)['module.exports']], ['required from dist', required]] as const) {
    t.type(plugin, 'function', what)
    for (const name of names) t.type(plugin[name], 'function', `${what}.${name}`)
    t.equal(plugin.default, plugin, what)
    t.equal(plugin.mcpPlugin, plugin, what)
  }
  for (const name of names) t.equal((named as any)[name], (mcpPlugin as any)[name], name)
})

t.test('a CommonJS file can register what it requires', async t => {
  const script = "const mcp = require('fastify-mcp-plugin'); const app = require('fastify')(); app.register(mcp); app.ready().then(() => { process.stdout.write(typeof app.mcp.tools.add) })"
  t.equal(String(execFileSync(process.execPath, ['-e', script], { cwd: new URL('..', import.meta.url), env: { ...process.env, NODE_OPTIONS: '' } })), 'function')
})

t.test('defineTool gives back what it is given', async t => {
  const definition = { name: 'a', handler: () => 'a' }
  t.equal(mcpPlugin.defineTool(definition) as unknown, definition)
})

t.test('twice in one scope is an error that says what to do', async t => {
  const app = appOf(t)
  await app.register(mcpPlugin)
  await t.rejects(async () => { await app.register(mcpPlugin, { path: '/other' }) }, { code: 'MCP_ERR_TWICE', message: /first \/mcp, then \/other.*scope of its own/ })
})

t.test('scopes that nobody can have are warned of', async t => {
  const lines: string[] = []
  const app = appOf(t, { logger: { level: 'warn', stream: { write: (line: string) => { lines.push(line) } } } } as never)
  await app.register(mcpPlugin, { tools: [{ ...toolOf('a'), scopes: ['files:read'] } as Tool] })
  await app.ready()
  t.match(lines.map(line => JSON.parse(line).msg), [/files:read.*option auth is not there/])
})

t.test('a worker of a cluster that shares nothing is warned, and one that does not need it is not', async t => {
  const file = t.testdir({
    'worker.mjs': `
import cluster from 'node:cluster'
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import mcp from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
if (cluster.isPrimary) {
  for (const keys of ['', 'x']) cluster.fork({ KEYS: keys })
} else {
  const app = Fastify({ logger: { level: 'warn' } })
  await app.register(mcp, process.env.KEYS === '' ? {} : { requestState: { keys: [Buffer.alloc(32)] } })
  await app.ready()
  await app.close()
  cluster.worker.disconnect()
}`
  })
  const said = String(execFileSync(process.execPath, [`${file}/worker.mjs`], { env: { ...process.env, NODE_OPTIONS: '' } }))
  t.match(said.trim().split('\n').map(line => JSON.parse(line)), [{ level: 40, msg: /several processes.*requestState\.keys/ }])
})

t.test('a wrong option rejects the registration', async t => {
  await t.rejects(async () => { await appOf(t).register(mcpPlugin, { path: 'mcp' }) }, { code: 'MCP_ERR_OPTION', message: /\/path/ })
  await t.rejects(async () => { await appOf(t).register(mcpPlugin, { tools: [toolOf('a b')] }) }, { code: 'MCP_ERR_TOOL_NAME' })
  await t.rejects(async () => { await appOf(t).register(mcpPlugin, { tools: [toolOf('a'), toolOf('a')] }) }, { code: 'MCP_ERR_TOOL_DUPLICATE' })
})

t.test('several scopes have their own path, tools and sessions, side by side and one in another', async t => {
  const app = appOf(t)
  await app.register(mcpPlugin, { tools: [toolOf('outer')] })
  for (const name of ['a', 'b']) {
    await app.register(async scope => {
      await scope.register(mcpPlugin, { path: '/tools', tools: [toolOf(name)] })
      await scope.register(async inner => { await inner.register(mcpPlugin, { path: '/inner', tools: [toolOf(`${name}-inner`)] }) }, { prefix: '/in' })
    }, { prefix: `/${name}` })
  }
  const rows = [['/mcp', 'outer'], ['/a/tools', 'a'], ['/b/tools', 'b'], ['/a/in/inner', 'a-inner'], ['/b/in/inner', 'b-inner']] as const
  for (const [url, name] of rows) t.strictSame(await names(app, url), [name], url)
  const session = (await post(app, '/a/tools', hello)).headers['mcp-session-id']
  for (const [url] of rows) t.equal((await post(app, url, request('ping'), { 'mcp-session-id': session })).statusCode, url === '/a/tools' ? 200 : 404, url)
})

t.test('app.mcp is that of the nearest scope, its own where it registers', async t => {
  const app = appOf(t)
  let inner: FastifyInstance | undefined
  let child: FastifyInstance | undefined
  await app.register(mcpPlugin)
  await app.register(async scope => { child = scope })
  await app.register(async scope => {
    await scope.register(mcpPlugin, { path: '/inner' })
    scope.mcp.tools.add(toolOf('inner'))
    inner = scope
  })
  t.strictSame([app.mcp.tools.has('inner'), inner?.mcp.tools.has('inner'), child?.mcp.tools.has('inner')], [false, true, false])
  child?.mcp.tools.add(toolOf('from-child'))
  t.equal(app.mcp.tools.has('from-child'), true)
  t.equal(app.mcp, app.mcp)
})

t.test('a tool belongs to the instance that added it', async t => {
  const app = appOf(t)
  app.decorate('who', 'root')
  const who: Tool['handler'] = function (_, ctx) { return `${(this as any).who} ${(ctx.app as any).who}` }
  await app.register(mcpPlugin, { tools: [toolOf('of-option', who)] })
  // As @fastify/autoload registers a folder: a plugin of its own scope for each file.
  const files: FastifyPluginAsync[] = ['one', 'two'].map(name => async scope => {
    Object.defineProperty(scope, 'who', { value: name })
    scope.mcp.tools.add(toolOf(`of-${name}`, who))
  })
  for (const file of files) app.register(file)
  await app.ready()
  for (const [name, owner] of [['of-option', 'root'], ['of-one', 'one'], ['of-two', 'two']] as const) t.equal(await said(app, name), `${owner} ${owner}`)
})

t.test('nothing of the plugin reaches other routes', async t => {
  const app = appOf(t)
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_, body, done) => done(null, `<${body as string}>`))
  app.setErrorHandler((error, _, reply) => { reply.code(418).send(`own: ${(error as Error).message}`) })
  await app.register(mcpPlugin)
  app.post('/own', async ({ body, mcp }) => ({ body, mcp }))
  app.get('/fails', async () => { throw new Error('x') })
  const text = { 'content-type': 'text/plain' }
  t.strictSame((await app.inject({ method: 'POST', url: '/own', headers: text, payload: 'a' })).json(), { body: '<a>', mcp: null })
  t.match(await app.inject('/fails'), { statusCode: 418, body: 'own: x' })
  t.match((await app.inject('/nowhere')).json(), { statusCode: 404, error: 'Not Found' })
  const url = await start(app)
  t.equal((await fetch(url + '/own', { method: 'POST', headers: { origin: 'https://evil.example', ...text }, body: 'b' })).status, 200, 'no guard')
})

t.test('nothing of the host reaches the routes of the plugin but its hooks', async t => {
  const app = appOf(t)
  const hooked: string[] = []
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, JSON.parse(body as string)))
  app.setErrorHandler((_, __, reply) => { reply.code(418).send('own') })
  app.addHook('preSerialization', async (_, __, payload) => ({ wrapped: payload }))
  for (const hook of ['onRequest', 'preHandler', 'onSend', 'onResponse'] as const) app.addHook(hook, async () => { hooked.push(hook) })
  app.addHook('onRequest', async ({ headers }) => { if (headers.authorization === 'bad') throw Object.assign(new Error('who?'), { statusCode: 401 }) })
  await app.register(mcpPlugin)
  t.strictSame((await post(app, '/mcp', request('ping'))).json(), { jsonrpc: '2.0', id: 1, result: {} })
  t.strictSame(hooked, ['onRequest', 'preHandler', 'onSend', 'onResponse'])
  const form = await app.inject({ method: 'POST', url: '/mcp', headers: { 'content-type': 'text/plain' }, payload: JSON.stringify(request('ping')) })
  t.match([form.statusCode, form.json()], [415, { error: { code: -32600 } }])
  t.match(await post(app, '/mcp', request('ping'), { authorization: 'bad' }), { statusCode: 401, body: /who\?/ })
})

t.test('hooks run for streams too, and their headers are on them', async t => {
  const app = appOf(t)
  const hooked: string[] = []
  app.addHook('onRequest', async (_, reply) => { reply.header('x-request', '1'); hooked.push('onRequest') })
  app.addHook('onResponse', async () => { hooked.push('onResponse') })
  await app.register(mcpPlugin, { tools: [steps] })
  const { answer } = await modern(await start(app) + '/mcp', { t }).call('steps', {}, { meta: { progressToken: 1 } })
  t.match([answer?.streams, answer?.headers['x-request']], [true, '1'])
  t.ok(await until(() => hooked.length === 2))
  t.strictSame(hooked, ['onRequest', 'onResponse'])
})

t.test('the host may have @fastify/sse already, or register it later', async t => {
  for (const first of [true, false]) {
    const app = appOf(t)
    const sse = async () => { await app.register(fastifySSE) }
    if (first) await sse()
    await app.register(mcpPlugin, { tools: [steps] })
    if (!first) await sse()
    app.get('/own', { sse: true }, async (_, reply) => { await reply.sse.send({ data: 'mine' }) })
    const url = await start(app)
    const { notes } = await (await legacy(url + '/mcp', '2025-11-25', { t })).call('steps', {}, { meta: { progressToken: 1 } })
    t.equal(notes.length, 1)
    t.match(await (await fetch(url + '/own', { headers: { accept: 'text/event-stream' } })).text(), 'data: "mine"')
  }
})

t.test('a path is served as it is written, with and without a slash at its end', async t => {
  const rows: [McpOptions & { prefix?: string }, FastifyServerOptions, string[]][] = [
    [{}, {}, ['/mcp', '/mcp/', '/mcp?a=1']],
    [{ path: '/mcp/' }, {}, ['/mcp', '/mcp/']],
    [{ path: '/a/b' }, {}, ['/a/b']],
    [{ path: '/' }, {}, ['/']],
    [{ prefix: '/v1' }, {}, ['/v1/mcp']],
    [{ prefix: '/v1', path: '/' }, {}, ['/v1', '/v1/']],
    [{}, { ignoreTrailingSlash: true }, ['/mcp', '/mcp/']],
    [{}, { routerOptions: { ignoreTrailingSlash: true } }, ['/mcp', '/mcp/']],
    [{ path: '/' }, { routerOptions: { ignoreTrailingSlash: true } }, ['/']]
  ]
  for (const [options, settings, urls] of rows) {
    const app = appOf(t, settings)
    await app.register(mcpPlugin, options as McpOptions)
    for (const url of urls) t.equal((await post(app, url, request('ping'))).statusCode, 200, `${url} of ${JSON.stringify(options)} ${JSON.stringify(settings)}`)
  }
})

t.test('the greatest times are kept, and none is taken for the shortest', async t => {
  const warnings: string[] = []
  const hear = ({ name }: Error) => { warnings.push(name) }
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  const [timer, clock] = [2 ** 31 - 1, Number.MAX_VALUE]
  const app = appOf(t)
  await app.register(mcpPlugin, { tools: [{ ...toolOf('a'), timeout: clock }, steps], sessions: { idle: clock }, sse: { keepAlive: timer, after: clock, replay: { ttl: clock } }, limits: { toolTimeout: clock }, requestState: { ttl: clock }, closeTimeout: timer })
  const client = await legacy(await start(app) + '/mcp', '2025-11-25', { t })
  const stream = await client.get()
  for (const name of ['a', 'steps']) t.match(await client.request('tools/call', { name }), { result: { isError: undefined } }, name)
  await new Promise(resolve => setTimeout(resolve, 100))
  t.strictSame([stream.comments.length, app.mcp.stats().sessions], [0, 1])
  await app.close()
  t.strictSame(warnings, [])
})

t.test('stdio serves the app on a pair of streams once, and closes it at the end', async t => {
  const app = appOf(t)
  await app.register(mcpPlugin, { tools: [toolOf('a')] })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const done = app.mcp.stdio({ input, output })
  await t.rejects(app.mcp.stdio({ input, output }), { code: 'MCP_ERR_STDIO_OPEN', message: /is running already/ })
  let closed = false
  app.server.on('close', () => { closed = true })
  input.end(JSON.stringify(request('tools/call', { name: 'a' })) + '\n')
  await done
  t.match(JSON.parse(String(output.read())), { id: 1, result: { content: [{ text: 'a' }] } })
  t.equal(closed, true)
  await t.rejects(app.mcp.stdio({ input: new PassThrough(), output }), { code: 'MCP_ERR_STDIO_OPEN', message: 'stdio() has ended, and the app is closed with it' })
})

t.test('stdio that began with no caller may begin again', async t => {
  const app = appOf(t)
  const said: unknown[] = [undefined, { subject: 'ada', scopes: [] }]
  await app.register(mcpPlugin, { tools: [toolOf('a')], auth: { authenticate: () => undefined, stdio: () => said.shift() as never } })
  const [input, output] = [new PassThrough(), new PassThrough()]
  await t.rejects(app.mcp.stdio({ input, output }), { code: 'MCP_ERR_OPTION', message: /auth\/stdio/ })
  input.end(JSON.stringify(request('tools/call', { name: 'a' })) + '\n')
  await app.mcp.stdio({ input, output })
  t.match(JSON.parse(String(output.read())), { id: 1, result: { content: [{ text: 'a' }] } })
})

t.test('stdio says what is wrong with what it is given, and may be tried again', async t => {
  const app = appOf(t)
  await app.register(mcpPlugin)
  const rows: [object, RegExp][] = [[{ input: 3 }, /stdio\(\): input must be a readable stream, got number/], [{ input: null }, /input must be/], [{ output: 'x' }, /output must be a writable stream, got string/], [{ lineLimit: 'x' }, /lineLimit must be a number of bytes, got string "x"/], [{ lineLimit: '5' }, /lineLimit/], [{ inpt: 1 }, /stdio\(\): inpt is not a known property; known: input, output, lineLimit/], [{ lineLimit: 0 }, /lineLimit/]]
  for (const [options, message] of rows) await t.rejects(app.mcp.stdio({ input: new PassThrough(), output: new PassThrough(), ...options }), { code: 'MCP_ERR_STDIO_OPTION', message }, JSON.stringify(options))
  for (const options of [null, 5, []]) await t.rejects(app.mcp.stdio(options as never), { code: 'MCP_ERR_STDIO_OPTION', message: /it takes \{ input, output, lineLimit \}, got / })
})

t.test('stdio serves the endpoint of a scope, before the app is ready and after', async t => {
  for (const ready of [false, true]) {
    const app = appOf(t)
    let scope: FastifyInstance = app
    await app.register(async instance => {
      await instance.register(mcpPlugin, { tools: [toolOf('a')] })
      scope = instance
    })
    if (ready) await app.ready()
    const [input, output] = [new PassThrough(), new PassThrough()]
    input.end(JSON.stringify(request('tools/call', { name: 'a' })) + '\n')
    await t.resolves(scope.mcp.stdio({ input, output }), ready ? 'after' : 'before')
    t.match(JSON.parse(String(output.read())), { id: 1, result: { content: [{ text: 'a' }] } })
  }
})

t.test('closing ends the streams that are held open, and loses nothing that was written', async t => {
  const app = appOf(t)
  await app.register(mcpPlugin, { tools: [steps] })
  const client = await legacy(await start(app) + '/mcp', '2025-11-25', { t })
  const stream = await client.get()
  app.mcp.tools.disable('steps')
  await new Promise(resolve => setImmediate(resolve))
  await app.close()
  t.equal(await stream.over(), true)
  t.match([stream.cut, stream.messages], [false, [{ method: 'notifications/tools/list_changed' }]])
})
