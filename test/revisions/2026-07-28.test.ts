import t from 'tap'
import { revision20251125 } from '../../lib/revisions/2025-11-25.js'
import { revision20260728 as revision } from '../../lib/revisions/2026-07-28.js'
import { call, identity, list, others } from '../support/results.js'

const serverInfo = { 'io.modelcontextprotocol/serverInfo': JSON.parse(identity) }
const written = (method: string, result: Record<string, unknown>) => JSON.parse(revision.encode(method, result, identity))

t.test('every request carries its own context, and HTTP says what went wrong', async t => {
  t.match(revision, { version: '2026-07-28', stateless: true, batches: false, mirrors: true, unknownMethod: 404, badArguments: 'result' })
  t.strictSame(revision.statuses, { [-32021]: 400 })
  t.equal(revision.resourceNotFound, -32602)
})

t.test('the handshake and what needs a session are gone', async t => {
  const gone = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']
  t.strictSame([...revision20251125.requests].filter(name => !revision.requests.has(name)), gone)
  t.strictSame([...revision.requests].filter(name => !revision20251125.requests.has(name)), ['server/discover', 'subscriptions/listen'])
  t.strictSame([...revision.notifications], ['notifications/cancelled'])
})

t.test('each result is complete and says who gives it', async t => {
  const rows: [string, Record<string, unknown>, object][] = [
    ['a list', list, { ...list, _meta: serverInfo }],
    ['nothing', {}, { _meta: serverInfo }],
    ['nothing but undefined', { nextCursor: undefined }, { _meta: serverInfo }],
    ['one with _meta', call, { ...call, _meta: { ...serverInfo, ...call._meta } }],
    ['a value that is no object', { content: [], structuredContent: [1, null] }, { content: [], structuredContent: [1, null], _meta: serverInfo }]
  ]
  for (const [what, result, expected] of rows) t.strictSame(written('tools/call', result), { resultType: 'complete', ...expected }, what)
})

t.test('resources and prompts are shown as they are', async t => {
  for (const [method, result] of Object.entries(others)) t.strictSame(written(method, result), { resultType: 'complete', _meta: serverInfo, ...result }, method)
})

t.test('a result of another type keeps its type', async t => {
  t.strictSame(written('tools/call', { resultType: 'input_required', requestState: 's' }), { resultType: 'input_required', requestState: 's', _meta: serverInfo })
})

t.test('a member that only looks like the beginning changes nothing', async t => {
  t.strictSame(written('tools/call', { content: [{ type: 'text', text: '{"resultType":"x"}' }] }), { resultType: 'complete', _meta: serverInfo, content: [{ type: 'text', text: '{"resultType":"x"}' }] })
})
