import type { CallEvent, CallHooks, ErrorEvent, ResultEvent } from '../types/index.js'
import { BadArguments, CallCancelled, CallTimeout, InputUnsupportedError, MCP_ERR_HOOK, McpError, Refusal, rpcError } from './errors.js'
import type { Exchange } from './exchange.js'
import { isObject } from './jsonrpc.js'

/** What a method works on may know which of its arguments nobody shall see. */
interface Target { redact?: ((args: unknown) => unknown) | undefined }

const INVALID = rpcError('InvalidParams').code
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
    this.tell(exchange, 'onCall', {})
  }

  answered (exchange: Exchange, outcome: ResultEvent['outcome']): void {
    if (exchange.method?.asks !== true || this.hooks.onResult.length === 0) return
    this.tell(exchange, 'onResult', { outcome, duration: this.duration(exchange) })
  }

  /**
   * @param told what the client gets of it
   * @param isResult it gets it as a result
   */
  failed (exchange: Exchange, error: unknown, told: string, isResult = false): void {
    if (exchange.method?.asks !== true) return
    const outcome = this.outcomeOf(error, exchange, isResult)
    if (outcome === 'tool-error') return this.answered(exchange, outcome)
    if (this.hooks.onError.length === 0) return
    this.tell(exchange, 'onError', { outcome, duration: this.duration(exchange), message: told, errorId: exchange.errorId })
  }

  private outcomeOf (error: unknown, exchange: Exchange, isResult: boolean): ErrorEvent['outcome'] | 'tool-error' {
    if (exchange.errorId !== undefined) return 'error'
    if (error instanceof Refusal) return 'denied'
    if (error instanceof CallTimeout) return 'timeout'
    if (error instanceof CallCancelled || exchange.stoppedBy(error)) return 'cancelled'
    if (error instanceof BadArguments) return 'invalid'
    const began = this.began.has(exchange)
    // What stands between the arguments and the handler is the question whether it may run.
    if (isResult) return began ? 'tool-error' : 'denied'
    if (!(error instanceof McpError)) return 'error'
    if (error.status === 403 || (error instanceof InputUnsupportedError && !began)) return 'denied'
    return error.code === INVALID || error.code === exchange.served.revision.resourceNotFound ? 'invalid' : 'error'
  }

  private duration (exchange: Exchange): number {
    const began = this.began.get(exchange)
    return began === undefined ? 0 : performance.now() - began
  }

  /** @param more what the event has beside what all have */
  private tell<N extends keyof CallHooks> (exchange: Exchange, name: N, more: Omit<Parameters<CallHooks[N]>[0], keyof CallEvent>): void {
    const { log } = exchange.endpoint.app
    const failed = (error: unknown) => { log.error({ err: error, hook: name }, 'a hook of calls failed') }
    for (const hook of this.hooks[name]) {
      try {
        const done = (hook as (event: unknown) => unknown)(Object.freeze({ ...eventOf(exchange), ...more }))
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
    auth: auth && { ...auth, scopes: [...auth.scopes], ...(auth.claims !== undefined && { claims: copyOf(auth.claims) }) },
    client: client && copyOf(client),
    session: session?.id,
    request,
    revision: served.revision.version,
    id
  }
}

/** What is made of JSON; else what can be copied at all. */
function copyOf<T> (value: T): T {
  try { return structuredClone(value) } catch { return { ...value } }
}

function argumentsOf (given: unknown, { redact }: Target): CallEvent['arguments'] {
  const copy: unknown = structuredClone(given ?? {})
  return (redact === undefined ? copy : redact(copy)) as CallEvent['arguments']
}
