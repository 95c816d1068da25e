import { Type } from '@sinclair/typebox'
import t from 'tap'
import { entryOf, itemOf, variablesIn } from '../../lib/features/resource.js'
import type { Resource } from '../../types/index.js'
import { appOf, type Lines } from '../support/server.js'
import { thrown } from '../support/thrown.js'

const options = { validator: undefined, started: false }
const read = () => 'ok'
const definition = (more: object): Resource => ({ uri: 'mem://a', name: 'a', read, ...more }) as unknown as Resource
const template = (more: object = {}): Resource => definition({ uri: undefined, uriTemplate: 'mem://{id}', ...more })

t.test('what a list shows is what the author said of it', async t => {
  const app = appOf(t)
  const said = { title: 'A', description: 'd', mimeType: 'a/b', annotations: { priority: 1 }, icons: [{ src: 'a:b' }], _meta: { x: 1 } }
  t.strictSame(entryOf(definition({ ...said, size: 1 }), app, options).listed, { uri: 'mem://a', name: 'a', ...said, size: 1 })
  t.strictSame(entryOf(template(said), app, options).listed, { uriTemplate: 'mem://{id}', name: 'a', ...said })
  t.match(entryOf(definition({}), app, options), { key: 'mem://a', app, read, template: undefined, list: undefined, mimeType: undefined, cache: { ttlMs: 0, cacheScope: 'private' } })
  t.strictSame(entryOf(definition({ cache: { cacheScope: 'public' } }), app, options).cache, { ttlMs: 0, cacheScope: 'public' })
  t.strictSame(entryOf(definition({ cache: { ttlMs: 5 } }), app, options).cache, { ttlMs: 5, cacheScope: 'private' })
})

t.test('read may be called handler, as it is in tools', async t => {
  const handler = () => 'ok'
  t.equal(entryOf(definition({ read: undefined, handler }), appOf(t), options).read, handler)
})

t.test('a definition that cannot work is refused, with the reason', async t => {
  const app = appOf(t)
  const rows: [Resource, string, RegExp][] = [
    [definition({ uri: 'no uri' }), 'MCP_ERR_RESOURCE_URI', /no uri: it is not an absolute URI/],
    [definition({ uri: 'mem://{id}' }), 'MCP_ERR_RESOURCE_URI', /not an absolute URI/],
    [definition({ uri: 7 }), 'MCP_ERR_RESOURCE_URI', /"a": it needs either/],
    [definition({ uri: undefined }), 'MCP_ERR_RESOURCE_URI', /needs either a uri or a uriTemplate/],
    [definition({ uri: undefined, name: undefined }), 'MCP_ERR_RESOURCE_URI', /without a name/],
    [definition({ uriTemplate: 'mem://{id}' }), 'MCP_ERR_RESOURCE_URI', /either/],
    [template({ uriTemplate: 'mem://{id' }), 'MCP_ERR_RESOURCE_URI', /mem:\/\/\{id: it is not a URI template/],
    [null as unknown as Resource, 'MCP_ERR_RESOURCE_DEFINITION', /null: it must be an object, as defineResource makes it/],
    [definition({ size: 'x' }), 'MCP_ERR_RESOURCE_DEFINITION', /mem:\/\/a: \/size must be integer, got string "x"/],
    [definition({ mimeType: 3 }), 'MCP_ERR_RESOURCE_DEFINITION', /\/mimeType must be string/],
    [definition({ _meta: { big: 1n } }), 'MCP_ERR_RESOURCE_DEFINITION', /BigInt/],
    [definition({ cache: { ttl: 3 } }), 'MCP_ERR_RESOURCE_DEFINITION', /cache\.ttl is not known; cache has ttlMs and cacheScope/],
    [definition({ cache: 3 }), 'MCP_ERR_RESOURCE_DEFINITION', /cache must be an object, got number/],
    [definition({ name: undefined }), 'MCP_ERR_RESOURCE_DEFINITION', /name must be a string.*nothing/],
    [definition({ name: '' }), 'MCP_ERR_RESOURCE_DEFINITION', /name must be/],
    [definition({ read: undefined }), 'MCP_ERR_RESOURCE_DEFINITION', /read must be a function, got undefined/],
    [definition({ list: () => [] }), 'MCP_ERR_RESOURCE_DEFINITION', /list must be a function of a template/],
    [template({ list: [] }), 'MCP_ERR_RESOURCE_DEFINITION', /list must be a function/],
    [definition({ variables: Type.Object({}) }), 'MCP_ERR_RESOURCE_DEFINITION', /variables belong to a uriTemplate/],
    [definition({ complete: { id: [] } }), 'MCP_ERR_RESOURCE_DEFINITION', /nothing to complete/],
    [template({ complete: { nope: [] } }), 'MCP_ERR_RESOURCE_DEFINITION', /there is only id/],
    [definition({ cache: { ttlMs: -1 } }), 'MCP_ERR_RESOURCE_DEFINITION', /ttlMs must be an integer of 0 or more, got -1/],
    [definition({ cache: { ttlMs: 1.5 } }), 'MCP_ERR_RESOURCE_DEFINITION', /ttlMs/],
    [definition({ cache: { cacheScope: 'shared' } }), 'MCP_ERR_RESOURCE_DEFINITION', /cacheScope must be "public" or "private", got "shared"/],
    [template({ variables: Type.Object({ id: Type.Number() }) }), 'MCP_ERR_RESOURCE_SCHEMA', /mem:\/\/\{id\}.*\/properties\/id must be a string/],
    [template({ variables: Type.Object({ other: Type.String() }) }), 'MCP_ERR_RESOURCE_SCHEMA', /\/properties\/other is no variable/],
    [template({ variables: Type.Object({ id: Type.Array(Type.String()) }) }), 'MCP_ERR_RESOURCE_SCHEMA', /must be a string/],
    [template({ uriTemplate: 'mem:/{/id*}', variables: Type.Object({ id: Type.String() }) }), 'MCP_ERR_RESOURCE_SCHEMA', /must be an array of strings/]
  ]
  for (const [one, code, message] of rows) t.match(thrown(() => entryOf(one, app, options)), { code, message })
})

t.test('the variables of a URI are checked, and a default is filled in', async t => {
  const app = appOf(t)
  const loose = entryOf(template({ complete: { id: ['1'] } }), app, options)
  t.strictSame(variablesIn(loose, 'mem://7'), { id: '7' })
  t.equal(variablesIn(loose, 'mem://7/8'), undefined)
  t.strictSame([...loose.complete], [['id', ['1']]])
  const strict = entryOf(template({ uriTemplate: 'mem://{id}{?sort,tags*}', variables: Type.Object({ id: Type.String({ pattern: '^\\d+$' }), sort: Type.String({ default: 'up' }), tags: Type.Array(Type.String(), { maxItems: 1 }) }) }), app, options)
  t.strictSame(variablesIn(strict, 'mem://7'), { id: '7', sort: 'up', tags: [] })
  t.strictSame(variablesIn(strict, 'mem://7?sort=down&tags=a'), { id: '7', sort: 'down', tags: ['a'] })
  for (const uri of ['mem://a', 'mem://7?tags=a&tags=b']) t.equal(variablesIn(strict, uri), undefined, uri)
  t.equal(variablesIn(entryOf(definition({}), app, options), 'mem://a'), undefined, 'a resource has none')
})

t.test('what a template lists has a URI, or gets one', async t => {
  const log: Lines = []
  const app = appOf(t, log)
  const entry = entryOf(template({ mimeType: 'a/b' }), app, options)
  t.strictSame(itemOf(entry, { uri: 'mem://x', name: 'x', size: 1 }), { mimeType: 'a/b', uri: 'mem://x', name: 'x', size: 1 })
  t.strictSame(itemOf(entry, { variables: { id: 'a b' }, name: 'x', mimeType: 'c/d' }), { mimeType: 'c/d', uri: 'mem://a%20b', name: 'x' })
  for (const item of [{ name: 'x' }, { uri: 'mem://x' }, { uri: 7, name: 'x' }, { variables: { id: '1' } }, undefined, null, 'x']) {
    t.match(thrown(() => itemOf(entry, item)), { name: 'TypeError', message: /"mem:\/\/\{id\}" must return resources/ }, JSON.stringify(item))
  }
  t.match(thrown(() => itemOf(entry, { uri: 'mem://x', name: 'x', size: '1' })), { name: 'TypeError', message: /"mem:\/\/\{id\}" returned .* \/size must be integer/ })
  t.equal(itemOf(entry, { variables: { id: 'a/b' }, name: 'x' }), undefined, 'nobody could read it')
  t.match(log.at(-1), { level: 40, uri: 'mem://a%2Fb', msg: /cannot be read/ })
})
