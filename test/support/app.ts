// A small app with the plugin and the tools that the tests call.
import Fastify, { type FastifyInstance } from 'fastify'
import { Type } from '@sinclair/typebox'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { LoggingLevel, McpOptions, Tool } from '../../types/index.js'

// By way of the plugin these have the types that users get.
export const { audio, defineTool, embedded, image, McpError, resourceLink, text, ToolError } = mcpPlugin

/** How one call of `slow` ended. */
export interface Outcome { ms: number, outcome: 'finished' | 'aborted' }

export interface Server {
  app: FastifyInstance
  url: string
  port: number
  /** Every call of `slow` that has settled. */
  slow: Outcome[]
  /** Every text that `echo` was called with. */
  echoed: string[]
  /** The lines of the app's log. */
  log: Array<Record<string, unknown>>
}

export interface BuildOptions {
  /** Options of the plugin, `tools` being added to the standard ones. */
  options?: McpOptions
  /** Without the standard tools. */
  bare?: boolean
  listen?: boolean
}

export const secret = 'pg://u:pw@10.0.0.9/db failed at /srv/app/x.js:9'
const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
const json = (value: unknown) => JSON.stringify(value) ?? 'undefined'

export async function build (t: Test, { options = {}, bare = false, listen = true }: BuildOptions = {}): Promise<Server> {
  const log: Server['log'] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: line => { log.push(JSON.parse(line)) } } } })
  const slow: Outcome[] = []
  const echoed: string[] = []
  const tools = [...(bare ? [] : standard(slow, echoed)), ...(options.tools ?? [])]
  await app.register(mcpPlugin, { serverInfo: { name: 'audited', version: '1.2.3' }, ...options, tools })
  t.teardown(() => app.close())
  if (listen) await app.listen({ port: 0, host: '127.0.0.1' })
  else await app.ready()
  const port = listen ? (app.server.address() as AddressInfo).port : 0
  return { app, url: `http://127.0.0.1:${port}${options.path ?? '/mcp'}`, port, slow, echoed, log }
}

const none = Type.Object({}, { additionalProperties: false })
const icons = [{ src: 'https://tools.example/icon.png', mimeType: 'image/png', sizes: ['48x48'] }]

function standard (slow: Outcome[], echoed: string[]): Tool[] {
  return [...plain(echoed), ...talking(slow), ...failing(), ...special()]
}

const plain = (echoed: string[]) => [
  defineTool({
    name: 'echo',
    description: 'Says the text back.',
    inputSchema: Type.Object({ text: Type.String() }),
    handler (args) {
      echoed.push(args.text)
      return args.text
    }
  }),
  defineTool({
    name: 'add',
    title: 'Addition',
    description: 'Adds two numbers.',
    inputSchema: Type.Object({ a: Type.Number(), b: Type.Number() }),
    outputSchema: Type.Object({ sum: Type.Number() }),
    annotations: { title: 'Addition', readOnlyHint: true },
    icons,
    _meta: { 'com.example/kind': 'sum' },
    handler: ({ a, b }) => ({ sum: a + b })
  }),
  defineTool({ name: 'noargs', inputSchema: none, handler: () => 'ok' }),
  defineTool({ name: 'opt', inputSchema: Type.Object({ q: Type.Optional(Type.String()) }), handler: args => json(args) }),
  defineTool({
    name: 'defaults',
    inputSchema: Type.Object({
      limit: Type.Integer({ default: 10, minimum: 1, maximum: 100 }),
      tags: Type.Optional(Type.Array(Type.String()))
    }),
    handler: args => json(args)
  }),
  defineTool({ name: 'meta', inputSchema: none, handler: (_, ctx) => json(ctx.meta) }),
  defineTool({
    name: 'who',
    description: 'What is known of the client.',
    inputSchema: none,
    handler: (_, { client, capabilities, session }) => json({ client, capabilities, session: session !== undefined })
  }),
  defineTool({ name: 'big', inputSchema: Type.Object({ bytes: Type.Integer() }), handler: ({ bytes }) => 'x'.repeat(bytes) }),
  defineTool({
    name: 'contents',
    description: 'One block of each kind.',
    inputSchema: none,
    handler: () => [
      text('words'),
      image(Buffer.from('png'), 'image/png'),
      audio(Buffer.from('wav'), 'audio/wav'),
      resourceLink({ uri: 'mem://a', name: 'a' }),
      embedded({ uri: 'mem://b', mimeType: 'text/plain', text: 'inside' })
    ]
  })
]

const talking = (slow: Outcome[]) => [
  defineTool({
    name: 'slow',
    inputSchema: Type.Object({ ms: Type.Integer() }),
    handler: ({ ms }, { signal }) => new Promise<string>((resolve, reject) => {
      const settle = (outcome: Outcome['outcome'], done: () => void) => {
        clearTimeout(timer)
        slow.push({ ms, outcome })
        done()
      }
      const timer = setTimeout(settle, ms, 'finished', () => resolve('done'))
      const abort = () => settle('aborted', () => reject(signal.reason))
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    })
  }),
  defineTool({
    name: 'progress',
    inputSchema: Type.Object({ n: Type.Integer(), total: Type.Optional(Type.Integer()), delayMs: Type.Optional(Type.Integer()) }),
    async handler ({ n, total, delayMs = 0 }, ctx) {
      for (let i = 1; i <= n; i++) {
        await ctx.progress(i, total, `step ${i}`)
        if (delayMs > 0) await wait(delayMs)
      }
      return 'done'
    }
  }),
  defineTool({
    name: 'uneven',
    description: 'Reports progress that goes back, and goes on after the end.',
    inputSchema: none,
    async handler (_, ctx) {
      for (const value of [1, 2, 2, 1, 3]) await ctx.progress(value)
      setTimeout(() => { ctx.progress(4) }, 30)
      return 'done'
    }
  }),
  defineTool({
    name: 'log',
    inputSchema: Type.Object({ level: Type.String(), n: Type.Integer() }),
    async handler ({ level, n }, ctx) {
      for (let i = 1; i <= n; i++) await ctx.message(level as LoggingLevel, { i }, 'audit')
      return 'done'
    }
  })
]

const failing = () => [
  defineTool({ name: 'boom', inputSchema: none, handler () { throw new Error(secret) } }),
  defineTool({ name: 'tool_error', inputSchema: Type.Object({ message: Type.String() }), handler ({ message }) { throw new ToolError(message) } }),
  defineTool({
    name: 'protocol_error',
    inputSchema: Type.Object({ code: Type.Integer(), message: Type.String() }),
    handler ({ code, message }) { throw new McpError(code, message, { hint: 'x' }) }
  }),
  defineTool({ name: 'bad_output', inputSchema: none, outputSchema: Type.Object({ n: Type.Integer() }), handler: () => ({ n: 'x' } as unknown as { n: number }) }),
  defineTool({
    name: 'weird',
    description: 'Returns what JSON cannot carry.',
    inputSchema: Type.Object({ kind: Type.String() }),
    outputSchema: Type.Object({ value: Type.Unknown() }),
    handler: ({ kind }) => ({ value: strange(kind) })
  })
]

function strange (kind: string): unknown {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const kinds: Record<string, unknown> = {
    bigint: 1n, circular: circle, undefined, function: () => 1, date: new Date(0), nan: NaN
  }
  return kinds[kind]
}

const special = () => [
  defineTool({
    name: 'toggle',
    inputSchema: Type.Object({ name: Type.String(), on: Type.Boolean() }),
    handler ({ name, on }, { app }) { return String(on ? app.mcp.tools.enable(name) : app.mcp.tools.disable(name)) }
  }),
  defineTool({
    name: 'region_query',
    inputSchema: Type.Object({
      region: Type.String({ 'x-mcp-header': 'Region' }),
      limit: Type.Optional(Type.Integer({ 'x-mcp-header': 'Limit' })),
      dry: Type.Optional(Type.Boolean({ 'x-mcp-header': 'Dry' })),
      query: Type.String()
    }),
    handler: args => json(args)
  })
]
