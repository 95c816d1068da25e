import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import * as errors from '../lib/errors.js'
import { CallCancelled, CallTimeout, InputFailure, InputRejectedError, InputRequired, InputUnsupportedError, McpError, NoStreamError, Refusal, rpcError, ToolError } from '../lib/errors.js'
import type { ErrorName } from '../lib/errors.js'

t.test('each error of the table has its code and its status', async t => {
  const rows: Record<ErrorName, [number, number | undefined]> = {
    ParseError: [-32700, 400],
    InvalidRequest: [-32600, 400],
    MethodNotFound: [-32601, undefined],
    InvalidParams: [-32602, undefined],
    InternalError: [-32603, undefined],
    Cancelled: [-32603, undefined],
    HeaderMismatch: [-32020, 400],
    MissingCapability: [-32021, undefined],
    UnsupportedVersion: [-32022, 400],
    Unauthorized: [-32600, 401],
    Forbidden: [-32600, 403],
    InsufficientScope: [-32600, 403],
    SessionNotFound: [-32600, 404],
    MethodNotAllowed: [-32600, 405],
    NotAcceptable: [-32600, 406],
    BodyTooLarge: [-32600, 413],
    UnsupportedMediaType: [-32600, 415],
    Unavailable: [-32603, 503]
  }
  for (const [name, [code, status]] of Object.entries(rows)) t.match(rpcError(name as ErrorName), { code, status, name: 'McpError' }, name)
})

t.test('no code is one that 2026-07-28 forbids', async t => {
  const known = new Set([-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022])
  for (const name of ['ParseError', 'Forbidden', 'Unavailable', 'SessionNotFound', 'HeaderMismatch'] as const) t.ok(known.has(rpcError(name).code), name)
})

t.test('a detail follows the sentence of its error, and data goes with it', async t => {
  t.equal(rpcError('MethodNotFound').message, 'Method not found')
  t.match(rpcError('MethodNotFound', 'x/y', { a: 1 }), { message: 'Method not found: x/y', data: { a: 1 } })
})

t.test('a protocol error of an author has no status of its own', async t => {
  const error = new McpError(-32000, 'no', { hint: 1 })
  t.ok(error instanceof Error)
  t.match(error, { code: -32000, message: 'no', data: { hint: 1 }, status: undefined, name: 'McpError' })
})

t.test('a tool error carries its message, its content and its cause', async t => {
  const cause = new Error('deeper')
  const content = [{ type: 'text' as const, text: 'look' }]
  t.match(new ToolError('no such city'), { message: 'no such city', name: 'ToolError', content: undefined })
  t.equal(new ToolError('x', { content }).content, content)
  t.equal(new ToolError('x', { cause }).cause, cause, 'the public types promise it for the log')
})

t.test('a refusal says when to come back where that helps', async t => {
  t.match(new Refusal('no', 12), { message: 'no', retryAfter: 12, headers: { 'retry-after': '12' } })
  t.match(new Refusal('no'), { retryAfter: undefined, headers: undefined })
})

t.test('the reasons of a signal are told apart by name', async t => {
  t.match(new CallTimeout(250), { name: 'TimeoutError', ms: 250, message: /250 ms/ })
  t.match(new CallCancelled('gone'), { name: 'AbortError', message: 'gone' })
})

t.test('each error for authors is named by its code and says what to do', async t => {
  const made = Object.entries(errors).filter(([name]) => name.startsWith('MCP_ERR_')) as [string, new (...args: string[]) => Error & { code: string }][]
  t.ok(made.length >= 6)
  for (const [name, AuthorError] of made) {
    const error = new AuthorError('one', 'two', 'three')
    t.match(error, { code: name, message: /\w+ \w+/ })
    t.notMatch(error.message, /%s/, `${name} has all its parts`)
  }
  t.match(new errors.MCP_ERR_TOOL_DUPLICATE('echo', '"a"', '"b"').message, /"echo".*"a".*"b"/)
  t.match(new errors.MCP_ERR_TWICE('/a', '/b').message, /first \/a, then \/b.*scope of its own/)
})

t.test('the public types name each error for authors where it can come', async t => {
  const folder = new URL('../types/', import.meta.url)
  const types = new Map(readdirSync(folder).map(file => [file, readFileSync(new URL(file, folder), 'utf8')]))
  const all = [...types.values()].join('')
  for (const name of Object.keys(errors)) if (name.startsWith('MCP_ERR_')) t.match(all, `\`${name}\``, name)
  for (const kind of ['TOOL', 'RESOURCE', 'PROMPT']) {
    const codes = Object.keys(errors).filter(name => name.startsWith(`MCP_ERR_${kind}_`))
    const [, added = ''] = new RegExp(`export interface ${kind.at(0)}${kind.slice(1).toLowerCase()}s \\{([\\s\\S]*?)\\n  add`).exec(types.get('mcp.d.ts') as string) ?? []
    t.strictSame([...added.matchAll(/`(MCP_ERR_\w+)`/g)].map(([, name]) => name).sort(), codes.sort(), `add of ${kind}`)
  }
})

t.test('a client that cannot be asked is told what it lacks, or the handler alone is', async t => {
  const needs = { elicitation: { form: {} } }
  const protocol = new InputUnsupportedError('no forms', needs, false)
  t.match(protocol, { name: 'InputUnsupportedError', code: -32021, capability: 'elicitation', data: { requiredCapabilities: needs } })
  t.match(protocol.saying('not run: no forms'), { name: 'InputUnsupportedError', message: 'not run: no forms', code: -32021, capability: 'elicitation', told: false, data: { requiredCapabilities: needs } })
  t.ok(protocol instanceof McpError)
  t.match(new InputUnsupportedError('no forms', needs, true), { code: -32603, capability: 'elicitation', data: undefined })
})

t.test('what a question can come to is told apart by name', async t => {
  t.match(new NoStreamError('none'), { name: 'NoStreamError', message: 'none' })
  t.match(new InputRejectedError('no', -1), { name: 'InputRejectedError', code: -1 })
  t.match(new InputRequired('ask first'), { name: 'InputRequired' })
  t.strictSame([new NoStreamError('x'), new InputRejectedError('x')].map(error => error instanceof InputFailure), [true, true])
})
