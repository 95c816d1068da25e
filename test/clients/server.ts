// An app that listens, for clients of other makers.
import Fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions } from '../../types/index.js'
import { build, type Server } from '../support/app.js'
import { until } from '../support/audit.js'
import type { Driver } from './driver.js'
import type { Recorder } from './record.js'
import { PATIENCE, type Subject } from './scenarios.js'

const instructions = 'Only for tests.'
const options: McpOptions = { instructions, pageSize: 5, serverInfo: { name: 'audited', version: '1.2.3' } }

/** The standard app, the endpoint below a prefix if there is one. */
export async function serve (t: Test, { prefix = '', ...own }: McpOptions & { prefix?: string } = {}): Promise<Server> {
  const server = await build(t, { options: { ...options, ...own, ...(prefix && { prefix }) } as McpOptions })
  // After a stream that was cut, fetch keeps a connection in reserve. Node takes one without a request for busy, so closing would wait for it.
  t.teardown(() => server.app.server.closeAllConnections())
  return { ...server, url: server.url.replace('/mcp', `${prefix}/mcp`) }
}

/** The names of all tools as they are listed, a page after the other. */
export async function namesOf ({ app, url }: Server): Promise<string[]> {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const { body } = await app.inject({ method: 'POST', url: new URL(url).pathname, payload: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor } } })
    const { result } = JSON.parse(body)
    names.push(...result.tools.map((tool: { name: string }) => tool.name))
    cursor = result.nextCursor
  } while (cursor !== undefined)
  return names
}

/** A subject over HTTP: the server is in this process, so its state can be looked at. */
export async function subjectOf (server: Server, driver: Driver, { revision, messages }: Recorder): Promise<Subject> {
  const { app: { mcp }, slow } = server
  return {
    driver,
    revision,
    name: 'audited',
    instructions,
    tools: await namesOf(server),
    checked: () => messages.length,
    hearing: () => mcp.stats().streams > 0,
    calling: () => mcp.stats().calls > 0,
    async toggle (name, on) {
      if (on) mcp.tools.enable(name)
      else mcp.tools.disable(name)
    },
    slow: async () => slow.map(({ outcome }) => outcome),
    gone: () => until(() => JSON.stringify(mcp.stats()) === '{"sessions":0,"streams":0,"calls":0}', PATIENCE)
  }
}

/** An app whose endpoint is in an encapsulated scope. */
export async function nested (t: Test, outer: string, inner: string): Promise<{ url: string }> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(async scope => {
    await scope.register(async scope => {
      await scope.register(mcpPlugin, options)
      scope.mcp.tools.add({ name: 'where', handler: () => `${outer}${inner}` })
    }, { prefix: inner })
  }, { prefix: outer })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${outer}${inner}/mcp` }
}
