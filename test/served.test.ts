import t from 'tap'
import { ServedRevision } from '../lib/served.js'
import type { Feature, Method } from '../lib/method.js'
import { methodOf, revisionOf } from './support/doubles.js'

const serverInfo = { name: 'unit', version: '1' }
const silent = { name: 'notifications/cancelled', receive () {} }
const tools: Feature = { methods: [methodOf('tools/list', () => ({})), methodOf('x/y', () => ({}))], notifications: [silent, { name: 'notifications/x', receive () {} }] }

t.test('it knows the methods that the revision has and the features offer', async t => {
  const prompts = { methods: [methodOf('prompts/list', () => ({})), methodOf('server/discover', () => ({}))], offered: false }
  const served = new ServedRevision(revisionOf('2025-11-25'), [tools, prompts], serverInfo)
  t.strictSame([...served.methods.keys()], ['tools/list'])
  t.strictSame([...served.listeners.values()], [silent])
  t.equal(served.methods.get('tools/list')?.check({}), undefined)
  t.match(served.methods.get('tools/list')?.check(7), /must be object/)
  served.offer(prompts)
  t.strictSame([...served.methods.keys()], ['tools/list', 'prompts/list'], 'from then on, as far as the revision has them')
  const offered = new ServedRevision(revisionOf('2026-07-28'), [{ ...prompts, offered: true }], serverInfo)
  t.strictSame([...offered.methods.keys()], ['prompts/list', 'server/discover'])
})

t.test('a result becomes text in the words of the revision, and what is shared is kept', async t => {
  const { encode } = revisionOf('2026-07-28')
  let encoded = 0
  const revision = { ...revisionOf('2026-07-28'), encode: (...what: Parameters<typeof encode>) => { encoded++; return encode(...what) } }
  const served = new ServedRevision(revision, [], serverInfo)
  const once = methodOf('x', () => ({}))
  const shared: Method = { ...once, shared: true }
  const result = { a: 1 }
  const text = served.encode(once, result)
  t.match(JSON.parse(text), { a: 1, resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } })
  t.equal(served.encode(once, result), text)
  t.equal(encoded, 2)
  for (let i = 0; i < 3; i++) t.equal(served.encode(shared, result), text)
  t.equal(encoded, 3)
  served.encode(shared, { a: 1 })
  t.equal(encoded, 4, 'another object is another result')
})
