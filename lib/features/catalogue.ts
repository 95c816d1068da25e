import { Pages } from '../page.js'
import { Registry } from '../registry.js'
import type { UriTemplate, Variables } from '../uri-template.js'
import type { Exchange } from '../exchange.js'
import { PRIVATE, sees, Views } from './gate.js'
import { variablesIn } from './resource.js'
import type { Cache, Entry } from './resource.js'

export type Item = Record<string, unknown>
export type Page = Record<string, unknown>
export interface Found { entry: Entry, uri: string, variables: Variables }
interface Template extends Entry { readonly template: UriTemplate }

/** What can be seen, arranged for each use. */
interface View {
  exact: Item[]
  pages: Pages<Page>
  templates: Pages<Page>
  /** Templates with a list of their own. */
  listing: Entry[]
  /** Templates, those first that go before others. */
  preferred: Entry[]
}

/** The resources and templates there are, in the order they were added, and how one is found by a URI. */
export class Catalogue extends Registry<Entry> {
  private readonly pageSize: number
  private readonly cache: Cache
  private readonly views = new Views<Entry, View>((entries, own) => this.arrange(entries, own))

  constructor ({ pageSize, cache }: { pageSize: number, cache: Cache }, changed: () => void) {
    super(changed)
    this.pageSize = pageSize
    this.cache = cache
  }

  /** What the caller sees. */
  view (exchange: Exchange): View { return this.views.of(this.visible(), exchange) }

  private arrange (entries: readonly Entry[], own: boolean): View {
    const cache = own ? { ...this.cache, ...PRIVATE } : this.cache
    const templates = entries.filter((entry): entry is Template => entry.template !== undefined)
    const exact = entries.filter(entry => entry.template === undefined).map(entry => entry.listed)
    return {
      exact,
      pages: this.paged('resources', exact, cache),
      templates: this.paged('resourceTemplates', templates.map(entry => entry.listed), cache),
      listing: templates.filter(entry => entry.list !== undefined),
      preferred: templates.toSorted((a, b) => compare(a.template, b.template))
    }
  }

  /** A list of resources or of templates, by the member of the result that holds it. */
  paged (member: 'resources' | 'resourceTemplates', items: readonly Item[], cache: Cache): Pages<Page> {
    const names = items.map(item => String(item.uri ?? item.uriTemplate))
    return new Pages(member, names, this.pageSize, (from, to, nextCursor) => ({ [member]: items.slice(from, to), nextCursor, ...cache }))
  }

  /** A resource by its own URI goes before one of a template, be it hidden. */
  find (uri: string, exchange: Exchange): Found | undefined {
    const exact = this.peek(uri)
    if (exact !== undefined && exact.template === undefined) return this.get(uri) !== undefined && sees(exact.gate, exchange) ? { entry: exact, uri, variables: {} } : undefined
    for (const entry of this.view(exchange).preferred) {
      const variables = variablesIn(entry, uri)
      if (variables !== undefined) return { entry, uri, variables }
    }
  }
}

/** The more literal template goes before the less; then the one whose variables may hold less; then the one that has fewer. */
function compare (a: UriTemplate, b: UriTemplate): number {
  const open = ({ variables }: UriTemplate) => variables.filter(one => one.open && !one.named).length
  return b.literals - a.literals || open(a) - open(b) || a.variables.length - b.variables.length
}
