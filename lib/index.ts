import { fastifySSE } from '@fastify/sse'
import type { FastifyInstance, FastifyPluginAsync, onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import nodeCluster from 'node:cluster'
import type { AuthInfo, Mcp, McpOptions, Prompt, Resource, StdioOptions, Tool } from '../types/index.js'
import { Bearer } from './auth/bearer.js'
import { mountMetadata } from './auth/metadata.js'
import { Place } from './auth/place.js'
import { connectionOf, kAuth, kConnection, kStreaming } from './connection.js'
import * as content from './content.js'
import { addEndpoint } from './endpoints.js'
import { InputRejectedError, InputRequired, InputUnsupportedError, MCP_ERR_STDIO_OPEN, MCP_ERR_STDIO_OPTION, MCP_ERR_TWICE, McpError, NoStreamError, ToolError } from './errors.js'
import { settle } from './options.js'
import type { Settings } from './options.js'
import { stdioCaller } from './options/auth.js'
import { kindOf, preview } from './preview.js'
import { elicit, elicitUrl, roots, sample } from './question.js'
import { McpServer, sessionLimits } from './server.js'
import { kRaw, onlyJson } from './transports/body.js'
import { guard } from './transports/guard.js'
import { mount } from './transports/mount.js'
import { onError } from './transports/reply.js'
import { Sockets } from './transports/sockets.js'
import { stdio } from './transports/stdio.js'
import { claimStdout } from './transports/stdout.js'
import { Streams } from './transports/stream.js'

const MIB = 1_048_576
const WORKER = 'this is one of several processes of a cluster, each with sessions and a requestState key of its own: they need redis, or requestState.keys and clients without sessions'
/** The path that a scope has registered. */
const paths = new WeakMap<FastifyInstance, string>()

/** Only decorates: routes, hooks, parser and error handler live in a scope of their own, so nothing of them reaches the app. */
const plugin: FastifyPluginAsync<McpOptions> = async function (app, options) {
  const before = paths.get(app)
  const settings = settle(options, app.initialConfig.bodyLimit ?? MIB)
  if (before !== undefined) throw new MCP_ERR_TWICE(before, settings.path)
  paths.set(app, settings.path)
  const prefix = (options as { prefix?: string }).prefix ?? ''
  const place = new Place((app.prefix + prefix + settings.path).replace(/\/+$/, '') || '/', settings.auth?.resource)
  const server = new McpServer(app, settings, place, settings.shared && await clusterOf(settings, app, settings.shared, app.prefix + prefix + settings.path))
  const streams = new Streams(settings.sse)
  const sockets = new Sockets(app.server)
  const mcp = decorate(app, server, streams)
  for (const tool of settings.tools) server.tools.add(tool, app)
  for (const resource of settings.resources) server.resources.add(resource, app)
  for (const prompt of settings.prompts) server.prompts.add(prompt, app)
  const { cluster, states } = server
  if (cluster !== undefined) app.addHook('onReady', () => cluster.start())
  else if (states.alone && nodeCluster.isWorker) app.log.warn(WORKER)
  app.addHook('preClose', async () => {
    await server.close(ms => sockets.arrived(ms))
    await streams.finished(settings.closeTimeout)
    sockets.release()
  })
  await app.register(async scope => {
    if (!scope.hasPlugin('@fastify/sse')) await scope.register(fp(fastifySSE, { name: '@fastify/sse' }))
    scope.setErrorHandler(onError)
    onlyJson(scope)
    scope.addHook('onRequest', guard(settings))
    if (settings.auth !== undefined) scope.addHook('onRequest', identify(new Bearer(settings.auth, place, server.access, server.cluster?.member.store)))
    mount(scope, server, streams)
    addEndpoint(app, scope.prefix + settings.path, mcp)
  }, { prefix })
  if (settings.auth !== undefined) mountMetadata(rootOf(app), { auth: settings.auth, place, name: settings.serverInfo.title ?? settings.serverInfo.name, scopes: () => server.scopes })
  else app.addHook('onReady', async () => { warnOfScopes(app, server) })
}

function warnOfScopes ({ log }: FastifyInstance, { scopes }: McpServer): void {
  if (scopes.length > 0) log.warn(`scopes are needed (${[...new Set(scopes)].join(' ')}), but the option auth is not there: nobody has any, so what needs them cannot be used`)
}

/** Who makes a request is known before its body is read. */
function identify (bearer: Bearer): onRequestHookHandler {
  return function (request, reply, done) {
    const known = (caller: AuthInfo) => {
      Object.assign(request, { [kAuth]: caller })
      done()
    }
    let caller
    try {
      caller = bearer.check(request)
    } catch (error) {
      return done(error as Error)
    }
    if (caller instanceof Promise) caller.then(known, done)
    else known(caller)
  }
}

/** Several processes that serve the endpoint together. Its code is loaded only where there are. */
async function clusterOf (settings: Settings, { log }: FastifyInstance, shared: NonNullable<Settings['shared']>, path: string) {
  const [{ Cluster }, { redisBacking, givenBacking }] = await Promise.all([import('./cluster/cluster.js'), import('./cluster/backing.js')])
  const backing = 'client' in shared ? await redisBacking({ ...shared, prefix: shared.prefix ?? `mcp:${path}:` }, log) : givenBacking(shared.store, shared.broker)
  return ({ subscriptions, revisions }: McpServer) => new Cluster({ backing, log, limits: sessionLimits(settings), timeout: settings.limits.toolTimeout, subscriptions, served: version => revisions.get(version) })
}

/** `app.mcp`, an own property of the scope that registers, and `request.mcp`, once for each app. */
function decorate (app: FastifyInstance, server: McpServer, streams: Streams): Mcp {
  const open = stdioOf(app, server)
  const seenBy = new WeakMap<FastifyInstance, Mcp>()
  const facade = (instance: FastifyInstance): Mcp => {
    let mcp = seenBy.get(instance)
    if (mcp === undefined) seenBy.set(instance, mcp = server.facade(instance, open, () => streams.size))
    return mcp
  }
  app.decorate('mcp', { getter (this: FastifyInstance) { return facade(this) } })
  if (!app.hasRequestDecorator('mcp')) {
    app.decorateRequest(kAuth, undefined)
    app.decorateRequest(kConnection, undefined)
    app.decorateRequest(kStreaming, false)
    app.decorateRequest(kRaw, undefined)
    app.decorateRequest('mcp', { getter () { return connectionOf(this) } })
  }
  return facade(app)
}

function stdioOf (app: FastifyInstance, server: McpServer): Mcp['stdio'] {
  let state: 'open' | 'over' | undefined
  return async (options = {}) => {
    if (state !== undefined) throw new MCP_ERR_STDIO_OPEN(state === 'open' ? 'is running already: a process has one pair of standard streams' : 'has ended, and the app is closed with it')
    const { input, output, lineLimit } = stdioOptions(options)
    state = 'open'
    try {
      const caller = server.settings.auth?.stdio
      await rootOf(app).ready()
      await stdio(server, { input, output: output ?? claimStdout(app.log), lineLimit, auth: typeof caller === 'function' ? stdioCaller(caller()) : caller })
      state = 'over'
    } catch (error) {
      state = undefined // it has served nobody
      throw error
    }
    await rootOf(app).close()
  }
}

function stdioOptions (options: StdioOptions) {
  const can = (stream: unknown, method: string) => typeof (stream as Record<string, unknown> | null | undefined)?.[method] === 'function'
  if (kindOf(options) !== 'object') throw new MCP_ERR_STDIO_OPTION(`it takes { input, output, lineLimit }, got ${preview(options)}`)
  const { input = process.stdin, output, lineLimit = 16 * MIB, ...strange } = options
  const [name] = Object.keys(strange)
  if (name !== undefined) throw new MCP_ERR_STDIO_OPTION(`${name} is not a known property; known: input, output, lineLimit`)
  if (!can(input, 'pipe')) throw new MCP_ERR_STDIO_OPTION(`input must be a readable stream, got ${kindOf(input)}`)
  if (output !== undefined && !can(output, 'write')) throw new MCP_ERR_STDIO_OPTION(`output must be a writable stream, got ${kindOf(output)}`)
  if (!(typeof lineLimit === 'number' && lineLimit > 0)) throw new MCP_ERR_STDIO_OPTION(`lineLimit must be a number of bytes, got ${preview(lineLimit)}`)
  return { input, output, lineLimit }
}

/** Scopes inherit from the app; that alone can be awaited and closed from outside. */
function rootOf (app: FastifyInstance): FastifyInstance {
  const above: FastifyInstance = Object.getPrototypeOf(app)
  return 'server' in above ? rootOf(above) : app
}

/** Types a tool. What it returns is what it was given. */
export const defineTool = (definition: unknown) => definition as Tool
/** Types a resource or a template of resources. */
export const defineResource = (definition: unknown) => definition as Resource
/** Types a prompt. */
export const definePrompt = (definition: unknown) => definition as Prompt

const { assistant, audio, embedded, image, inputRequired, resourceLink, result, text, user } = content
const wrapped = fp(plugin, { name: 'fastify-mcp-plugin', fastify: '5.x' })

/** With all other exports as its properties, so that `require` gives a function like that of every Fastify plugin. */
export const mcpPlugin = Object.assign(wrapped, { assistant, audio, definePrompt, defineResource, defineTool, elicit, elicitUrl, embedded, image, InputRejectedError, inputRequired, InputRequired, InputUnsupportedError, McpError, NoStreamError, resourceLink, result, roots, sample, text, ToolError, user }) as unknown as typeof import('../types/index.js').mcpPlugin
Object.assign(mcpPlugin, { default: mcpPlugin, mcpPlugin })

export default mcpPlugin
export { mcpPlugin as 'module.exports' }
export { assistant, audio, elicit, elicitUrl, embedded, image, inputRequired, InputRejectedError, InputRequired, InputUnsupportedError, McpError, NoStreamError, resourceLink, result, roots, sample, text, ToolError, user }
