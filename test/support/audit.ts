// Runs a table of audits: each an id, what the specification says and where, and a check of its own app.
import type { Test } from 'tap'
import { build, type BuildOptions, type Server } from './app.js'
import { httpSse, legacy, modern, type HttpPeer } from './http.js'
import { stdio, type Heard, type Peer, type Reply, type StdioPeer } from './stdio.js'
import type { Revision } from './wire.js'

export type Over = 'http' | 'stdio'
export const both: Over[] = ['http', 'stdio']

export interface ConnectOptions { handshake?: boolean, initialize?: Record<string, unknown>, meta?: Record<string, unknown> }

/** What is audited: an app of its own, spoken to in one revision over one transport. */
export interface Subject {
  over: Over
  revision: Revision
  server: Server
  /** A client on the transport that is audited: HTTP is HTTP+SSE in 2024-11-05 and Streamable HTTP in all others. */
  connect: (options?: ConnectOptions) => Promise<Peer>
  /** A client over Streamable HTTP, with what only that can do. */
  http: (options?: ConnectOptions) => Promise<HttpPeer>
  /** A client over stdio, with what only that can do. */
  stdio: (options?: ConnectOptions) => Promise<StdioPeer>
}

export interface Audit {
  /** Without the revision, as in `lifecycle/version-1`. */
  id: string
  /** The requirement, with its MUST, SHOULD or MAY. */
  says: string
  /** Page and section. */
  from: string
  over: Over[]
  since?: Revision
  until?: Revision
  server?: BuildOptions
  check: (t: Test, it: Subject) => Promise<void>
}

export async function run (t: Test, revision: Revision, audits: Audit[]) {
  const ids = new Set<string>()
  for (const audit of audits) {
    if (revision < (audit.since ?? revision) || revision > (audit.until ?? revision)) continue
    if (ids.has(audit.id)) throw new Error(`two audits are ${audit.id}`)
    ids.add(audit.id)
    for (const over of audit.over) {
      await t.test(`${revision}/${audit.id} over ${over}: ${audit.says} (${audit.from})`, async t => {
        const server = await build(t, { ...audit.server, listen: over === 'http' })
        await audit.check(t, subject(t, over, revision, server))
      })
    }
  }
}

function subject (t: Test, over: Over, revision: Revision, server: Server): Subject {
  const it: Subject = {
    over,
    revision,
    server,
    async http ({ meta, ...rest } = {}) {
      if (revision === '2026-07-28') return modern(server.url, { t, ...(meta === undefined ? {} : { meta }) })
      return await legacy(server.url, revision, { t, ...rest })
    },
    stdio: options => stdio(server.app, revision, { t, ...options }),
    connect (options) {
      if (over === 'stdio') return it.stdio(options)
      return revision === '2024-11-05' ? httpSse(server.url, { t, ...options }) : it.http(options)
    }
  }
  return it
}

/** The text of a tool's result. */
export const said = ({ result }: Reply): string => (result?.content ?? []).map((block: any) => block.text ?? '').join('')

/** A refusal: an error of this code, over HTTP with this status, and no result beside it. */
export function refused (t: Test, { status, messages, answer }: Heard, codes: number | number[], what: string, statuses: number | number[] = 400) {
  const allowed = [codes].flat()
  t.match(messages, [{ jsonrpc: '2.0', error: { message: String } }], `${what}: one error`)
  t.ok(allowed.includes(messages[0]?.error?.code), `${what}: code ${allowed.join(' or ')}, came ${messages[0]?.error?.code}`)
  // Over HTTP+SSE the refusal may come on the stream instead.
  const elsewhere = status === 202 && answer?.text === ''
  if (status !== undefined && !elsewhere) t.ok([statuses].flat().includes(status), `${what}: HTTP ${statuses}, came ${status}`)
}

/** Waits until something is so. */
export async function until (what: () => boolean, ms = 2000): Promise<boolean> {
  for (const end = Date.now() + ms; !what() && Date.now() < end;) await new Promise(resolve => setTimeout(resolve, 5))
  return what()
}

/** A client that was given trouble is still served. */
export async function alive (t: Test, client: Peer) {
  const { result } = await client.call('echo', { text: 'still here' })
  t.match(result, { content: [{ type: 'text', text: 'still here' }] }, 'later requests are served')
}
