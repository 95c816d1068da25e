import type { AuthInfo, CallEvent, CallHooks, ErrorEvent, ResultEvent } from '../types/index.js'
import { BadArguments, CallCancelled, CallTimeout, InputUnsupportedError, MCP_ERR_HOOK, McpError, Refusal, rpcError } from './errors.js'
import type { Exchange } from './exchange.js'
import { isObject } from './jsonrpc.js'
import { isThenable } from './thenable.js'

/** What a method works on may know which of its arguments nobody shall see. `fits`: whether they fit its schema, where that is known. */
interface Target { redact?: ((args: unknown, fits?: boolean) => unknown) | undefined }

/** What is remembered of a call. */
interface Call {
  /** The arguments as they came, as JSON: whoever gets them may write into them. Undefined where there are none to tell of. */
  came: string | undefined
  /** Those of them that hooks may see. */
  shown: string | undefined
  began: number | undefined
  over: boolean
}

const INVALID = rpcError('InvalidParams').code
const NAMES: ReadonlyArray<keyof CallHooks> = ['onCall', 'onResult', 'onError']

/** Tells hooks of calls. They hear, and change nothing: each gets a copy, none is waited for, and what one throws is logged. Nothing here ever throws at a call. */
export class Audit {
  private readonly hooks: { [N in keyof CallHooks]: CallHooks[N][] } = { onCall: [], onResult: [], onError: [] }
  private readonly calls = new WeakMap<Exchange, Call>()

  /** @throws MCP_ERR_HOOK */
  add<N extends keyof CallHooks> (name: N, hook: CallHooks[N]): void {
    if (!NAMES.includes(name)) throw new MCP_ERR_HOOK(`there is no hook ${JSON.stringify(name)}; there are ${NAMES.join(', ')}`)
    if (typeof hook !== 'function') throw new MCP_ERR_HOOK(`${name} must be a function, got ${typeof hook}`)
    this.hooks[name].push(hook)
  }

  /** A call came whose arguments nobody has had in hand yet. */
  received (exchange: Exchange, args: unknown): void {
    if (this.calls.has(exchange)) return // its handler returned questions, and runs again
    const call = this.callOf(exchange)
    this.attempt(exchange, () => { call.came = JSON.stringify(args) })
  }

  /** The handler of a call runs next. */
  called (exchange: Exchange): void {
    const call = this.callOf(exchange)
    if (call.began !== undefined) return
    call.began = performance.now()
    this.tell(exchange, call, 'onCall', {})
  }

  answered (exchange: Exchange, outcome: ResultEvent['outcome']): void {
    this.end(exchange, (call, duration) => this.tell(exchange, call, 'onResult', { outcome, duration }))
  }

  /**
   * @param told what the client gets of it
   * @param isResult it gets it as a result
   */
  failed (exchange: Exchange, error: unknown, told: string, isResult = false): void {
    this.end(exchange, (call, duration) => {
      const outcome = outcomeOf(error, exchange, call.began !== undefined, isResult)
      if (outcome === 'tool-error') return this.tell(exchange, call, 'onResult', { outcome, duration })
      this.tell(exchange, call, 'onError', { outcome, duration, message: told, errorId: exchange.errorId }, call.began === undefined && outcome === 'invalid' ? false : undefined)
    })
  }

  /** A call has one end. */
  private end (exchange: Exchange, told: (call: Call, duration: number) => void): void {
    const call = this.callOf(exchange)
    if (exchange.method?.asks !== true || call.over) return
    call.over = true
    this.attempt(exchange, () => told(call, call.began === undefined ? 0 : performance.now() - call.began))
  }

  private callOf (exchange: Exchange): Call {
    let call = this.calls.get(exchange)
    if (call === undefined) this.calls.set(exchange, call = { came: undefined, shown: undefined, began: undefined, over: false })
    return call
  }

  /**
   * @param more what the event has beside what all have
   * @param fits whether the arguments fit their schema: those of a handler that runs do
   */
  private tell<N extends keyof CallHooks> (exchange: Exchange, call: Call, name: N, more: Omit<Parameters<CallHooks[N]>[0], keyof CallEvent>, fits = call.began === undefined ? undefined : true): void {
    if (this.hooks[name].length > 0) this.attempt(exchange, () => { this.show(exchange, call, fits) })
    for (const hook of this.hooks[name]) {
      this.attempt(exchange, () => {
        const done = (hook as (event: unknown) => unknown)(Object.freeze({ ...eventOf(exchange, call.shown), ...more }))
        if (isThenable(done)) Promise.resolve(done).then(undefined, error => report(exchange, error, name))
      }, name)
    }
  }

  /** Works out once what hooks may see. What cannot be is not shown. */
  private show (exchange: Exchange, call: Call, fits: boolean | undefined): void {
    const { came } = call
    if (came === undefined) return
    call.came = undefined
    const { redact } = exchange.target as Target
    call.shown = redact === undefined ? came : JSON.stringify(redact(JSON.parse(came), fits))
  }

  private attempt (exchange: Exchange, what: () => void, hook?: string): void {
    try { what() } catch (error) { report(exchange, error, hook) }
  }
}

/** Without the error where that cannot be logged either: a hook may throw anything. */
function report ({ endpoint: { app: { log } } }: Exchange, err: unknown, hook?: string): void {
  const said = hook === undefined ? 'hooks cannot be told all of a call' : 'a hook of calls failed'
  try { log.error({ err, hook }, said) } catch { log.error({ hook }, said) }
}

function outcomeOf (error: unknown, exchange: Exchange, began: boolean, isResult: boolean): ErrorEvent['outcome'] | 'tool-error' {
  if (exchange.errorId !== undefined) return 'error'
  if (error instanceof Refusal) return 'denied'
  if (error instanceof CallTimeout) return 'timeout'
  if (error instanceof CallCancelled || exchange.stoppedBy(error)) return 'cancelled'
  if (error instanceof BadArguments) return 'invalid'
  // What stands between the arguments and the handler is the question whether it may run.
  if (isResult) return began ? 'tool-error' : 'denied'
  if (!(error instanceof McpError)) return 'error'
  if (error.status === 403 || (error instanceof InputUnsupportedError && !began)) return 'denied'
  return error.code === INVALID || error.code === exchange.served.revision.resourceNotFound ? 'invalid' : 'error'
}

function eventOf (exchange: Exchange, shown: string | undefined): CallEvent {
  const { message: { id, method }, auth, client, session, request, served } = exchange
  const params = isObject(exchange.message.params) ? exchange.message.params : {}
  const name = params.name ?? params.uri
  return {
    method: method as CallEvent['method'],
    name: typeof name === 'string' ? name : undefined,
    arguments: shown === undefined ? undefined : JSON.parse(shown),
    auth: auth && callerOf(auth),
    client: copyOf(client) as CallEvent['client'],
    session: session?.id,
    request,
    revision: served.revision.version,
    id
  }
}

/** What an author's own object says may be there by getters of its class. */
function callerOf (auth: AuthInfo): AuthInfo {
  const { subject, issuer, clientId, scopes, expiresAt, claims } = auth
  const known = { subject, issuer, clientId, scopes: [...scopes], expiresAt, claims: copyOf(claims) as AuthInfo['claims'] }
  const said = Object.entries(known).filter(([, value]) => value !== undefined)
  return { ...copyOf(auth) as AuthInfo, ...Object.fromEntries(said) }
}

/** As much of a value as is data: without functions, what is no copy of its own, and circles around those. */
function copyOf (value: unknown, around: readonly unknown[] = []): unknown {
  try { return structuredClone(value) } catch {}
  if (typeof value !== 'object' || value === null || around.includes(value)) return undefined
  const inside = [...around, value]
  if (Array.isArray(value)) return value.map(one => copyOf(one, inside))
  const out: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    try { out[name] = copyOf((value as Record<string, unknown>)[name], inside) } catch {} // a getter that throws
  }
  return out
}
