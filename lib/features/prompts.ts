import type { FastifyInstance } from 'fastify'
import type { Prompt } from '../../types/index.js'
import { MCP_ERR_PROMPT_DUPLICATE, rpcError } from '../errors.js'
import type { Exchange } from '../exchange.js'
import type { Params } from '../jsonrpc.js'
import type { Feature, Method } from '../method.js'
import { Pages } from '../page.js'
import { Registry } from '../registry.js'
import { GetPromptParams, ListParams } from '../schemas/params.js'
import { admit, PRIVATE, sees, Views } from './gate.js'
import { entryOf, resultOf } from './prompt.js'
import type { Entry } from './prompt.js'
import { stopped } from './stopped.js'
import type { StringsOptions } from './strings.js'

export interface PromptsOptions extends StringsOptions {
  pageSize: number
  cache: { ttlMs: number, cacheScope: 'public' | 'private' }
  timeout: number
}

/** Conversations that a user may begin (2026-07-28 server/prompts). */
export class PromptsFeature implements Feature {
  readonly methods: Method[] = [this.list(), this.get()]
  offered = false
  /** Whether any prompt ever had a completer. */
  completes = false
  private readonly registry: Registry<Entry>
  private readonly options: PromptsOptions
  private readonly first: () => void
  private readonly views = new Views<Entry, Pages<Record<string, unknown>>>((entries, own) => this.paged(entries, own))

  /**
   * @param changed what can be seen is not the same any more
   * @param first called once, when there is something to offer
   */
  constructor (options: PromptsOptions, changed: () => void, first: () => void) {
    this.options = options
    this.first = first
    this.registry = new Registry(changed)
  }

  capability (hears: boolean) {
    if (!this.offered) return {}
    return { prompts: hears ? { listChanged: true } : {} }
  }

  add (prompt: Prompt, app: FastifyInstance): void {
    const entry = entryOf(prompt, app, this.options)
    const before = this.registry.peek(entry.name)
    if (before !== undefined) throw new MCP_ERR_PROMPT_DUPLICATE(entry.name, describe(before.listed), describe(entry.listed))
    this.registry.add(entry.name, entry)
    this.completes ||= entry.complete.size > 0
    if (this.offered) return
    this.offered = true
    this.first()
  }

  remove (name: string): boolean { return this.registry.remove(name) }
  enable (name: string, enabled: boolean): boolean { return this.registry.enable(name, enabled) }
  has (name: string): boolean { return this.registry.has(name) }
  get scopes (): string[] { return this.registry.visible().flatMap(({ gate }) => gate.scopes) }
  named (name: string): Entry | undefined { return this.registry.get(name) }

  private list (): Method {
    return {
      name: 'prompts/list',
      params: ListParams,
      shared: true,
      call: (params, exchange) => this.views.of(this.registry.visible(), exchange).at(params.cursor as string | null | undefined)
    }
  }

  private paged (entries: readonly Entry[], own: boolean): Pages<Record<string, unknown>> {
    return new Pages('prompts', entries.map(entry => entry.name), this.options.pageSize, (from, to, nextCursor) => ({
      prompts: entries.slice(from, to).map(entry => entry.listed),
      nextCursor,
      ...this.options.cache,
      ...(own && PRIVATE)
    }))
  }

  private get (): Method {
    return {
      name: 'prompts/get',
      asks: true,
      params: GetPromptParams,
      named: 'name',
      call: (params, exchange) => this.run(params, exchange),
      result: (value, exchange) => resultOf(exchange.target as Entry, value),
      failed: (error, exchange) => stopped(error, exchange, 'The prompt')
    }
  }

  private run (params: Params, exchange: Exchange): unknown {
    const entry = this.registry.get(params.name as string)
    if (entry === undefined || !sees(entry.gate, exchange)) throw rpcError('InvalidParams', `there is no prompt ${JSON.stringify(params.name)}; prompts/list names those there are`)
    admit(entry.gate, exchange)
    exchange.target = entry
    const args = params.arguments ?? {}
    exchange.endpoint.audit?.received(exchange, args)
    const problem = entry.check(args)
    if (problem !== undefined) throw rpcError('InvalidParams', `arguments of prompt "${entry.name}": ${problem}`)
    exchange.owner = entry.app
    exchange.timeout = this.options.timeout
    exchange.endpoint.audit?.called(exchange)
    return entry.handler.call(entry.app, args, exchange.ctx)
  }
}

const describe = (listed: Record<string, unknown>): string => JSON.stringify(listed.title ?? listed.description ?? 'no description')
