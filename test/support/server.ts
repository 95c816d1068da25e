// A server behind an app that is not started, for what needs a whole one.
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { settle } from '../../lib/options.js'
import { McpServer } from '../../lib/server.js'
import type { McpOptions } from '../../types/index.js'

export type Lines = Array<Record<string, any>>

/** An app whose log can be read. */
export function appOf (t: Test, log: Lines = []): FastifyInstance {
  const app = Fastify({ logger: { level: 'trace', stream: { write: line => { log.push(JSON.parse(line)) } } } })
  t.teardown(() => app.close())
  return app
}

export function serverOf (t: Test, options: McpOptions = {}) {
  const log: Lines = []
  const app = appOf(t, log)
  return { app, server: new McpServer(app, settle(options, 1_048_576)), log }
}
