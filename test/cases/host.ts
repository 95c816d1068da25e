// What the cases share: apps with something of their own around the plugin, and a few ways to look at an answer.
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { Answer } from '../support/http.js'

/** How long to wait for what takes no time on a machine with nothing else to do. */
export const PATIENCE = 20_000

export interface Host { app: FastifyInstance, base: string, port: number }

/** An app that `setup` fills; it listens and is closed with the test. */
export async function host (t: Test, setup: (app: FastifyInstance) => unknown, options: FastifyServerOptions = {}): Promise<Host> {
  const app = Fastify(options)
  t.teardown(() => app.close())
  await setup(app)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  return { app, port, base: `http://127.0.0.1:${port}` }
}

/** A refusal in the shape of JSON-RPC, and nothing of the framework or of the inside in it. */
export function rpcRefusal (t: Test, answer: Answer, status: number | number[], code?: number | number[], what = 'refused') {
  t.ok([status].flat().includes(answer.status), `${what}: HTTP ${status}, came ${answer.status}`)
  t.equal(answer.type, 'application/json', `${what}: JSON`)
  t.match(answer.json, { jsonrpc: '2.0', error: { code: Number, message: String } }, `${what}: a JSON-RPC error`)
  if (code !== undefined) t.ok([code].flat().includes(answer.json.error.code), `${what}: code ${code}, came ${answer.json.error.code}`)
  t.notMatch(answer.text, /FST_|node_modules|\n? {4}at |\.[jt]s:\d/, `${what}: nothing of the inside`)
}

export const initializeBody = (id: unknown = 1, protocolVersion: unknown = '2025-11-25', more: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0', id, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: { name: 'case', version: '1' }, ...more }
})

export const pingBody = (id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'ping' })
export const callBody = (name: string, args?: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, ...(args !== undefined && { arguments: args }) } })
