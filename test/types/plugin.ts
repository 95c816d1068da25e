// Registering the plugin, its options, app.mcp and request.mcp.
import { PassThrough } from 'node:stream'
import Fastify from 'fastify'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { Type } from '@sinclair/typebox'
import pino from 'pino'
import mcpPlugin, { defineTool, mcpPlugin as named } from 'fastify-mcp-plugin'
import type { ClientCapabilities, Connection, Implementation, Mcp, McpOptions, McpPlugin, Revision, Session, Stats } from 'fastify-mcp-plugin'
import { expect, is } from './equal.js'
import type { Equal } from './equal.js'

const echo = defineTool({ name: 'echo', inputSchema: Type.Object({ a: Type.String() }), handler: ({ a }) => a })
const app = Fastify({ logger: true })

app.register(mcpPlugin)
app.register(mcpPlugin, {})
app.register(named, { prefix: '/api', path: '/mcp', tools: [echo] })
app.register(mcpPlugin, {
  serverInfo: { name: 'a', version: '1.0.0', title: 'A', description: 'a', icons: [{ src: 'a:b' }], websiteUrl: 'https://a.example' },
  instructions: 'Ask.',
  path: '/mcp',
  revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
  tools: [echo],
  sessions: { idle: 1000, max: 10 },
  httpSse: false,
  sse: { keepAlive: 1000, after: 10, maxBuffered: 1024 },
  hosts: ['a.example'],
  origins: '*',
  pageSize: 10,
  cache: { ttlMs: 1000, cacheScope: 'private' },
  limits: { body: 1024, batch: 1, toolTimeout: 0 },
  closeTimeout: 10,
  validator: { compile: (schema, { useDefaults }) => value => value === schema && useDefaults ? true : [{ path: '/a', message: 'must be a string' }] }
})
const maybe: string | undefined = globalThis.process?.env.TITLE
app.register(mcpPlugin, { instructions: maybe, path: maybe, sessions: false, serverInfo: { name: 'a', version: '1', title: maybe } })
app.register(async child => { await child.register(mcpPlugin, { tools: [echo] }) })

// @ts-expect-error no such option
app.register(mcpPlugin, { tool: [echo] })
// @ts-expect-error no such option
app.register(mcpPlugin, { tools: [echo], sessionTimeout: 1 })
// @ts-expect-error a version is needed
app.register(mcpPlugin, { serverInfo: { name: 'a' } })
// @ts-expect-error no such revision
app.register(mcpPlugin, { revisions: ['2024-11-06'] })
// @ts-expect-error either false or options
app.register(mcpPlugin, { sessions: true })
// @ts-expect-error no such option within
app.register(mcpPlugin, { sse: { heartbeat: 1 } })
// @ts-expect-error an array or all
app.register(mcpPlugin, { hosts: 'a.example' })
// @ts-expect-error milliseconds
app.register(mcpPlugin, { closeTimeout: '1s' })
// @ts-expect-error no such scope
app.register(mcpPlugin, { cache: { cacheScope: 'shared' } })
// @ts-expect-error what is wrong has a path
app.register(mcpPlugin, { validator: { compile: () => () => [{ message: 'no' }] } })

// Apps of other kinds.
Fastify({ http2: true }).register(mcpPlugin, { tools: [echo] })
Fastify({ loggerInstance: pino() }).register(mcpPlugin, { tools: [echo] })

// The plugin carries every other export.
is<McpPlugin>()(mcpPlugin)
is<McpPlugin>()(mcpPlugin.default)
is<typeof defineTool>()(mcpPlugin.defineTool)
const plugin: FastifyPluginAsync<McpOptions> = mcpPlugin

// app.mcp
is<Mcp>()(app.mcp)
is<void>()(app.mcp.tools.add(echo))
is<void>()(app.mcp.tools.add({ name: 'a', handler: () => 'ok' }))
app.mcp.tools.add({ name: 'a', inputSchema: Type.Object({ a: Type.Optional(Type.Integer()) }), handler ({ a }) { is<number | undefined>()(a); is<FastifyInstance>()(this); return 'ok' } })
app.mcp.tools.add({ name: 'a', inputSchema: Type.Object({ a: Type.String() }), outputSchema: Type.Object({ sky: Type.Union([Type.Literal('clear'), Type.Literal('rain')]) }), handler: async ({ a }) => { is<string>()(a); return { sky: 'clear' } } })
app.mcp.tools.add({ name: 'a', outputSchema: Type.Object({ sky: Type.Union([Type.Literal('clear'), Type.Literal('rain')]) }), handler: () => ({ sky: 'clear' }) })
app.mcp.tools.add({ name: 'a', handler: async () => [{ type: 'text', text: 'ok' }] })
// @ts-expect-error no such literal
app.mcp.tools.add({ name: 'a', outputSchema: Type.Object({ sky: Type.Union([Type.Literal('clear'), Type.Literal('rain')]) }), handler: async () => ({ sky: 'snow' }) })
// @ts-expect-error no plain value without an output schema
app.mcp.tools.add({ name: 'a', handler: () => ({ sky: 'clear' }) })
// @ts-expect-error no such member
app.mcp.tools.add({ name: 'a', inputSchema: Type.Object({ a: Type.String() }), handler: ({ b }) => `${b}` })
// @ts-expect-error one at a time
app.mcp.tools.add([echo])
is<boolean>()(app.mcp.tools.remove('a'))
is<boolean>()(app.mcp.tools.enable('a'))
is<boolean>()(app.mcp.tools.disable('a'))
is<boolean>()(app.mcp.tools.has('a'))
is<Promise<void>>()(app.mcp.stdio())
app.mcp.stdio({ input: new PassThrough(), output: new PassThrough(), lineLimit: 1024 })
app.mcp.stdio({ input: process.stdin, output: process.stdout })
// @ts-expect-error no such option
app.mcp.stdio({ stdin: process.stdin })
is<Stats>()(app.mcp.stats())
is<number>()(app.mcp.stats().sessions + app.mcp.stats().streams + app.mcp.stats().calls)
// @ts-expect-error the decorator holds its tools
app.mcp.tools = []
expect<Equal<keyof Mcp['tools'], 'add' | 'remove' | 'enable' | 'disable' | 'has'>>()

// request.mcp
app.addHook('onRequest', async request => {
  is<Connection | null>()(request.mcp)
  // @ts-expect-error null on routes that are not ours
  const path: string = request.mcp.endpoint
  if (request.mcp === null) return path
  is<'http' | 'http-sse'>()(request.mcp.transport)
  is<string>()(request.mcp.endpoint)
  is<Session | undefined>()(request.mcp.session)
  is<boolean>()(request.mcp.stream)
  is<Revision | undefined>()(request.mcp.revision)
  is<Implementation | undefined>()(request.mcp.client)
  is<ClientCapabilities>()(request.mcp.capabilities)
})
expect<Equal<keyof Connection, 'transport' | 'endpoint' | 'session' | 'stream' | 'auth' | 'revision' | 'client' | 'capabilities'>>()
expect<Equal<Revision, '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'>>()

// An encapsulated plugin that adds its own, as autoload finds it.
const weather: FastifyPluginAsync = async app => {
  app.mcp.tools.add(echo)
}

export { plugin, weather }
