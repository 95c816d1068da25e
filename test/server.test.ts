import t from 'tap'
import type { Change } from '../lib/changes.js'
import { dispatch } from '../lib/dispatch.js'
import { Exchange } from '../lib/exchange.js'
import type { McpServer } from '../lib/server.js'
import type { Subscription } from '../lib/subscriptions.js'
import type { McpOptions, Revision, Tool } from '../types/index.js'
import { FakeChannel } from './support/doubles.js'
import { serverOf } from './support/server.js'
import { thrown } from './support/thrown.js'
import { turn, until, wait } from './support/time.js'

const tool = (name: string, handler: (...what: any[]) => unknown = () => name) => ({ name, handler }) as unknown as Tool
const noStdio = async () => {}

/** What the server makes of one request. */
function ask (server: McpServer, version: Revision, method: string, params: Record<string, unknown> = {}) {
  const served = server.revisions.get(version)
  if (served === undefined) throw new Error(`${version} is not served`)
  const channel = new FakeChannel()
  const session = served.revision.stateless ? undefined : server.sessions.open('http', served)
  const exchange = new Exchange(server, served, { jsonrpc: '2.0', id: 1, method, params }, channel, session, undefined)
  dispatch(exchange)
  return { channel, exchange, session }
}

const names = (server: McpServer, version: Revision = '2025-11-25') => ask(server, version, 'tools/list').channel.answer.result.tools.map((one: Tool) => one.name)

class Ear implements Subscription {
  readonly heard: string[] = []
  ended = 0
  wants () { return true }
  deliver (change: Change) { this.heard.push(change.kind) }
  end () { this.ended++ }
}

t.test('a server serves the revisions it is set to, with the methods that each has', async t => {
  const { server } = serverOf(t, { revisions: ['2025-11-25', '2026-07-28'] })
  t.strictSame(server.revisions.versions, ['2026-07-28', '2025-11-25'])
  t.equal(server.revisions.get('2024-11-05'), undefined)
  const rows: [Revision, string[], string[]][] = [
    ['2025-11-25', ['initialize', 'logging/setLevel', 'ping', 'tools/call', 'tools/list'], ['notifications/cancelled', 'notifications/initialized']],
    ['2026-07-28', ['server/discover', 'subscriptions/listen', 'tools/call', 'tools/list'], ['notifications/cancelled']]
  ]
  for (const [version, methods, notifications] of rows) {
    const served = server.revisions.get(version)
    for (const method of methods) t.ok(served?.methods.has(method), `${version} has ${method}`)
    for (const one of notifications) t.ok(served?.listeners.has(one), `${version} takes ${one}`)
  }
  for (const method of ['initialize', 'ping', 'logging/setLevel']) t.notOk(server.revisions.get('2026-07-28')?.methods.has(method), method)
  for (const method of ['server/discover', 'subscriptions/listen']) t.notOk(server.revisions.get('2025-11-25')?.methods.has(method), method)
})

t.test('the server says who it is, the newest revision first, and what it can do', async t => {
  const options: McpOptions = { serverInfo: { name: 'n', version: '1', title: 'N' }, instructions: 'how', cache: { ttlMs: 5, cacheScope: 'private' } }
  const { server } = serverOf(t, options)
  const { result } = ask(server, '2026-07-28', 'server/discover').channel.answer
  t.match(result, {
    resultType: 'complete',
    supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
    capabilities: { tools: { listChanged: true }, logging: {} },
    instructions: 'how',
    ttlMs: 5,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': options.serverInfo }
  })
  const initialized = ask(server, '2025-11-25', 'initialize', { protocolVersion: '2025-11-25' }).channel.answer.result
  t.match(initialized, { protocolVersion: '2025-11-25', serverInfo: options.serverInfo, instructions: 'how', capabilities: { tools: { listChanged: true } } })
})

t.test('the text of a list is made once for each revision, and made anew when the list changes', async t => {
  const { app, server } = serverOf(t)
  const mcp = server.facade(app, noStdio, () => 0)
  mcp.tools.add(tool('a'))
  const [before, again] = [names(server), names(server)]
  t.strictSame([before, again], [['a'], ['a']])
  mcp.tools.add(tool('b'))
  t.strictSame(names(server), ['a', 'b'])
  mcp.tools.disable('a')
  t.strictSame(names(server, '2026-07-28'), ['b'])
  mcp.tools.enable('a')
  t.strictSame(names(server, '2024-11-05'), ['a', 'b'])
})

t.test('app.mcp adds, hides, shows and removes tools, and says whether there was one', async t => {
  const { app, server } = serverOf(t)
  const { tools } = server.facade(app, noStdio, () => 0)
  t.strictSame([tools.has('a'), tools.remove('a'), tools.enable('a'), tools.disable('a')], [false, false, false, false])
  t.equal(tools.add(tool('a')), undefined)
  t.strictSame([tools.has('a'), tools.disable('a'), tools.has('a'), tools.enable('a'), tools.remove('a'), tools.has('a')], [true, true, true, true, true, false])
})

t.test('what a facade adds belongs to its instance', async t => {
  const { app, server } = serverOf(t)
  const child = Object.create(app) as typeof app
  server.facade(child, noStdio, () => 0).tools.add(tool('mine', function (this: unknown, _, ctx) { return String(this === child && ctx.app === child) }))
  t.match(ask(server, '2025-11-25', 'tools/call', { name: 'mine' }).channel.answer.result, { content: [{ text: 'true' }] })
})

t.test('stats counts what is open', async t => {
  const { app, server } = serverOf(t)
  const mcp = server.facade(app, noStdio, () => 7)
  mcp.tools.add(tool('wait', () => new Promise(() => {})))
  t.strictSame(mcp.stats(), { sessions: 0, streams: 7, calls: 0 })
  const { exchange } = ask(server, '2025-11-25', 'tools/call', { name: 'wait' })
  t.strictSame(mcp.stats(), { sessions: 1, streams: 7, calls: 1 })
  exchange.conclude()
  server.sessions.endAll('over')
})

t.test('many changes in one turn are told once, those of a later turn again', async t => {
  const { app, server } = serverOf(t)
  const ear = new Ear()
  server.subscriptions.add(ear)
  const { tools } = server.facade(app, noStdio, () => 0)
  tools.add(tool('early'))
  await turn()
  t.strictSame(ear.heard, [], 'before the start nobody has seen what changes')
  await app.ready()
  for (const name of ['a', 'b', 'c']) tools.add(tool(name))
  tools.remove('b')
  t.strictSame(ear.heard, [])
  await turn()
  t.strictSame(ear.heard, ['tools'])
  tools.disable('a')
  await turn()
  t.strictSame(ear.heard, ['tools', 'tools'])
  tools.disable('a')
  await turn()
  t.strictSame(ear.heard, ['tools', 'tools'], 'what changes nothing is not told')
})

t.test('closing lets calls finish, answers those that have not, then ends what is held open', async t => {
  const { app, server } = serverOf(t, { closeTimeout: 150 })
  const { tools } = server.facade(app, noStdio, () => 0)
  let reason: unknown
  tools.add(tool('quick', () => wait(40).then(() => 'done')))
  tools.add(tool('endless', (_, { signal }) => new Promise(() => { signal.addEventListener('abort', () => { reason = signal.reason }) })))
  const ear = new Ear()
  server.subscriptions.add(ear)
  const quick = ask(server, '2025-11-25', 'tools/call', { name: 'quick' })
  const endless = ask(server, '2025-11-25', 'tools/call', { name: 'endless' })
  const start = Date.now()
  await server.close()
  t.ok(Date.now() - start >= 149)
  t.match(quick.channel.answer.result, { content: [{ text: 'done' }] })
  t.match(endless.channel.answer.result, { isError: true, content: [{ text: /was stopped/ }] })
  t.match(reason, { name: 'AbortError', message: /closing/ })
  t.strictSame([ear.ended, server.calls.size, server.sessions.size], [1, 0, 0])
})

t.test('closing does not wait where nothing is in flight', async t => {
  const { server } = serverOf(t, { closeTimeout: 10_000 })
  const start = Date.now()
  await server.close()
  t.ok(Date.now() - start < 1000)
})

t.test('a call that is too long is answered, timed by its tool or by the server', async t => {
  const { app, server } = serverOf(t, { limits: { toolTimeout: 20 } })
  const { tools } = server.facade(app, noStdio, () => 0)
  tools.add({ ...tool('patient', () => wait(200).then(() => 'done')), timeout: 0 } as Tool)
  tools.add(tool('hasty', () => wait(200).then(() => 'done')))
  const [patient, hasty] = ['patient', 'hasty'].map(name => ask(server, '2025-11-25', 'tools/call', { name }).channel)
  t.ok(await until(() => patient?.ended.length === 1))
  t.match(patient?.answer.result, { content: [{ text: 'done' }] })
  t.match(hasty?.answer.result, { isError: true, content: [{ text: /longer than 20 ms/ }] })
})

t.test('sessions: false leaves room for those of HTTP+SSE alone', async t => {
  const rows: [McpOptions, boolean][] = [[{ sessions: false }, false], [{ sessions: false, httpSse: true }, true]]
  for (const [options, room] of rows) {
    const { server } = serverOf(t, options)
    const served = server.revisions.get('2024-11-05')
    const open = () => server.sessions.open('http-sse', served as NonNullable<typeof served>)
    if (room) t.doesNotThrow(open)
    else t.equal(thrown(open).status, 503)
    server.sessions.endAll('over')
  }
})

const resource = (uri: string, more: object = {}) => ({ uri, name: uri, read: () => uri, ...more }) as never
const prompt = (name: string, more: object = {}) => ({ name, handler: () => name, ...more }) as never

t.test('resources, prompts and completion are announced, and their methods known, from the first of them on', async t => {
  const { app, server } = serverOf(t)
  const { resources, prompts } = server.facade(app, noStdio, () => 0)
  const announced = () => Object.keys(ask(server, '2026-07-28', 'server/discover').channel.answer.result.capabilities).sort()
  const versions: [Revision, number][] = [['2024-11-05', 200], ['2025-11-25', 200], ['2026-07-28', 404]]
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
    for (const [version, status] of versions) t.match(ask(server, version, method).channel, { answer: { error: { code: -32601 } }, status }, `${version} ${method}`)
  }
  t.strictSame(announced(), ['logging', 'tools'])
  resources.add(resource('mem://a'))
  t.strictSame(announced(), ['logging', 'resources', 'tools'])
  prompts.add(prompt('p'))
  t.strictSame(announced(), ['logging', 'prompts', 'resources', 'tools'])
  prompts.add(prompt('q', { complete: { x: ['1'] } }))
  t.strictSame(announced(), ['completions', 'logging', 'prompts', 'resources', 'tools'])
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
    for (const [version] of versions) t.ok(ask(server, version, method).channel.answer.result, `${version} ${method}`)
  }
  const complete = (ref: object) => ask(server, '2025-11-25', 'completion/complete', { ref, argument: { name: 'x', value: '' } }).channel.answer.result.completion.values
  t.strictSame(complete({ type: 'ref/prompt', name: 'q' }), ['1'])
  t.strictSame(complete({ type: 'ref/resource', uri: 'mem://a' }), [])
  t.match(ask(server, '2024-11-05', 'initialize', { protocolVersion: '2024-11-05' }).channel.answer.result.capabilities, { completions: undefined, resources: { subscribe: true, listChanged: true } })
})

t.test('what a facade adds can be seen, hidden and taken away', async t => {
  const { app, server } = serverOf(t)
  const mcp = server.facade(app, noStdio, () => 0)
  mcp.resources.add(resource('mem://a'))
  mcp.prompts.add(prompt('mem://a'))
  for (const [kind, list] of [[mcp.resources, () => ask(server, '2025-11-25', 'resources/list').channel.answer.result.resources], [mcp.prompts, () => ask(server, '2025-11-25', 'prompts/list').channel.answer.result.prompts]] as const) {
    t.strictSame([kind.has('mem://a'), kind.disable('mem://a'), list().length], [true, true, 0])
    t.strictSame([kind.enable('mem://a'), list().length, kind.remove('mem://a'), kind.has('mem://a'), list().length], [true, 1, true, false, 0])
  }
})

t.test('one turn of the loop tells each change once, an update with its URI', async t => {
  const { app, server } = serverOf(t)
  await app.ready()
  const mcp = server.facade(app, noStdio, () => 0)
  const heard: Change[] = []
  server.subscriptions.add({ wants: () => true, deliver: change => { heard.push(change) }, end () {} })
  mcp.resources.add(resource('mem://a'))
  mcp.resources.add(resource('mem://b'))
  mcp.prompts.add(prompt('p'))
  for (const uri of ['mem://a', 'mem://b', 'mem://a']) mcp.resources.updated(uri)
  await turn()
  await turn()
  t.strictSame(heard, [{ kind: 'resources' }, { kind: 'prompts' }, { kind: 'resource', uri: 'mem://a' }, { kind: 'resource', uri: 'mem://b' }])
})

t.test('a stream is promised only what was announced', async t => {
  const { app, server } = serverOf(t)
  const mcp = server.facade(app, noStdio, () => 0)
  const wanted = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['mem://a'] }
  const honoured = () => ask(server, '2026-07-28', 'subscriptions/listen', { notifications: wanted }).channel.messages[0].params.notifications
  t.strictSame(honoured(), { toolsListChanged: true })
  mcp.prompts.add(prompt('p'))
  t.strictSame(honoured(), { toolsListChanged: true, promptsListChanged: true })
  mcp.resources.add(resource('mem://a'))
  t.strictSame(honoured(), wanted)
})
