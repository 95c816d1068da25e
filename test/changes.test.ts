import t from 'tap'
import { anything, changeText } from '../lib/changes.js'
import type { Change } from '../lib/changes.js'

t.test('each change has its notification', async t => {
  const rows: [Change, object][] = [
    [{ kind: 'tools' }, { method: 'notifications/tools/list_changed' }],
    [{ kind: 'prompts' }, { method: 'notifications/prompts/list_changed' }],
    [{ kind: 'resources' }, { method: 'notifications/resources/list_changed' }],
    [{ kind: 'resource', uri: 'mem://a' }, { method: 'notifications/resources/updated', params: { uri: 'mem://a' } }]
  ]
  for (const [change, message] of rows) t.strictSame(JSON.parse(changeText(change)), { jsonrpc: '2.0', ...message }, change.kind)
})

t.test('anything is the lists, and the resources that somebody listens to', async t => {
  const lists = [{ kind: 'tools' }, { kind: 'prompts' }, { kind: 'resources' }]
  t.strictSame(anything(), lists)
  t.strictSame(anything(new Set(['mem://a', 'mem://b'])), [...lists, { kind: 'resource', uri: 'mem://a' }, { kind: 'resource', uri: 'mem://b' }])
})

t.test('what belongs to a subscription says so in _meta', async t => {
  const meta = { 'io.modelcontextprotocol/subscriptionId': 7 }
  t.strictSame(JSON.parse(changeText({ kind: 'tools' }, meta)), { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: { _meta: meta } })
  t.strictSame(JSON.parse(changeText({ kind: 'resource', uri: 'a' }, meta)).params, { _meta: meta, uri: 'a' })
})
