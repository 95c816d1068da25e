import type { FastifyInstance } from 'fastify'
import type { CacheOptions, Completer, Resource } from '../../types/index.js'
import { MCP_ERR_RESOURCE_DEFINITION, MCP_ERR_RESOURCE_SCHEMA, MCP_ERR_RESOURCE_URI } from '../errors.js'
import { isObject } from '../jsonrpc.js'
import { isUri, uriTemplate } from '../uri-template.js'
import type { UriTemplate, Variables } from '../uri-template.js'
import type { Check } from '../validate.js'
import { completersOf } from './completers.js'
import { inspect, shownProblem } from './definition.js'
import { gateOf } from './gate.js'
import type { Gate } from './gate.js'
import { stringsOf } from './strings.js'
import type { StringsOptions } from './strings.js'

/** How long what was read may be kept unless its resource says so: it may change at any time, and depend on who asks (2026-07-28 server/utilities/caching, Choosing a Cache Scope). */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const

export interface Cache { ttlMs: number, cacheScope: 'public' | 'private' }

/** A resource, or a template of resources, as it was added. All of it is worked out once. */
export interface Entry {
  /** The URI or the template. */
  readonly key: string
  readonly app: FastifyInstance
  readonly template: UriTemplate | undefined
  readonly check: Check | undefined
  readonly read: Resource['read']
  readonly list: Resource['list']
  readonly complete: ReadonlyMap<string, Completer>
  readonly gate: Gate
  readonly mimeType: string | undefined
  readonly cache: Cache
  /** What a list shows, in the words of the newest revision. */
  readonly listed: Record<string, unknown>
}

/** @throws MCP_ERR_RESOURCE_URI, MCP_ERR_RESOURCE_SCHEMA, MCP_ERR_RESOURCE_DEFINITION */
export function entryOf (resource: Resource, app: FastifyInstance, options: StringsOptions): Entry {
  if (!isObject(resource)) throw new MCP_ERR_RESOURCE_DEFINITION(String(resource), 'it must be an object, as defineResource makes it')
  const { uri, uriTemplate: pattern, name, list, cache, mimeType } = resource
  const key = pattern ?? uri
  if (typeof key !== 'string' || (uri !== undefined && pattern !== undefined)) throw new MCP_ERR_RESOURCE_URI(JSON.stringify(name) ?? 'without a name', 'it needs either a uri or a uriTemplate')
  const refuse = (why: string) => new MCP_ERR_RESOURCE_DEFINITION(key, why)
  const template = pattern === undefined ? exact(key) : templateOf(key)
  const read = readOf(resource)
  if (typeof name !== 'string' || name === '') throw refuse(`name must be a string that is not empty, got ${JSON.stringify(name) ?? 'nothing'}`)
  if (typeof read !== 'function') throw refuse(`read must be a function, got ${typeof read}`)
  attempt(refuse, () => inspect('Resource', key, resource, app))
  if (list !== undefined && (template === undefined || typeof list !== 'function')) throw refuse('list must be a function of a template')
  return {
    key,
    app,
    template,
    check: checkOf(resource, key, template, app, options),
    read,
    list,
    gate: attempt(refuse, () => gateOf(resource)),
    complete: attempt(refuse, () => completersOf(resource.complete, template?.variables.map(one => one.name) ?? [])),
    mimeType,
    cache: cacheOf(cache, refuse),
    listed: attempt(refuse, () => listedOf(resource))
  }
}

/** `handler`, the word of tools and prompts, is understood as well. */
const readOf = (resource: Resource & { handler?: Resource['read'] }): Resource['read'] => resource.read ?? resource.handler

function exact (uri: string): undefined {
  if (!isUri(uri)) throw new MCP_ERR_RESOURCE_URI(uri, 'it is not an absolute URI (RFC 3986)')
}

const templateOf = (template: string): UriTemplate => attempt(why => new MCP_ERR_RESOURCE_URI(template, why), () => uriTemplate(template))

/** What the variables are checked with; undefined where anything goes. */
function checkOf ({ variables }: Resource, key: string, template: UriTemplate | undefined, app: FastifyInstance, options: StringsOptions): Check | undefined {
  if (variables === undefined) return undefined
  if (template === undefined) throw new MCP_ERR_RESOURCE_DEFINITION(key, 'variables belong to a uriTemplate')
  const { variables: known } = template
  return attempt(why => new MCP_ERR_RESOURCE_SCHEMA(key, why), () => {
    const { properties, check } = stringsOf(variables, app, `Resource "${key}": variables`, options, name => known.some(one => one.name === name && one.list))
    const stranger = Object.keys(properties).find(name => !known.some(one => one.name === name))
    if (stranger !== undefined) throw new Error(`/properties/${stranger} is no variable of the template`)
    return check
  })
}

function cacheOf (cache: CacheOptions | undefined, refuse: (why: string) => Error): Cache {
  if (cache !== undefined && !isObject(cache as unknown)) throw refuse(`cache must be an object, got ${typeof cache}`)
  const stranger = Object.keys(cache ?? {}).find(name => name !== 'ttlMs' && name !== 'cacheScope')
  if (stranger !== undefined) throw refuse(`cache.${stranger} is not known; cache has ttlMs and cacheScope`)
  const { ttlMs = UNCACHED.ttlMs, cacheScope = UNCACHED.cacheScope } = cache ?? {}
  if (!Number.isInteger(ttlMs) || ttlMs < 0) throw refuse(`cache.ttlMs must be an integer of 0 or more, got ${ttlMs}`)
  if (cacheScope !== 'public' && cacheScope !== 'private') throw refuse(`cache.cacheScope must be "public" or "private", got ${JSON.stringify(cacheScope)}`)
  return { ttlMs, cacheScope }
}

function listedOf (resource: Resource): Record<string, unknown> {
  const { uri, uriTemplate, name, title, description, mimeType, size, annotations, icons, _meta } = resource
  return JSON.parse(JSON.stringify({ uri, uriTemplate, name, title, description, mimeType, size, annotations, icons, _meta }))
}

function attempt<T> (refuse: (why: string) => Error, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw refuse((error as Error).message)
  }
}

/** What a template's own list says of one of its resources; undefined where nobody could read it. @throws TypeError that says what it should have said */
export function itemOf (entry: Entry, item: unknown): Record<string, unknown> & { uri: string } | undefined {
  const { variables, ...rest } = { ...item as Record<string, unknown> & { variables?: Variables } }
  const uri = variables === undefined ? rest.uri : entry.template?.expand(variables)
  if (typeof uri !== 'string' || typeof rest.name !== 'string') throw new TypeError(`list of resource "${entry.key}" must return resources, each with a name and either a uri or variables`)
  if (variables !== undefined && variablesIn(entry, uri) === undefined) {
    entry.app.log.warn({ uri }, `list of resource "${entry.key}" has variables that the template cannot be read with; this one is not listed`)
    return undefined
  }
  const problem = shownProblem(rest)
  if (problem !== undefined) throw new TypeError(`list of resource "${entry.key}" returned a resource that no client could read: ${problem}`)
  return { mimeType: entry.mimeType, ...rest, uri }
}

/** The variables of a URI of this template, defaults filled in; undefined where it is none. */
export function variablesIn (entry: Entry, uri: string): Variables | undefined {
  const variables = entry.template?.match(uri)
  return variables === undefined || entry.check?.(variables) !== undefined ? undefined : variables
}
