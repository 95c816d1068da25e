import type { FastifyInstance } from 'fastify'
import type { Tool } from '../../types/index.js'
import { BadArguments, CallTimeout, InputFailure, InputUnsupportedError, MCP_ERR_TOOL_DUPLICATE, McpError, Refusal, ToolError, rpcError } from '../errors.js'
import { text } from '../content.js'
import type { Exchange } from '../exchange.js'
import type { Params } from '../jsonrpc.js'
import type { Feature, Method } from '../method.js'
import { Pages } from '../page.js'
import { Registry } from '../registry.js'
import { CallToolParams, ListParams } from '../schemas/params.js'
import { admit, PRIVATE, sees, Views } from './gate.js'
import { entryOf, resultOf, resultProblem } from './tool.js'
import type { Entry, EntryOptions } from './tool.js'
import { mirroredIn } from './mirror.js'

/** Whole seconds, in the `_meta` of a result. */
const RETRY_AFTER = 'fastify-mcp-plugin/retryAfter'

export interface ToolsOptions extends EntryOptions {
  pageSize: number
  cache: { ttlMs: number, cacheScope: 'public' | 'private' }
}

/** Typed functions that a model may call (2026-07-28 server/tools). */
export class ToolsFeature implements Feature {
  readonly methods: Method[] = [this.list(), this.call()]
  private readonly registry: Registry<Entry>
  private readonly options: ToolsOptions
  private readonly views = new Views<Entry, Pages<Record<string, unknown>>>((entries, own) => this.paged(entries, own))

  constructor (options: ToolsOptions, changed: () => void) {
    this.options = options
    this.registry = new Registry(changed)
  }

  capability (hears: boolean) { return { tools: hears ? { listChanged: true } : {} } }

  add (tool: Tool, app: FastifyInstance): void {
    const entry = entryOf(tool, app, this.options)
    const before = this.registry.peek(entry.name)
    if (before !== undefined) throw new MCP_ERR_TOOL_DUPLICATE(entry.name, describe(before.listed), describe(entry.listed))
    this.registry.add(entry.name, entry)
  }

  remove (name: string): boolean { return this.registry.remove(name) }
  enable (name: string, enabled: boolean): boolean { return this.registry.enable(name, enabled) }
  has (name: string): boolean { return this.registry.has(name) }
  get scopes (): string[] { return this.registry.visible().flatMap(({ gate }) => gate.scopes) }

  private list (): Method {
    return {
      name: 'tools/list',
      params: ListParams,
      shared: true,
      call: (params, exchange) => this.views.of(this.registry.visible(), exchange).at(params.cursor as string | null | undefined)
    }
  }

  private paged (entries: readonly Entry[], own: boolean): Pages<Record<string, unknown>> {
    return new Pages('tools', entries.map(entry => entry.name), this.options.pageSize, (from, to, nextCursor) => ({
      tools: entries.slice(from, to).map(entry => entry.listed),
      nextCursor,
      ...this.options.cache,
      ...(own && PRIVATE)
    }))
  }

  private call (): Method {
    return {
      name: 'tools/call',
      asks: true,
      params: CallToolParams,
      named: 'name',
      mirrored: params => {
        const mirrors = this.registry.get(params.name as string)?.mirrors ?? []
        return mirrors.length === 0 ? [] : mirroredIn(mirrors, params.arguments)
      },
      call: (params, exchange) => this.run(params, exchange),
      result: (value, exchange) => {
        const entry = exchange.target as Entry
        return entry.limits === undefined ? resultOf(entry, value) : entry.limits.fit(resultOf(entry, value), exchange)
      },
      failed: (error, exchange) => failure(error, exchange)
    }
  }

  private run (params: Params, exchange: Exchange): unknown {
    const entry = this.registry.get(params.name as string)
    if (entry === undefined || !sees(entry.gate, exchange)) throw rpcError('InvalidParams', `there is no tool ${JSON.stringify(params.name)}; tools/list names those there are`)
    admit(entry.gate, exchange)
    const again = exchange.target === entry
    exchange.target = entry
    exchange.owner = entry.app
    exchange.timeout = entry.timeout
    const args = params.arguments ?? {}
    exchange.endpoint.audit?.received(exchange, args)
    if (entry.limits !== undefined) return entry.limits.run(exchange, args, { check: () => check(entry, args), handle: () => start(entry, args, exchange) }, again)
    check(entry, args)
    return start(entry, args, exchange)
  }
}

/** @throws BadArguments */
function check (entry: Entry, args: unknown): void {
  const problem = entry.checkInput(args)
  if (problem !== undefined) throw new BadArguments(`Invalid arguments for tool "${entry.name}": ${problem}`)
}

function start (entry: Entry, args: unknown, exchange: Exchange): unknown {
  exchange.endpoint.audit?.called(exchange)
  return entry.handler.call(entry.app, args, exchange.ctx)
}

function failure (error: unknown, exchange: Exchange): Record<string, unknown> | undefined {
  if (error instanceof BadArguments) {
    if (exchange.served.revision.badArguments === 'result') return told(error.message)
    throw rpcError('InvalidParams', error.message)
  }
  if (error instanceof Refusal) return { ...told(error.message), ...(error.retryAfter !== undefined && { _meta: { [RETRY_AFTER]: error.retryAfter } }) }
  if (error instanceof InputFailure || (error instanceof InputUnsupportedError && error.told)) return told(error.message)
  if (error instanceof McpError || exchange.target === undefined) return undefined
  const { name, limits } = exchange.target as Entry
  if (error instanceof ToolError) {
    const said = error.content === undefined ? told(error.message) : { content: error.content, isError: true }
    const problem = resultProblem(said)
    if (problem === undefined) return limits?.fit(said, exchange) ?? said
    error = new TypeError(`Tool "${name}" threw a ToolError that no client could read: ${problem}`, { cause: error })
  }
  if (error instanceof CallTimeout) return told(`The tool "${name}" took longer than ${error.ms} ms and was stopped.`)
  if (exchange.stoppedBy(error)) return told(`The tool "${name}" was ${exchange.endpoint.calls.waits(exchange) ? 'not run' : 'stopped'}.`)
  return told(`The tool "${name}" failed unexpectedly. The server's log has the details under error id ${exchange.report(error)}.`)
}

const told = (message: string) => ({ content: [text(message)], isError: true })
const describe = (listed: Record<string, unknown>): string => JSON.stringify(listed.title ?? listed.description ?? 'no description')
