import type { FastifyInstance } from 'fastify'
import type { Resource } from '../../types/index.js'
import { MCP_ERR_RESOURCE_DUPLICATE, McpError, rpcError } from '../errors.js'
import type { Exchange } from '../exchange.js'
import type { Params } from '../jsonrpc.js'
import type { Feature, Method } from '../method.js'
import type { Pages } from '../page.js'
import { ListParams, ResourceParams } from '../schemas/params.js'
import { Catalogue } from './catalogue.js'
import type { Found, Page } from './catalogue.js'
import { gathered, readResult } from './contents.js'
import { admit } from './gate.js'
import { entryOf, itemOf } from './resource.js'
import type { Cache, Entry } from './resource.js'
import { stopped } from './stopped.js'
import type { StringsOptions } from './strings.js'

export interface ResourcesOptions extends StringsOptions {
  pageSize: number
  cache: Cache
  timeout: number
  /** Bytes that a stream may bring. */
  limit: number
}

/** An absolute URI as clients write it; what is in it is for the templates to judge. */
const URI = /^[a-z][a-z0-9+.-]*:[^\0-\x20\x7f]*$/i

/** Data by URI, each with a name of its own or made by a template (2026-07-28 server/resources). */
export class ResourcesFeature implements Feature {
  readonly methods: Method[] = [this.list(), this.templates(), this.read(), this.subscribe(), this.unsubscribe()]
  offered = false
  /** Whether any template ever had a completer. */
  completes = false
  private readonly catalogue: Catalogue
  private readonly options: ResourcesOptions
  private readonly first: () => void

  /**
   * @param changed what can be seen is not the same any more
   * @param first called once, when there is something to offer
   */
  constructor (options: ResourcesOptions, changed: () => void, first: () => void) {
    this.options = options
    this.first = first
    this.catalogue = new Catalogue(options, changed)
  }

  capability (hears: boolean) {
    if (!this.offered) return {}
    return { resources: hears ? { subscribe: true, listChanged: true } : {} }
  }

  add (resource: Resource, app: FastifyInstance): void {
    const entry = entryOf(resource, app, this.options)
    const before = this.catalogue.peek(entry.key)
    if (before !== undefined) throw new MCP_ERR_RESOURCE_DUPLICATE(entry.key, String(before.listed.name), String(entry.listed.name))
    this.catalogue.add(entry.key, entry)
    this.completes ||= entry.complete.size > 0
    if (this.offered) return
    this.offered = true
    this.first()
  }

  remove (key: string): boolean { return this.catalogue.remove(key) }
  enable (key: string, enabled: boolean): boolean { return this.catalogue.enable(key, enabled) }
  has (key: string): boolean { return this.catalogue.has(key) }

  /** The template of that name, or the resource of that URI. */
  named (key: string, exchange: Exchange): Entry | undefined { return this.catalogue.get(key) ?? this.catalogue.find(key, exchange)?.entry }
  get scopes (): string[] { return this.catalogue.visible().flatMap(({ gate }) => gate.scopes) }

  /** @throws McpError where there is none, with the code of the revision */
  private located (params: Params, exchange: Exchange): Found {
    const uri = params.uri as string
    if (!URI.test(uri)) throw rpcError('InvalidParams', 'uri must be an absolute URI (RFC 3986)')
    const found = this.catalogue.find(uri, exchange)
    if (found === undefined) throw notFound(uri, exchange)
    admit(found.entry.gate, exchange)
    return found
  }

  private list (): Method {
    return {
      name: 'resources/list',
      params: ListParams,
      shared: true,
      call: (params, exchange) => {
        const cursor = params.cursor as string | null | undefined
        const { listing, pages } = this.catalogue.view(exchange)
        return listing.length === 0 ? pages.at(cursor) : this.listed(exchange).then(pages => pages.at(cursor))
      },
      failed: (error, exchange) => stopped(error, exchange, 'The list')
    }
  }

  /** With what the templates list themselves, one after the other: `ctx.app` is that of the template. It may depend on the caller. */
  private async listed (exchange: Exchange): Promise<Pages<Page>> {
    const { exact, listing } = this.catalogue.view(exchange)
    const items = new Map(exact.map(item => [item.uri, item]))
    exchange.timeout = this.options.timeout
    for (const entry of listing) {
      exchange.owner = entry.app
      const found: unknown = await entry.list?.call(entry.app, exchange.ctx)
      if (!Array.isArray(found)) throw new TypeError(`list of resource "${entry.key}" must return an array; it returned ${typeof found}`)
      for (const item of found.map(one => itemOf(entry, one))) if (item !== undefined && !items.has(item.uri)) items.set(item.uri, item)
    }
    return this.catalogue.paged('resources', [...items.values()], { ...this.options.cache, cacheScope: 'private' })
  }

  private templates (): Method {
    return {
      name: 'resources/templates/list',
      params: ListParams,
      shared: true,
      call: (params, exchange) => this.catalogue.view(exchange).templates.at(params.cursor as string | null | undefined)
    }
  }

  private read (): Method {
    return {
      name: 'resources/read',
      asks: true,
      params: ResourceParams,
      named: 'uri',
      call: (params, exchange) => this.run(this.located(params, exchange), exchange),
      result (value, exchange) {
        const { entry, uri } = exchange.target as Found
        // Never empty contents: they would say that it is there (2026-07-28 server/resources, Error Handling).
        if (value === undefined || value === null) throw notFound(uri, exchange)
        return readResult(entry, uri, value)
      },
      failed: (error, exchange) => stopped(error, exchange, 'Reading the resource')
    }
  }

  private run (found: Found, exchange: Exchange): unknown {
    const { entry, variables } = found
    const { timeout, limit } = this.options
    exchange.target = found
    exchange.owner = entry.app
    exchange.timeout = timeout
    exchange.endpoint.audit?.called(exchange)
    return gathered(entry.read.call(entry.app, variables, exchange.ctx), entry, exchange, limit)
  }

  /** Handshake revisions; from 2026-07-28 on a stream says what it is for (basic/patterns/subscriptions). */
  private subscribe (): Method {
    return {
      name: 'resources/subscribe',
      brief: true,
      params: ResourceParams,
      call: (params, exchange) => {
        const session = sessionOf(exchange)
        const told = session.subscribe(this.located(params, exchange).uri)
        return told === undefined ? {} : told.then(() => ({}))
      }
    }
  }

  /** What is not subscribed to, or not there any more, is no error. */
  private unsubscribe (): Method {
    return {
      name: 'resources/unsubscribe',
      brief: true,
      params: ResourceParams,
      call (params, exchange) {
        const told = sessionOf(exchange).unsubscribe(params.uri as string)
        return told === undefined ? {} : told.then(() => ({}))
      }
    }
  }
}

function sessionOf (exchange: Exchange) {
  const { session, channel, message } = exchange
  if (session !== undefined) return session
  // Without sessions there is nobody to tell later, and `subscribe` was not announced.
  throw channel.hears ? rpcError('InvalidRequest', `${message.method} needs a session`) : rpcError('MethodNotFound', message.method)
}

const notFound = (uri: string, exchange: Exchange) => new McpError(exchange.served.revision.resourceNotFound, 'Resource not found', { uri })
