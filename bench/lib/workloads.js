import { greet, tools } from './tools.js'

// What is measured: the message of every request, the headers a client sends with it, and what a plain route has to check and to answer.

const ID = 1000
const client = { name: 'bench', version: '1.0.0' }
export const serverInfo = { name: 'bench-server', version: '1.0.0' }

const HANDSHAKE = '2025-11-25'
const STATELESS = '2026-07-28'
const META = 'io.modelcontextprotocol'

const greeting = { name: greet.name, arguments: { name: 'Grace Hopper' } }
const wrong = { name: greet.name, arguments: { name: {} } }
const identity = { [`${META}/protocolVersion`]: STATELESS, [`${META}/clientInfo`]: client, [`${META}/clientCapabilities`]: {} }

const request = (method, params) => ({ jsonrpc: '2.0', id: ID, method, params })
const string = { type: 'string' }
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })

const envelope = params => object({ jsonrpc: { const: '2.0' }, id: { type: 'integer' }, method: string, params })
const callParams = { name: { const: greet.name }, arguments: greet.inputSchema }
const content = { type: 'array', items: object({ type: string, text: string }) }
const reply = result => object({ jsonrpc: string, id: { type: 'integer' }, result })
const greeted = args => ({ content: [{ type: 'text', text: greet.handler(args) }] })

export const opening = request('initialize', { protocolVersion: HANDSHAKE, capabilities: {}, clientInfo: client })

/**
 * budget: CPU time of the plugin divided by that of the plain route, at most. warm: requests that each answers before it is measured.
 * message, bad: what is sent, and what has to be refused. body, response: the schemas of the plain route. answer: its result.
 */
export const workloads = {
  W1: {
    title: `tools/call, ${HANDSHAKE}, in a session`,
    budget: 1.15,
    warm: 30_000,
    session: true,
    headers: { 'mcp-protocol-version': HANDSHAKE },
    message: request('tools/call', greeting),
    bad: request('tools/call', wrong),
    body: envelope(object(callParams)),
    response: reply(object({ content })),
    answer: params => greeted(params.arguments)
  },
  W2: {
    title: `tools/call, ${STATELESS}`,
    budget: 1.15,
    warm: 30_000,
    session: false,
    headers: { 'mcp-protocol-version': STATELESS, 'mcp-method': 'tools/call', 'mcp-name': greet.name },
    message: request('tools/call', { ...greeting, _meta: identity }),
    bad: request('tools/call', { ...wrong, _meta: identity }),
    body: envelope(object({ ...callParams, _meta: { type: 'object' } })),
    response: reply(object({ resultType: string, _meta: object({ [`${META}/serverInfo`]: object({ name: string, version: string }) }), content })),
    answer: params => ({ resultType: 'complete', _meta: { [`${META}/serverInfo`]: serverInfo }, ...greeted(params.arguments) })
  },
  W3: {
    title: `tools/list, ${tools.length} tools, ${HANDSHAKE}`,
    budget: 0.4,
    warm: 3_000,
    session: true,
    headers: { 'mcp-protocol-version': HANDSHAKE },
    message: request('tools/list', {}),
    body: envelope({ type: 'object' }),
    answer: () => ({ tools: tools.map(({ handler, ...shown }) => shown) })
  }
}
