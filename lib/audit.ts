import type { CallEvent, CallHooks, ErrorEvent, ResultEvent } from '../types/index.js'
import { BadArguments, CallCancelled, CallTimeout, InputFailure, InputUnsupportedError, MCP_ERR_HOOK, McpError, Refusal, ToolError } from './errors.js'
import type { Exchange } from './exchange.js'
import { isObject } from './jsonrpc.js'

/** What a method works on may know which of its arguments nobody shall see. */
interface Target { redact?: ((args: unknown) => unknown) | undefined }

const NAMES: ReadonlyArray<keyof CallHooks> = ['onCall', 'onResult', 'onError']

/** Tells hooks of calls. They hear, and change nothing: each gets a copy, none is waited for, and what one throws is logged. */
export class Audit {
  private readonly hooks: { [N in keyof CallHooks]: CallHooks[N][] } = { onCall: [], onResult: [], onError: [] }
  private readonly began = new WeakMap<Exchange, number>()

  /** @throws MCP_ERR_HOOK */
  add<N extends keyof CallHooks> (name: N, hook: CallHooks[N]): void {
    if (!NAMES.includes(name)) throw new MCP_ERR_HOOK(`there is no hook ${JSON.stringify(name)}; there are ${NAMES.join(', ')}`)
    if (typeof hook !== 'function') throw new MCP_ERR_HOOK(`${name} must be a function, got ${typeof hook}`)
    this.hooks[name].push(hook)
  }

  /** The handler of a call runs next. */
  called (exchange: Exchange): void {
    this.began.set(exchange, performance.now())
    if (this.hooks.onCall.length > 0) this.tell(exchange, 'onCall', eventOf(exchange))
  }

  answered (exchange: Exchange, outcome: ResultEvent['outcome']): void {
    if (exchange.method?.asks !== true || this.hooks.onResult.length === 0) return
    this.tell(exchange, 'onResult', { ...eventOf(exchange), outcome, duration: this.duration(exchange) })
  }

  /** @param told what the client gets of it */
  failed (exchange: Exchange, error: unknown, told: string): void {
    if (exchange.method?.asks !== true) return
    const outcome = this.outcomeOf(error, exchange)
    if (outcome === 'tool-error') return this.answered(exchange, outcome)
    if (this.hooks.onError.length === 0) return
    this.tell(exchange, 'onError', { ...eventOf(exchange), outcome, duration: this.duration(exchange), message: told, errorId: exchange.errorId })
  }

  private outcomeOf (error: unknown, exchange: Exchange): ErrorEvent['outcome'] | 'tool-error' {
    if (error instanceof CallTimeout) return 'timeout'
    if (error instanceof CallCancelled || exchange.stoppedBy(error)) return 'cancelled'
    if (error instanceof BadArguments) return 'invalid'
    if (error instanceof Refusal) return 'denied'
    if (error instanceof ToolError || error instanceof InputFailure || (error instanceof InputUnsupportedError && error.told)) return 'tool-error'
    if (!(error instanceof McpError) || this.began.has(exchange)) return 'error'
    return error.status === 403 ? 'denied' : 'invalid'
  }

  private duration (exchange: Exchange): number {
    const began = this.began.get(exchange)
    return began === undefined ? 0 : performance.now() - began
  }

  private tell<N extends keyof CallHooks> (exchange: Exchange, name: N, event: Parameters<CallHooks[N]>[0]): void {
    Object.freeze(event)
    const { log } = exchange.endpoint.app
    const failed = (error: unknown) => { log.error({ err: error, hook: name }, 'a hook of calls failed') }
    for (const hook of this.hooks[name]) {
      try {
        const done = (hook as (event: unknown) => unknown)(event)
        if (done instanceof Promise) done.catch(failed)
      } catch (error) {
        failed(error)
      }
    }
  }
}

function eventOf (exchange: Exchange): CallEvent {
  const { message: { id, method }, target, auth, client, session, request, served } = exchange
  const params = isObject(exchange.message.params) ? exchange.message.params : {}
  const name = params.name ?? params.uri
  return {
    method: method as CallEvent['method'],
    name: typeof name === 'string' ? name : undefined,
    arguments: target === undefined || method === 'resources/read' ? undefined : argumentsOf(params.arguments, target as Target),
    auth: auth && { ...auth, scopes: [...auth.scopes] },
    client: client && { ...client },
    session: session?.id,
    request,
    revision: served.revision.version,
    id
  }
}

function argumentsOf (given: unknown, { redact }: Target): CallEvent['arguments'] {
  const copy: unknown = JSON.parse(JSON.stringify(given ?? {}))
  return (redact === undefined ? copy : redact(copy)) as CallEvent['arguments']
}
