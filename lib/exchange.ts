import { createHash, randomUUID } from 'node:crypto'
import { Context } from './context.js'
import { CallCancelled, CallTimeout, causesOf, Refusal, rpcError } from './errors.js'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Access } from './auth/access.js'
import { principalOf } from './auth/caller.js'
import type { AuthInfo, ClientCapabilities, Implementation } from '../types/index.js'
import type { Audit } from './audit.js'
import type { Calls } from './calls.js'
import { Requests } from './input.js'
import type { Asker } from './input.js'
import { errorText, isObject, tooLargeIn } from './jsonrpc.js'
import type { Params, Request } from './jsonrpc.js'
import type { RequestStates } from './request-state.js'
import { Rounds } from './rounds.js'
import { META } from './schemas/envelope.js'
import type { Channel, Method, Served } from './method.js'
import type { Session } from './session.js'

/** What of the server a message meets. */
export interface Endpoint {
  readonly app: FastifyInstance
  readonly calls: Calls
  readonly states: RequestStates
  readonly access: Access
  /** Told of calls, where anybody listens. */
  readonly audit: Audit | undefined
  /** Answers a call that ends with a question. */
  inputRequired (exchange: Exchange): void
}

/** How much a client may say of itself, as JSON, where that is kept. */
const MAX_IDENTITY = 16_384

const NONE: Params = Object.freeze({})

/** One request and its answer. What is not always needed is made when it is first asked for. */
export class Exchange {
  readonly endpoint: Endpoint
  readonly served: Served
  readonly message: Request
  readonly channel: Channel
  readonly session: Session | undefined
  readonly request: FastifyRequest | undefined
  /** Who makes it. */
  readonly auth: AuthInfo | undefined
  method: Method | undefined
  /** What the method works on, for the mapping of its outcome: a tool, say. */
  target: unknown
  settled = false
  /** The instance that added what the method works on. */
  owner: FastifyInstance
  /** How long the call may take, in ms; 0: as long as it wants. */
  timeout = 0
  /** The message as it came: arguments are digested before defaults are filled in. */
  raw: string | undefined
  rounds: Rounds | undefined
  /** Where it comes from, if its request is at another process. */
  address: string | undefined
  /** What the log calls an error that nobody expected. */
  errorId: string | undefined
  /** Called when nothing more will be sent; for a method that keeps the channel. */
  onEnd: (() => void) | undefined
  /** Called when the handler waits for what only another round brings: it does no more. */
  onParked: (() => void) | undefined
  private requests: Requests | undefined
  private ids = 0
  private context: Context | undefined
  private controller: AbortController | undefined
  private reason: Error | undefined

  constructor (endpoint: Endpoint, served: Served, message: Request, channel: Channel, session: Session | undefined, request: FastifyRequest | undefined, auth?: AuthInfo) {
    this.endpoint = endpoint
    this.served = served
    this.message = message
    this.channel = channel
    this.session = session
    this.request = request
    this.auth = auth
    this.owner = endpoint.app
  }

  get ctx (): Context { return (this.context ??= new Context(this)) }

  get meta (): Params { return (this.message.params?._meta ?? NONE) as Params }

  get client (): Implementation | undefined {
    return this.served.revision.stateless ? this.meta[META.clientInfo] as Implementation | undefined : this.session?.client
  }

  get capabilities (): ClientCapabilities {
    return (this.served.revision.stateless ? this.meta[META.clientCapabilities] : this.session?.capabilities) as ClientCapabilities | undefined ?? NONE
  }

  /** Who asks the client, in the way of the revision. */
  get input (): Asker {
    if (this.served.revision.ask.as === 'result') return (this.rounds ??= new Rounds(this, undefined, {}))
    return (this.requests ??= this.begunAsking())
  }

  /** A call that is over, or was told to stop, asks nothing any more. */
  private begunAsking (): Requests {
    const requests = new Requests(this)
    const over = this.reason ?? (this.settled ? new CallCancelled('The call is over') : undefined)
    if (over !== undefined) requests.stop(over)
    return requests
  }

  nextId (): string { return `${this.message.id}-${++this.ids}` }

  /** Takes up a call that was ended by a question. A promise where there is a state to open. */
  resume (params: Params): Promise<void> | undefined {
    if (this.served.revision.ask.as === 'request') return undefined
    const { requestState, inputResponses } = params
    const responses = inputResponses ?? {}
    if (!isObject(responses)) throw rpcError('InvalidParams', 'inputResponses must be an object of answers by their keys')
    if (requestState === undefined || requestState === null) {
      this.rounds = new Rounds(this, undefined, responses)
      return undefined
    }
    if (typeof requestState !== 'string') throw rpcError('InvalidParams', 'requestState must be a string')
    return this.endpoint.states.open(requestState, this.bound()).then(state => { this.rounds = new Rounds(this, state, responses) })
  }

  /** One name for one caller: whose token it is, else where the request comes from; undefined on stdio. */
  get caller (): string | undefined { return this.auth === undefined ? this.request?.ip ?? this.address : principalOf(this.auth) }

  /** Names the caller and the request that a state belongs to. @throws McpError where the arguments would not be told from others */
  bound (): string {
    const { method, params } = this.message
    const args = (this.raw === undefined ? params : JSON.parse(this.raw).params)?.arguments
    const at = tooLargeIn(args)
    if (at !== undefined) throw rpcError('InvalidParams', `arguments${at} is a number that is too large`)
    return createHash('sha256').update(JSON.stringify([this.auth && principalOf(this.auth), method, params?.name ?? params?.uri, sorted(args)])).digest('base64url')
  }

  /** Aborts when the answer is not wanted any more. A client that leaves says so, except in a session: there it may come back for it. */
  get signal (): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.reason !== undefined) this.controller.abort(this.reason)
      else if (this.alone) this.channel.onGone(() => this.abort(gone()))
    }
    return this.controller.signal
  }

  /** Whether nobody can come back for the answer. */
  private get alone (): boolean { return this.session === undefined || this.served.revision.stateless }

  /** Whether nobody is there any more to whom the answer could go. */
  get abandoned (): boolean { return this.alone && this.channel.gone }

  /** Lets go of all that the request said but who its client is, for a method that keeps the channel. */
  keepIdentity (): void {
    const { [META.protocolVersion]: version, [META.clientInfo]: client, [META.clientCapabilities]: capabilities } = this.meta
    const kept = { [META.protocolVersion]: version, [META.clientInfo]: client, [META.clientCapabilities]: capabilities }
    if (JSON.stringify([this.message.id, kept]).length > MAX_IDENTITY) throw rpcError('InvalidParams', `the id and what _meta says of the client may have ${MAX_IDENTITY} characters together`)
    this.raw = undefined
    this.message.params = { _meta: kept }
  }

  abort (reason: Error): void {
    if (this.settled || this.reason !== undefined) return
    this.reason = reason
    this.requests?.stop(reason)
    this.controller?.abort(reason)
  }

  /** Ends without an answer: the client took the request back, or its session is over. */
  cancel (reason: Error): void {
    if (this.settled) return
    this.abort(reason)
    this.endpoint.audit?.failed(this, reason, reason.message)
    this.finish()
    this.channel.close(errorText(this.message.id, rpcError('Cancelled', reason.message)))
  }

  /** Ends since the client has left. */
  leave (): void { this.cancel(gone()) }

  send (text: string): void {
    if (!this.settled) this.channel.send(text)
  }

  end (text: string, status: number, headers?: Record<string, string>): void {
    if (this.settled) return
    this.finish()
    this.channel.end(text, status, headers)
  }

  /** Puts the call among those in flight: from now on it can be cancelled, timed and waited for. `over` is what it ends with when its time is over. */
  wait (over?: Error): void {
    this.endpoint.calls.add(this, over)
    this.session?.began(this)
  }

  /** Whether the handler failed only because it was told to stop. */
  stoppedBy (error: unknown): boolean { return this.reason !== undefined && causesOf(error).some(one => one === this.reason || (one as Error | undefined)?.name === 'AbortError') }

  /** Logs in full what a client may not see; the id it gives is all that the client gets of it. */
  report (error: unknown): string {
    const errorId = this.errorId = randomUUID().slice(0, 8)
    this.ctx.log.error({ err: error, errorId, ...this.named }, 'unexpected error')
    return errorId
  }

  /** Logs what a handler fails with when nobody waits for it any more, unless it failed only because of that. */
  late (error: unknown): void {
    if (this.stoppedBy(error) || STOPS.some(stop => error instanceof stop)) return
    this.ctx.log.warn({ err: error, ...this.named }, 'a handler failed after its call was over')
  }

  /** Logs what a client is told too, for whoever runs the server. */
  warn (sentence: string, fields: Record<string, unknown>): void { this.ctx.log.warn({ ...fields, ...this.named }, sentence) }

  private get named () {
    const { method, params } = this.message
    return { method, name: params?.name ?? params?.uri }
  }

  /** For a method that answers by itself: nothing more is sent after this. */
  conclude (): void {
    if (this.settled) return
    this.finish()
    this.channel.close()
  }

  private finish (): void {
    this.requests?.stop(new CallCancelled('The call is over'))
    this.settled = true
    this.endpoint.calls.delete(this)
    this.session?.ended(this)
    this.onEnd?.()
  }
}

const STOPS = [CallCancelled, CallTimeout, Refusal]
const gone = () => new CallCancelled('The client is gone')

/** The same arguments in another order are the same arguments. */
function sorted (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value ?? null
  return Object.fromEntries(Object.keys(value).sort().map(key => [key, sorted(value[key])]))
}
