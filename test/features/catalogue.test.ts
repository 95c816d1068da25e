import t from 'tap'
import { Catalogue } from '../../lib/features/catalogue.js'
import type { Item } from '../../lib/features/catalogue.js'
import { OPEN } from '../../lib/features/gate.js'
import type { Entry } from '../../lib/features/resource.js'
import { uriTemplate } from '../../lib/uri-template.js'
import { endpointOf, exchangeOf } from '../support/doubles.js'

const { exchange } = exchangeOf(endpointOf().endpoint, 'resources/list')
const cache = { ttlMs: 5, cacheScope: 'public' } as const
const exact = (uri: string) => ({ key: uri, gate: OPEN, listed: { uri } }) as unknown as Entry
const template = (key: string, more: object = {}) => ({ key, gate: OPEN, template: uriTemplate(key), listed: { uriTemplate: key }, ...more }) as unknown as Entry

function catalogueOf (...entries: Entry[]) {
  const told = { times: 0 }
  const catalogue = new Catalogue({ pageSize: 2, cache }, () => { told.times++ })
  for (const entry of entries) catalogue.add(entry.key, entry)
  return { catalogue, told, found: (uri: string) => catalogue.find(uri, exchange)?.entry.key }
}

t.test('what can be seen is arranged once, and anew when it changes', async t => {
  const list = () => []
  const { catalogue, told } = catalogueOf(exact('mem://a'), template('mem://{id}'), exact('mem://b'), template('mem://x/{id}', { list }))
  const view = catalogue.view(exchange)
  t.equal(catalogue.view(exchange), view)
  t.strictSame(view.exact, [{ uri: 'mem://a' }, { uri: 'mem://b' }])
  t.strictSame(view.pages.at(undefined), { resources: view.exact, nextCursor: undefined, ...cache })
  t.match(view.templates.at(undefined), { resourceTemplates: [{ uriTemplate: 'mem://{id}' }, { uriTemplate: 'mem://x/{id}' }], ...cache })
  t.strictSame([view.listing.map(one => one.key), view.preferred.map(one => one.key)], [['mem://x/{id}'], ['mem://x/{id}', 'mem://{id}']])
  catalogue.enable('mem://a', false)
  t.strictSame(catalogue.view(exchange).exact, [{ uri: 'mem://b' }])
  t.equal(told.times, 5)
})

t.test('a list comes in pages, with what is said of how long it keeps', async t => {
  const { catalogue } = catalogueOf()
  const items: Item[] = ['a', 'b', 'c'].map(name => ({ uri: `mem://${name}` }))
  const pages = catalogue.paged('resources', items, { ttlMs: 1, cacheScope: 'private' })
  const first = pages.at(undefined)
  t.match(first, { resources: items.slice(0, 2), nextCursor: String, ttlMs: 1, cacheScope: 'private' })
  t.match(pages.at(first.nextCursor as string), { resources: [items[2]], nextCursor: undefined })
})

t.test('a resource goes before a template, and a template before one that says less', async t => {
  const { catalogue, found } = catalogueOf(
    template('mem://{+all}'), template('mem://{a}{?q}'), template('mem://{a}{b}'), template('mem://{a}'), template('mem://x/{b}'), template('mem://x/{n}'), exact('mem://x/1')
  )
  const rows = [['mem://x/1', 'mem://x/1'], ['mem://x/2', 'mem://x/{b}'], ['mem://y', 'mem://{a}'], ['mem://y?q=1', 'mem://{a}{?q}'], ['mem://y/z', 'mem://{+all}'], ['other://y', undefined]] as const
  for (const [uri, key] of rows) t.equal(found(uri), key, uri)
  t.strictSame(catalogue.find('mem://x/2', exchange), { entry: catalogue.peek('mem://x/{b}'), uri: 'mem://x/2', variables: { b: '2' } })
  t.strictSame(catalogue.find('mem://x/1', exchange)?.variables, {})
  catalogue.enable('mem://x/1', false)
  t.equal(found('mem://x/1'), undefined, 'hidden, it is not there, not even for a template')
})
