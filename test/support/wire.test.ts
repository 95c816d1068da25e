import t from 'tap'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { checkDefinition, checkWire, revisions, specAvailable, specFolder, type About, type Revision } from './wire.js'

const skip = specAvailable || process.env.CI ? false : 'the specification is not at hand'
const answer = (result: unknown) => ({ jsonrpc: '2.0', id: 1, result })
const failure = (code: number, data?: unknown) => ({ jsonrpc: '2.0', id: 1, error: { code, message: 'no', ...(data === undefined ? {} : { data }) } })
const note = (method: string, params?: unknown) => ({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) })

t.test('every example of 2026-07-28 is valid', { skip }, async t => {
  const folder = join(specFolder, '2026-07-28', 'examples')
  let seen = 0
  for (const definition of readdirSync(folder)) {
    for (const file of readdirSync(join(folder, definition))) {
      const value = JSON.parse(readFileSync(join(folder, definition, file), 'utf8'))
      t.same(checkDefinition('2026-07-28', definition, value), [], `${definition}/${file}`)
      seen++
    }
  }
  t.ok(seen > 100, `${seen} examples`)
})

t.test('the examples that are whole messages of a server pass the wire check', { skip }, async t => {
  const methods: Record<string, string> = {
    CallToolResultResponse: 'tools/call',
    CompleteResultResponse: 'completion/complete',
    DiscoverResultResponse: 'server/discover',
    GetPromptResultResponse: 'prompts/get',
    ListPromptsResultResponse: 'prompts/list',
    ListResourceTemplatesResultResponse: 'resources/templates/list',
    ListResourcesResultResponse: 'resources/list',
    ListToolsResultResponse: 'tools/list',
    ReadResourceResultResponse: 'resources/read',
    SubscriptionsListenResultResponse: 'subscriptions/listen'
  }
  const folder = join(specFolder, '2026-07-28', 'examples')
  let seen = 0
  for (const definition of readdirSync(folder)) {
    if (!/(ResultResponse|Notification)$/.test(definition)) continue
    for (const file of readdirSync(join(folder, definition))) {
      const message = JSON.parse(readFileSync(join(folder, definition, file), 'utf8'))
      const problems = checkWire('2026-07-28', message, { method: methods[definition] })
      // This example has no caching hints, which server/utilities/caching § Cacheable Results asks for; its definition
      // lets it through as an InputRequiredResult.
      if (file === 'read-resource-result-response.json') t.not(problems.length, 0, file)
      else t.same(problems, [], `${definition}/${file}`)
      seen++
    }
  }
  t.ok(seen > 15, `${seen} messages`)
})

const tool = { name: 'a', inputSchema: { type: 'object' } }
const hints = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const text = { type: 'text', text: 'x' }
const audio = { type: 'audio', data: 'aa==', mimeType: 'audio/wav' }

const passes: Array<[string, Revision, unknown, About?]> = [
  ['a list of 2024-11-05', '2024-11-05', answer({ tools: [tool] }), { method: 'tools/list' }],
  ['an empty result', '2025-03-26', answer({}), { method: 'ping' }],
  ['audio where it exists', '2025-03-26', answer({ content: [audio] }), { method: 'tools/call' }],
  ['progress with a token of 0', '2025-06-18', note('notifications/progress', { progressToken: 0, progress: 1 })],
  ['a list of 2026-07-28', '2026-07-28', answer({ tools: [tool], ...hints }), { method: 'tools/list' }],
  ['an error without id when it could not be read', '2024-11-05', { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no' } }, { idUnknown: true }],
  ['an error of the application', '2026-07-28', failure(7)],
  ['a request of the server', '2025-11-25', { jsonrpc: '2.0', id: 1, method: 'ping' }],
  ['a question instead of a result', '2026-07-28', answer({ resultType: 'input_required', requestState: 'x' }), { method: 'tools/call' }],
  ['a task of 2025-11-25', '2025-11-25', answer({ task: { taskId: 'a', status: 'working', createdAt: 'x', lastUpdatedAt: 'x', ttl: null } }), { method: 'tools/call' }],
  ['the versions that are spoken', '2026-07-28', failure(-32022, { supported: ['2026-07-28'], requested: 'x' })]
]

const faults: Array<[string, Revision, unknown, About?]> = [
  ['no object', '2025-11-25', [answer({})]],
  ['nothing of JSON-RPC', '2025-11-25', { jsonrpc: '2.0' }],
  ['both members', '2025-11-25', { ...answer({}), error: { code: 1, message: 'x' } }],
  ['a schema without type', '2025-11-25', answer({ tools: [{ name: 'a', inputSchema: {} }] }), { method: 'tools/list' }],
  ['audio too early', '2024-11-05', answer({ content: [audio] }), { method: 'tools/call' }],
  ['a link too early', '2025-03-26', answer({ content: [{ type: 'resource_link', uri: 'a:b', name: 'x' }] }), { method: 'tools/call' }],
  ['no resultType', '2026-07-28', answer({ content: [text] }), { method: 'tools/call' }],
  ['a resultType of no one', '2026-07-28', answer({ content: [text], resultType: 'partial' }), { method: 'tools/call' }],
  ['no hints for caches', '2026-07-28', answer({ tools: [tool], resultType: 'complete' }), { method: 'tools/list' }],
  ['a question from a list', '2026-07-28', answer({ resultType: 'input_required', requestState: 'x' }), { method: 'tools/list' }],
  ['a result for a method of the past', '2026-07-28', answer({ resultType: 'complete' }), { method: 'ping' }],
  ['a result that nobody asked for', '2025-11-25', answer({})],
  ['a request of the server', '2026-07-28', { jsonrpc: '2.0', id: 1, method: 'ping' }],
  ['an error without id', '2025-11-25', { jsonrpc: '2.0', error: { code: -32600, message: 'x' } }],
  ['a null id', '2025-11-25', { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'x' } }],
  ['a code that is no integer', '2025-06-18', failure(1.5)],
  ['no versions named', '2026-07-28', failure(-32022)],
  ['a code of the past', '2026-07-28', failure(-32002)],
  ['a code without a meaning', '2026-07-28', failure(-32050)],
  ['a notification nobody knows', '2025-11-25', note('notifications/news')],
  ['a notification of the future', '2025-11-25', note('notifications/subscriptions/acknowledged', { notifications: {} })],
  ['a notification with an id', '2025-11-25', { ...note('notifications/tools/list_changed'), id: 1 }],
  ['a request without one', '2025-11-25', note('ping')],
  ['progress without a token', '2025-03-26', note('notifications/progress', { progress: 1 })],
  ['no jsonrpc member', '2024-11-05', { method: 'notifications/tools/list_changed' }]
]

t.test('messages as they should be', { skip }, async t => {
  for (const [title, revision, message, about] of passes) t.same(checkWire(revision, message, about), [], title)
})

t.test('messages as they should not be', { skip }, async t => {
  for (const [title, revision, message, about] of faults) t.not(checkWire(revision, message, about).length, 0, title)
})

t.test('a definition that a revision does not have', { skip }, async t => {
  t.match(checkDefinition('2024-11-05', 'DiscoverResult', {}), ['2024-11-05 defines no DiscoverResult'])
})

t.test('without the schemas the check says so once, and fails in CI', async t => {
  const nowhere = join(t.testdir({}), 'nowhere')
  t.notOk(existsSync(nowhere))
  const script = `
    import { checkWire, specAvailable } from ${JSON.stringify(new URL('wire.js', import.meta.url).href)}
    const wrong = checkWire('2025-11-25', 7).concat(checkWire('2025-11-25', 7))
    console.log(JSON.stringify({ specAvailable, count: wrong.length }))`
  const run = (ci: string) => spawnSync(process.execPath, [...process.execArgv, '--input-type=module', '-e', script], {
    env: { ...process.env, MCP_SPEC: nowhere, CI: ci }, encoding: 'utf8'
  })
  const here = run('')
  t.same(JSON.parse(here.stdout), { specAvailable: false, count: 0 })
  t.equal(here.stderr.split('NO WIRE CHECK').length - 1, 1, 'one line')
  t.same(JSON.parse(run('true').stdout), { specAvailable: false, count: 2 })
})

t.test('all five revisions can be checked', { skip }, async t => {
  t.same(revisions.filter(revision => checkDefinition(revision, 'JSONRPCRequest', { jsonrpc: '2.0', id: 1, method: 'x' }).length > 0), [])
})
