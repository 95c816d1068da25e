import type { FastifyInstance } from 'fastify'
import type { Completer } from '../../types/index.js'
import { rpcError } from '../errors.js'
import type { Exchange } from '../exchange.js'
import { isObject } from '../jsonrpc.js'
import type { Params } from '../jsonrpc.js'
import type { Feature } from '../method.js'
import { CompleteParams } from '../schemas/params.js'
import { admit, sees } from './gate.js'
import type { Gate } from './gate.js'
import { stopped } from './stopped.js'

/** As many values go out at once (2026-07-28 server/utilities/completion, Completion Results). */
const MAX_VALUES = 100

/** Something whose arguments can be completed. */
export interface Completable {
  readonly app: FastifyInstance
  readonly gate: Gate
  readonly complete: ReadonlyMap<string, Completer>
}

export interface Completables {
  readonly timeout: number
  /** Whether anything ever had a completer. */
  offered (): boolean
  prompt (name: string): Completable | undefined
  /** @param uri a template, or a URI */
  resource (uri: string, exchange: Exchange): Completable | undefined
}

interface Reference { type: 'ref/prompt' | 'ref/resource', name?: string, uri?: string }

/** Suggestions for arguments of prompts and variables of templates. Answered whether announced or not. */
export function completion (from: Completables): Feature {
  return {
    capability: () => from.offered() ? { completions: {} } : {},
    methods: [{
      name: 'completion/complete',
      params: CompleteParams,
      call: (params, exchange) => suggest(from, params, exchange),
      result: value => ({ completion: completionOf(value) }),
      failed: (error, exchange) => stopped(error, exchange, 'The completion')
    }]
  }
}

function suggest (from: Completables, params: Params, exchange: Exchange): unknown {
  const found = referred(from, params.ref as Reference, exchange)
  const { name: argument, value } = params.argument as { name: string, value: string }
  const completer = found.complete.get(argument)
  if (completer === undefined) return []
  if (typeof completer !== 'function') return beginningWith(value, completer)
  const context = params.context as { arguments?: Record<string, string> | null } | null | undefined
  exchange.owner = found.app
  exchange.timeout = from.timeout
  return completer.call(found.app, value, { arguments: context?.arguments ?? {}, ctx: exchange.ctx })
}

/** @throws McpError -32602 where there is no such thing */
function referred (from: Completables, { type, name, uri }: Reference, exchange: Exchange): Completable {
  const prompt = type === 'ref/prompt'
  const key = prompt ? name : uri
  if (key === undefined) throw rpcError('InvalidParams', `/ref/${prompt ? 'name' : 'uri'} is required`)
  const found = prompt ? from.prompt(key) : from.resource(key, exchange)
  if (found === undefined || !sees(found.gate, exchange)) throw rpcError('InvalidParams', `there is no ${prompt ? 'prompt' : 'resource'} ${JSON.stringify(key)}`)
  admit(found.gate, exchange)
  return found
}

function beginningWith (typed: string, values: readonly string[]): readonly string[] {
  const prefix = typed.toLowerCase()
  return values.filter(value => value.toLowerCase().startsWith(prefix))
}

/** @throws TypeError that says what the completer should have returned */
function completionOf (value: unknown): Record<string, unknown> {
  const given: Record<string, unknown> = Array.isArray(value) ? { values: value } : isObject(value) ? value : {}
  const { values, total, hasMore } = given
  if (!Array.isArray(values) || !values.every(one => typeof one === 'string')) throw new TypeError('A completer must return an array of strings, or { values, total?, hasMore? }')
  const more = values.length > MAX_VALUES
  const all = Array.isArray(value)
  return { values: values.slice(0, MAX_VALUES), total: total ?? (more || all ? values.length : undefined), hasMore: more || (all ? false : hasMore) }
}
