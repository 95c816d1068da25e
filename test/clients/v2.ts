// @modelcontextprotocol/client 2.x over HTTP, with all that it is sent checked.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ClientOptions, Transport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import type { Revision } from '../support/wire.js'
import { v2 } from './driver.js'
import { Recorder } from './record.js'

export type Negotiation = ClientOptions['versionNegotiation']
export const pinned: Negotiation = { mode: { pin: '2026-07-28' } }

const endSession = async (transport: Transport) => {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) await transport.terminateSession()
}

export function client (t: Test, url: string, revision: Revision, negotiation: Negotiation) {
  const recorder = new Recorder(t, revision)
  const transport = () => new StreamableHTTPClientTransport(new URL(url), { fetch: recorder.fetch })
  return { driver: v2(transport, negotiation, endSession), recorder }
}
