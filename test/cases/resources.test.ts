// Section 11: resources, prompts and completion, as clients of all revisions and transports see them.
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import { until } from '../support/audit.js'
import { build, audio, embedded, image, resourceLink, secret, text } from '../support/app.js'
import { httpSse, legacy, modern } from '../support/http.js'
import { isNote, sleep, stdio, type Inbox, type Peer } from '../support/stdio.js'
import type { Revision } from '../support/wire.js'

const { assistant, definePrompt, defineResource, user } = mcpPlugin
const handshakes: Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const icons = [{ src: 'https://a.example/i.png' }]
const annotations = { audience: ['user' as const], priority: 1, lastModified: '2026-01-01T00:00:00Z' }
const everything = { title: 'T', description: 'd', icons, _meta: { 'com.example/a': 1 } }

const resources = [
  defineResource({ uri: 'mem://a', name: 'a', mimeType: 'text/plain', size: 1, annotations, ...everything, read: () => 'A' }),
  defineResource({ uri: 'mem://bin', name: 'bin', read: () => [{ blob: Buffer.from([0, 1, 254, 255]), _meta: { x: 1 } }] }),
  defineResource({ uri: 'mem://boom', name: 'boom', read () { throw new Error(secret) } }),
  defineResource({ uriTemplate: 'mem://item/{id}', name: 'item', annotations, ...everything, complete: { id: ['1', '2'] }, read: ({ id }) => id === '404' ? undefined : `item ${id}` }),
  defineResource({ uriTemplate: 'mem://dir/{+path}', name: 'dir', read: ({ path }) => path })
]
const prompts = [
  definePrompt({
    name: 'greet',
    ...everything,
    argsSchema: Type.Object({ who: Type.String({ title: 'Who' }), tone: Type.Optional(Type.String()) }),
    complete: { tone: ['formal', 'friendly', 'funny'], who: (value, { arguments: { tone } }) => [`${value} ${tone}`] },
    handler: ({ who }) => `Hello, ${who}`
  }),
  definePrompt({ name: 'many', argsSchema: Type.Object({ x: Type.String() }), complete: { x: Array.from({ length: 150 }, (_, i) => `${i}`) }, handler: ({ x }) => x }),
  definePrompt({ name: 'boom', handler () { throw new Error(secret) } }),
  definePrompt({
    name: 'contents',
    handler: () => [user(text('a', { annotations })), assistant(image('eA==', 'image/png')), user(audio('eA==', 'audio/wav')), user(resourceLink({ uri: 'mem://a', name: 'a' })), user(embedded({ uri: 'mem://a', text: 'x', _meta: { y: 1 } }))]
  })
]

const serve = (t: Test) => build(t, { options: { resources, prompts } })

/** One client of each revision over HTTP; every message they get is held against the schema of its revision. */
async function eachRevision (t: Test, act: (client: Peer, revision: Revision) => Promise<void>) {
  const { url } = await serve(t)
  for (const revision of handshakes) await act(await legacy(url, revision, { t }), revision)
  await act(modern(url, { t }), '2026-07-28')
}

t.test('BB-053 each revision is told what it has words for, and no more', async t => {
  await eachRevision(t, async (client, revision) => {
    const first = async (method: string, member: string) => (await client.request(method)).result[member][0]
    const [resource, template, prompt] = [await first('resources/list', 'resources'), await first('resources/templates/list', 'resourceTemplates'), await first('prompts/list', 'prompts')]
    const since = (version: Revision) => revision >= version
    for (const one of [resource, template, prompt]) {
      t.strictSame(['title' in one, '_meta' in one, 'icons' in one, 'description' in one], [since('2025-06-18'), since('2025-06-18'), since('2025-11-25'), true], revision)
    }
    for (const one of [resource, template]) t.equal('lastModified' in one.annotations, since('2025-06-18'), revision)
    t.strictSame(Object.keys(prompt.arguments[0]).sort(), since('2025-06-18') ? ['name', 'required', 'title'] : ['name', 'required'])
    const { contents } = (await client.request('resources/read', { uri: 'mem://bin' })).result
    t.equal('_meta' in contents[0], since('2025-06-18'), revision)
    const types = (await client.request('prompts/get', { name: 'contents' })).result.messages.map((one: any) => one.content.type)
    t.strictSame(types, ['text', 'image', since('2025-03-26') ? 'audio' : 'text', since('2025-06-18') ? 'resource_link' : 'text', 'resource'], revision)
    for (const method of ['resources/list', 'resources/templates/list', 'prompts/list', 'resources/read']) {
      const { result } = await client.request(method, method === 'resources/read' ? { uri: 'mem://a' } : undefined)
      for (const member of ['resultType', 'ttlMs', 'cacheScope']) t.equal(member in result, since('2026-07-28'), `${revision} ${method} ${member}`)
    }
  })
})

t.test('BB-031 a resource or a prompt that fails tells nothing of why', async t => {
  await eachRevision(t, async (client, revision) => {
    for (const [method, params] of [['resources/read', { uri: 'mem://boom' }], ['prompts/get', { name: 'boom' }]] as const) {
      const { error } = await client.request(method, params)
      t.match(error, { code: -32603, message: /error id/ }, revision)
      t.notMatch(JSON.stringify(error), /pw@|\/srv\//)
    }
  })
})

t.test('BB-070 a variable of a path never leads out of it', async t => {
  await eachRevision(t, async (client, revision) => {
    const read = (uri: string) => client.request('resources/read', { uri })
    for (const uri of ['mem://item/..%2F..%2Fetc%2Fpasswd', 'mem://item/%2e%2e', 'mem://item/a%5Cb', 'mem://item/../../etc', 'mem://item/a%00b', 'mem://item/%zz']) {
      t.match((await read(uri)).error, { code: revision === '2026-07-28' ? -32602 : -32002, data: { uri } }, `${revision} ${uri}`)
    }
    for (const [uri, held] of [['mem://item/a%20b', 'item a b'], ['mem://item/..%252Fx', 'item ..%2Fx'], ['mem://dir/a/b%20c', 'a/b c']] as const) {
      t.match((await read(uri)).result.contents, [{ uri, text: held }], revision)
    }
  })
})

t.test('BB-071 what is not there has the code of the revision', async t => {
  await eachRevision(t, async (client, revision) => {
    for (const uri of ['mem://zzz', 'mem://item/404']) {
      t.strictSame((await client.request('resources/read', { uri })).error, { code: revision === '2026-07-28' ? -32602 : -32002, message: 'Resource not found', data: { uri } })
    }
    for (const uri of ['', 'not a uri']) t.match((await client.request('resources/read', { uri })).error, { code: -32602 }, revision)
  })
})

t.test('BB-074 completion has a limit, and knows the other arguments', async t => {
  await eachRevision(t, async (client, revision) => {
    const complete = async (ref: object, name: string, value: string, more = {}) => (await client.request('completion/complete', { ref, argument: { name, value }, ...more })).result.completion
    const greet = { type: 'ref/prompt', name: 'greet' }
    t.strictSame((await complete(greet, 'tone', 'FU')).values, ['funny'], revision)
    const many = await complete({ type: 'ref/prompt', name: 'many' }, 'x', '')
    t.strictSame([many.values.length, many.total, many.hasMore], [100, 150, true])
    t.strictSame((await complete(greet, 'who', 'you', { context: { arguments: { tone: 'formal' } } })).values, ['you formal'])
    t.strictSame((await complete({ type: 'ref/resource', uri: 'mem://item/{id}' }, 'id', '2')).values, ['2'])
  })
})

/** Clients of every transport that can be told of changes, each with where it hears them. */
async function listeners (t: Test, url: string, app: Awaited<ReturnType<typeof build>>['app']): Promise<Record<string, { client: Peer, heard: Inbox }>> {
  const clients = { http: await legacy(url, '2025-11-25', { t }), 'http-sse': await httpSse(url, { t }), stdio: await stdio(app, '2025-06-18', { t }) }
  return Object.fromEntries(await Promise.all(Object.entries(clients).map(async ([name, client]) => [name, { client, heard: await client.events() }])))
}

const updates = ({ messages }: Inbox) => messages.filter(isNote('notifications/resources/updated')).map(one => one.params.uri)

t.test('BB-073 an update reaches the sessions that subscribed, over every transport, once', async t => {
  const { url, app } = await serve(t)
  const all = await listeners(t, url, app)
  const other = await legacy(url, '2025-11-25', { t })
  const deaf = await other.events()
  const listen = modern(url, { t }).listen({ resourceSubscriptions: ['mem://a'] })
  await listen.inbox.first('an acknowledgment', isNote('notifications/subscriptions/acknowledged'))
  for (const { client } of Object.values(all)) {
    for (const uri of ['mem://a', 'mem://a', 'mem://item/1']) t.ok((await client.request('resources/subscribe', { uri })).result)
    t.match((await client.request('resources/subscribe', { uri: 'mem://zzz' })).error, { code: -32002, data: { uri: 'mem://zzz' } })
  }
  for (const uri of ['mem://a', 'mem://a', 'mem://item/1', 'mem://bin']) app.mcp.resources.updated(uri)
  for (const [name, { heard }] of Object.entries(all)) t.ok(await until(() => updates(heard).length === 2), name)
  for (const { client } of Object.values(all)) t.ok((await client.request('resources/unsubscribe', { uri: 'mem://a' })).result)
  app.mcp.resources.updated('mem://a')
  app.mcp.resources.updated('mem://item/1')
  for (const [name, { heard }] of Object.entries(all)) {
    t.ok(await until(() => updates(heard).length === 3), name)
    t.strictSame(updates(heard), ['mem://a', 'mem://item/1', 'mem://item/1'], name)
  }
  await sleep(30)
  t.strictSame([updates(deaf), updates(listen.inbox)], [[], ['mem://a', 'mem://a']])
})

t.test('BB-073 changes of the lists reach every session, and streams that asked for them', async t => {
  const { url, app } = await serve(t)
  const all = await listeners(t, url, app)
  const listen = modern(url, { t }).listen({ promptsListChanged: true })
  await listen.inbox.first('an acknowledgment', isNote('notifications/subscriptions/acknowledged'))
  app.mcp.prompts.disable('many')
  app.mcp.resources.add({ uri: 'mem://late', name: 'late', read: () => 'late' })
  const lists = ({ messages }: Inbox) => messages.flatMap(one => /list_changed$/.test(one.method) ? [one.method.split('/')[1]] : []).sort()
  for (const [name, { heard }] of Object.entries(all)) {
    t.ok(await until(() => lists(heard).length === 2), name)
    t.strictSame(lists(heard), ['prompts', 'resources'], name)
  }
  t.ok(await until(() => lists(listen.inbox).length === 1))
  await sleep(30)
  t.strictSame(lists(listen.inbox), ['prompts'])
})

t.test('BB-072 without sessions there is nothing to subscribe to', async t => {
  const { url } = await build(t, { options: { resources, prompts, sessions: false } })
  const client = await legacy(url, '2025-11-25', { t, handshake: false })
  t.match((await client.initialize()).result.capabilities, { resources: { subscribe: undefined, listChanged: undefined }, prompts: { listChanged: undefined } })
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) t.match((await client.request(method, { uri: 'mem://a' })).error, { code: -32601 })
})
