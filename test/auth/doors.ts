// Every way into an endpoint, with whatever credentials.
import type { OutgoingHttpHeaders } from 'node:http'
import { Inbox } from '../support/stdio.js'
import { send, type Answer } from '../support/http.js'

export const ORIGIN = 'https://app.example'
export const WELL_KNOWN = '/.well-known/oauth-protected-resource'

export interface Door {
  name: string
  method: string
  path: string
  headers?: OutgoingHttpHeaders
  body?: unknown
  /** What a caller gets who may enter. */
  good: number
  /** It has no lock: everybody gets that. */
  open?: true
}

/** An array is a header that comes several times. */
export interface Credentials { headers?: Record<string, string | string[]>, query?: string }

const SSE = { accept: 'text/event-stream' }
const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'run' } }
const ping = { jsonrpc: '2.0', id: 8, method: 'ping' }
const initialize = (protocolVersion: string) => ({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } } })

function post (name: string, body: unknown, headers: OutgoingHttpHeaders = {}, { path = '/mcp', good = 200 } = {}): Door {
  return { name, method: 'POST', path, headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }, body, good }
}

function modern (method: string, params: Record<string, unknown> = {}): Door {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(typeof params.name === 'string' && { 'mcp-name': params.name }) }
  return post(`${method} of 2026-07-28`, { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: META } }, headers)
}

/** What the one who may enter has begun. */
export interface Begun { session: OutgoingHttpHeaders, batching: OutgoingHttpHeaders, lastEventId: string, messages: string }
export type Enter = (door: Door) => Promise<Answer>

/** Goes to a door, with credentials. */
export function enter (url: string, { method, path, headers, body }: Door, { headers: more, query = '' }: Credentials): Promise<Answer> {
  const target = new URL(path, url)
  target.search += query === '' ? '' : `${target.search === '' ? '?' : '&'}${query}`
  return send(target.href, { method, headers: { ...headers, ...more } as OutgoingHttpHeaders, body: body === undefined ? undefined : JSON.stringify(body) }, new Inbox(), () => {}).answer
}

/** Sessions, a stream that was lost, and one of HTTP+SSE that is open. */
export async function begin (enter: Enter): Promise<Begun> {
  const open = async (version: string) => ({ 'mcp-session-id': (await enter(post('', initialize(version)))).headers['mcp-session-id'] as string, 'mcp-protocol-version': version })
  const [session, batching] = [await open('2025-11-25'), await open('2025-03-26')]
  const first = async (headers: OutgoingHttpHeaders) => {
    const answer = await enter({ name: '', method: 'GET', path: '/mcp', headers: { ...SSE, ...headers }, good: 200 })
    while (answer.events.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
    return { answer, event: answer.events[0] }
  }
  const lost = await first(session)
  lost.answer.close()
  return { session, batching, lastEventId: lost.event?.id as string, messages: (await first({})).event?.data as string }
}

export function doorsOf ({ session, batching, lastEventId, messages }: Begun): Door[] {
  const get = (name: string, headers: OutgoingHttpHeaders): Door => ({ name, method: 'GET', path: '/mcp', headers: { ...SSE, ...headers }, good: 200 })
  const open = (method: string, path: string, good: number, headers: OutgoingHttpHeaders = {}): Door => ({ name: `${method} ${path}`, method, path, headers, good, open: true })
  const asking = { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  return [
    ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map(version => post(`initialize of ${version}`, initialize(version))),
    post('a call in a session', call, session), post('a call without one', call), post('with a slash', call, {}, { path: '/mcp/' }), post('a call for a stream', call, { ...session, accept: 'text/event-stream' }),
    post('a batch', [call, ping], batching), post('a batch without a session', [call, ping], { 'mcp-protocol-version': '2025-03-26' }),
    post('a notification', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, session, { good: 202 }), post('an answer', { jsonrpc: '2.0', id: 'x', result: {} }, session, { good: 202 }),
    modern('server/discover'), modern('tools/list'), modern('tools/call', { name: 'run' }), modern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    get('the stream of a session', session), get('the rest of a stream', { ...session, 'last-event-id': lastEventId }), get('HTTP+SSE', {}), post('a message of HTTP+SSE', call, {}, { path: messages, good: 202 }),
    { name: 'PUT', method: 'PUT', path: '/mcp', good: 405 },
    open('OPTIONS', '/mcp', 204, asking), open('GET', `${WELL_KNOWN}/mcp`, 200), open('GET', WELL_KNOWN, 200), open('OPTIONS', `${WELL_KNOWN}/mcp`, 204, asking),
    ...[batching, session].map((headers): Door => ({ name: 'DELETE', method: 'DELETE', path: '/mcp', headers, good: 204 }))
  ]
}
