import t from 'tap'
import { revisions, Revisions } from '../../lib/revisions/index.js'
import { META } from '../../lib/schemas/envelope.js'
import type { Revision } from '../../types/index.js'
import { revisionOf } from '../support/doubles.js'
import { thrown } from '../support/thrown.js'

const handshakes: Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const serving = (...versions: Revision[]) => new Revisions(versions.map(version => ({ revision: revisionOf(version) })))
const all = serving(...handshakes, '2026-07-28')
const old = serving(...handshakes)
const newest = serving('2026-07-28')

const request = (method: string, params?: unknown) => ({ jsonrpc: '2.0' as const, id: 1, method, params } as never)
const meta = (version: unknown, more: object = {}) => ({ _meta: { [META.protocolVersion]: version, [META.clientCapabilities]: {}, ...more } })
const initialize = (protocolVersion: unknown) => request('initialize', { protocolVersion })
const bound = (from: typeof all, version: Revision) => from.get(version)

t.test('all five are known, oldest first', async t => {
  t.strictSame(revisions.map(one => one.version), [...handshakes, '2026-07-28'])
  t.strictSame(all.versions, ['2026-07-28', ...[...handshakes].reverse()], 'clients are told the newest first')
})

t.test('a message speaks the revision that it says, that its session has, or that its header names', async t => {
  const plain = request('tools/list')
  const rows: [string, typeof all, unknown, string | undefined, Revision | undefined, Revision][] = [
    ['initialize with a version that is served', all, initialize('2024-11-05'), undefined, undefined, '2024-11-05'],
    ['initialize with a version that nobody knows', all, initialize('1999-01-01'), undefined, undefined, '2025-11-25'],
    ['initialize with 2026-07-28, which has no handshake', all, initialize('2026-07-28'), undefined, undefined, '2025-11-25'],
    ['initialize with a version that is not served here', serving('2025-03-26', '2025-06-18'), initialize('2025-11-25'), undefined, undefined, '2025-06-18'],
    ['initialize in spite of a header', all, initialize('2025-06-18'), '2025-11-25', undefined, '2025-06-18'],
    ['initialize in spite of a session', all, initialize('2025-06-18'), undefined, '2025-03-26', '2025-06-18'],
    ['a message in a session', all, plain, undefined, '2025-06-18', '2025-06-18'],
    ['a message in a session, with its header', all, plain, '2025-06-18', '2025-06-18', '2025-06-18'],
    ['a message with a header alone', all, plain, '2025-11-25', undefined, '2025-11-25'],
    ['a message with nothing', all, plain, undefined, undefined, '2025-03-26'],
    ['a message with nothing where 2025-03-26 is not served', serving('2025-06-18', '2025-11-25'), plain, undefined, undefined, '2025-06-18'],
    ['a message with its own context', all, request('tools/list', meta('2026-07-28')), '2026-07-28', undefined, '2026-07-28'],
    ['a message with its own context in a session', all, request('tools/list', meta('2026-07-28')), '2026-07-28', '2025-11-25', '2026-07-28'],
    ['_meta without a version', all, request('tools/list', { _meta: { progressToken: 1 } }), undefined, undefined, '2025-03-26'],
    ['_meta with a version where no revision has one', old, request('tools/list', meta('2026-07-28')), undefined, '2025-11-25', '2025-11-25']
  ]
  for (const [what, from, message, header, session, version] of rows) {
    t.equal(from.choose(message as never, header, session && bound(from, session)).revision.version, version, what)
  }
})

t.test('what cannot be served is refused with a code and a status', async t => {
  const list = (params?: unknown) => request('tools/list', params)
  const clientInfo = { [META.clientInfo]: 'me' }
  const rows: [string, typeof all, unknown, string | undefined, Revision | undefined, number, RegExp][] = [
    ['a header that no revision has', all, list(), '1999-01-01', undefined, -32600, /"1999-01-01".*2026-07-28/],
    ['a header beside the session', all, list(), '2025-06-18', '2025-11-25', -32600, /session speaks 2025-11-25/],
    ['a context without a header', all, list(meta('2026-07-28')), undefined, undefined, -32020, /missing/],
    ['a context and another header', all, list(meta('2026-07-28')), '2025-11-25', undefined, -32020, /2025-11-25.*2026-07-28/],
    ['a header without a context', all, list(), '2026-07-28', undefined, -32602, /protocolVersion/],
    ['a context that no revision has', all, list(meta('2027-01-01')), '2027-01-01', undefined, -32022, /2027-01-01/],
    ['a context of a handshake revision', all, list(meta('2025-11-25')), '2025-11-25', undefined, -32600, /initialize/],
    ['a version that is no string', all, list(meta(5)), '5', undefined, -32602, /must be a string/],
    ['no capabilities', all, list(meta('2026-07-28', { [META.clientCapabilities]: undefined })), '2026-07-28', undefined, -32602, /clientCapabilities/],
    ['a client that is no object', all, list(meta('2026-07-28', clientInfo)), '2026-07-28', undefined, -32602, /clientInfo/],
    ['a log level that is none', all, list(meta('2026-07-28', { [META.logLevel]: 'loud' })), '2026-07-28', undefined, -32602, /logLevel.*emergency/],
    ['initialize where there is no handshake', newest, initialize('2025-11-25'), undefined, undefined, -32022, /2026-07-28/],
    ['a message with nothing where there is no handshake', newest, list(), undefined, undefined, -32020, /missing.*2026-07-28/],
    ['an old header where there is no handshake', newest, list(), '2025-11-25', undefined, -32022, /2026-07-28/]
  ]
  for (const [what, from, message, header, session, code, sentence] of rows) {
    const error = thrown(() => from.choose(message as never, header, session && bound(from, session)))
    t.match(error, { code, message: sentence }, what)
    t.ok([400, undefined].includes(error.status), `${what}: the door makes that a 400`)
  }
})

t.test('a version that is not served is answered with those that are', async t => {
  const error = thrown(() => all.choose(request('tools/list', meta('1900-01-01')), '1900-01-01', undefined))
  t.strictSame(error.data, { supported: all.versions, requested: '1900-01-01' })
})

t.test('what a client sends is shown in short', async t => {
  t.ok(thrown(() => all.choose(request('x'), 'x'.repeat(5000), undefined)).message.length < 300)
  t.match(thrown(() => all.choose(request('x', meta({ toString: 1 })), undefined, undefined)).message, /_meta says/)
})

t.test('which messages open a session, and which stand alone', async t => {
  const rows: [string, typeof all, unknown, boolean, boolean][] = [
    ['initialize', all, initialize('2025-11-25'), true, false],
    ['initialize with a context', all, request('initialize', meta('2026-07-28')), false, true],
    ['a call', all, request('tools/call'), false, false],
    ['a call with a context', all, request('tools/call', meta('2026-07-28')), false, true],
    ['a call with a context that nobody reads', old, request('tools/call', meta('2026-07-28')), false, false],
    ['_meta that is no object', all, request('tools/call', { _meta: 'x' }), false, false]
  ]
  for (const [what, from, message, opens, alone] of rows) t.strictSame([from.opens(message as never), from.standsAlone(message as never)], [opens, alone], what)
})

t.test('a header speaks of requests with their own context where such a revision is served', async t => {
  t.strictSame([all.isStateless('2026-07-28'), all.isStateless('2025-11-25'), all.isStateless(undefined), old.isStateless('2026-07-28')], [true, false, false, false])
})

t.test('a batch speaks the revision of its session or header, else 2025-03-26', async t => {
  const items = [request('ping'), 5, null]
  t.equal(all.ofBatch(items, undefined, undefined).revision.version, '2025-03-26')
  t.equal(all.ofBatch(items, '2025-11-25', undefined).revision.version, '2025-11-25')
  t.equal(all.ofBatch(items, undefined, bound(all, '2025-06-18')).revision.version, '2025-06-18')
  t.match(thrown(() => all.ofBatch(items, '2025-03-26', bound(all, '2025-06-18'))), { code: -32600, status: 400 })
  t.match(thrown(() => all.ofBatch(items, '1999-01-01', undefined)), { code: -32600, message: /"1999-01-01"/ })
  t.match(thrown(() => newest.ofBatch(items, undefined, undefined)), { code: -32600, message: /batch is not taken here/ })
  t.match(thrown(() => all.ofBatch([...items, request('ping', meta('2026-07-28'))], undefined, undefined)), { code: -32600, message: /one at a time/ })
})
