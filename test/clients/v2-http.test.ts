// @modelcontextprotocol/client 2.x over HTTP: as a client of the handshake revisions, left to find out, and pinned to 2026-07-28.
import { SSEClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import type { McpOptions } from '../../types/index.js'
import type { Revision } from '../support/wire.js'
import { v2 } from './driver.js'
import { Recorder } from './record.js'
import { scenarios } from './scenarios.js'
import { serve, subjectOf } from './server.js'
import { client, pinned, type Negotiation } from './v2.js'

const modes: Array<[string, Revision, Negotiation]> = [
  ['legacy', '2025-11-25', { mode: 'legacy' }],
  ['auto', '2026-07-28', { mode: 'auto' }],
  ['pinned', '2026-07-28', pinned]
]

for (const [title, revision, negotiation] of modes) {
  const subject = async (t: Test, options?: McpOptions & { prefix?: string }) => {
    const server = await serve(t, options)
    const { driver, recorder } = client(t, server.url, revision, negotiation)
    return subjectOf(server, driver, recorder)
  }
  t.test(title, t => scenarios(t, t => subject(t)))
  if (title !== 'auto') t.test(`${title}, below a prefix`, t => scenarios(t, t => subject(t, { prefix: '/api/v1' })))
}

t.test('its client for HTTP+SSE', t => scenarios(t, async t => {
  const server = await serve(t)
  const recorder = new Recorder(t, '2024-11-05')
  return subjectOf(server, v2(() => new SSEClientTransport(new URL(server.url), { fetch: recorder.fetch }), undefined), recorder)
}))
