import type { FastifyInstance } from 'fastify'
import type { Health, Mcp, Prompt, Resource, Tool } from '../types/index.js'
import { Audit } from './audit.js'
import { Access } from './auth/access.js'
import type { Place } from './auth/place.js'
import { Calls } from './calls.js'
import type { Cluster } from './cluster/cluster.js'
import type { Change } from './changes.js'
import { CallCancelled } from './errors.js'
import { cancellation } from './features/cancellation.js'
import { completion } from './features/completion.js'
import { discover } from './features/discover.js'
import { lifecycle } from './features/lifecycle.js'
import { logging } from './features/logging.js'
import { PromptsFeature } from './features/prompts.js'
import { ResourcesFeature } from './features/resources.js'
import { subscriptions } from './features/subscriptions.js'
import { ToolsFeature } from './features/tools.js'
import type { Endpoint } from './exchange.js'
import type { Feature, Served } from './method.js'
import type { Settings } from './options.js'
import { Revisions } from './revisions/index.js'
import { ServedRevision } from './served.js'
import { Sessions } from './sessions.js'
import type { SessionLimits } from './session-limits.js'
import { Subscriptions } from './subscriptions.js'
import { expire, inputRequired } from './dispatch.js'
import { RequestStates } from './request-state.js'

const FOREIGN = 'a requestState came that another process has sealed, or this one before it started: where several processes serve the endpoint, they need redis or requestState.keys'

/** One endpoint: what it offers, to whom it speaks, and what is under way. */
export class McpServer implements Endpoint {
  readonly app: FastifyInstance
  readonly settings: Settings
  readonly calls: Calls
  readonly sessions: Sessions
  readonly subscriptions = new Subscriptions()
  readonly states: RequestStates
  readonly access: Access
  audit: Audit | undefined
  readonly inputRequired = inputRequired
  readonly revisions: Revisions<Served>
  readonly tools: ToolsFeature
  readonly resources: ResourcesFeature
  readonly prompts: PromptsFeature
  /** Nobody shall come back on the connection that an answer goes out on. */
  closing = false
  private started = false
  private readonly features: Feature[]
  private readonly served: ServedRevision[]
  private readonly changes = new Map<string, Change>()
  /** The other processes that serve this endpoint; undefined where this one is alone. */
  readonly cluster: Cluster | undefined

  /**
   * @param place where clients find the endpoint
   * @param clusterOf makes what several processes have in common
   */
  constructor (app: FastifyInstance, settings: Settings, place?: Place, clusterOf?: (server: McpServer) => Cluster) {
    this.app = app
    this.settings = settings
    this.access = new Access(settings.auth ?? {}, settings.auth && place, error => { app.log.error({ err: error }, 'auth.implies failed, so it implies nothing') })
    this.calls = new Calls(settings.sse.after, expire)
    const begun = () => this.started
    app.addHook('onReady', done => { this.started = true; done() })
    const { limits, pageSize, cache, validator } = settings
    const shared = () => this.cluster?.count
    const common = { shared, timeout: limits.toolTimeout, limit: limits.resource, validator, pageSize, cache, get started () { return begun() } }
    this.tools = new ToolsFeature(common, () => this.changed({ kind: 'tools' }))
    this.resources = new ResourcesFeature(common, () => this.changed({ kind: 'resources' }), () => this.offer(this.resources))
    this.prompts = new PromptsFeature(common, () => this.changed({ kind: 'prompts' }), () => this.offer(this.prompts))
    const introduction = {
      serverInfo: settings.serverInfo,
      instructions: settings.instructions,
      capabilities: (hears: boolean) => this.capabilities(hears),
      versions: settings.revisions.map(one => one.version).reverse(),
      cache
    }
    this.features = [
      lifecycle(introduction), discover(introduction), this.tools, this.resources, this.prompts, this.completion(limits.toolTimeout), logging, cancellation,
      subscriptions(this.subscriptions, limits.streams, kind => this.offers(kind))
    ]
    this.served = settings.revisions.map(revision => new ServedRevision(revision, this.features, settings.serverInfo))
    this.revisions = new Revisions<Served>(this.served)
    this.cluster = clusterOf?.(this)
    this.states = new RequestStates(settings.requestState, this.cluster?.member.store, () => { app.log.warn(FOREIGN) })
    this.cluster?.member.onGap(() => this.states.again())
    this.sessions = this.cluster?.sessions ?? new Sessions(sessionLimits(settings))
  }

  /** Tells listeners once, however often one turn of the loop brings the same change. */
  changed (change: Change): void {
    if (!this.started) return // nobody has seen what it was before
    if (this.changes.size === 0) setImmediate(() => this.announce())
    this.changes.set(`${change.kind} ${change.uri ?? ''}`, change)
  }

  private announce (): void {
    const changes = [...this.changes.values()]
    this.changes.clear()
    for (const change of changes) (this.cluster ?? this.subscriptions).publish(change)
  }

  private completion (timeout: number): Feature {
    const { prompts, resources } = this
    return completion({
      timeout,
      offered: () => prompts.completes || resources.completes,
      prompt: name => prompts.named(name),
      resource: (uri, exchange) => resources.named(uri, exchange)
    })
  }

  /** All scopes that anything of it needs. */
  get scopes (): string[] { return [this.tools, this.resources, this.prompts].flatMap(feature => feature.scopes) }

  /** Whether changes of that kind can come: only what was announced is promised. */
  private offers (kind: Change['kind']): boolean {
    if (kind === 'tools') return true
    return kind === 'prompts' ? this.prompts.offered : this.resources.offered
  }

  private offer (feature: Feature): void { for (const one of this.served) one.offer(feature) }

  private capabilities (hears: boolean): Record<string, unknown> {
    return Object.assign({}, ...this.features.map(feature => feature.capability?.(hears)))
  }

  /** `app.mcp` as the instance `app` sees it: what it adds is its own. */
  facade (app: FastifyInstance, stdio: Mcp['stdio'], streams: () => number): Mcp {
    const { tools, resources, prompts } = this
    return {
      tools: {
        add: (tool: unknown) => tools.add(tool as Tool, app),
        remove: name => tools.remove(name),
        enable: name => tools.enable(name, true),
        disable: name => tools.enable(name, false),
        has: name => tools.has(name)
      },
      resources: {
        add: (resource: unknown) => resources.add(resource as Resource, app),
        remove: uri => resources.remove(uri),
        enable: uri => resources.enable(uri, true),
        disable: uri => resources.enable(uri, false),
        has: uri => resources.has(uri),
        updated: uri => this.changed({ kind: 'resource', uri })
      },
      prompts: {
        add: (prompt: unknown) => prompts.add(prompt as Prompt, app),
        remove: name => prompts.remove(name),
        enable: name => prompts.enable(name, true),
        disable: name => prompts.enable(name, false),
        has: name => prompts.has(name)
      },
      addHook: (name, hook) => { (this.audit ??= new Audit()).add(name, hook) },
      stdio,
      health: () => healthOf(this.cluster?.health),
      stats: () => ({ sessions: this.sessions.size, streams: streams(), calls: this.calls.size })
    }
  }

  /**
   * Lets calls in flight finish for a while, answers those that have not, then ends what is held open.
   *
   * @param arrived waits so long for what is on its way in
   */
  async close (arrived?: (ms: number) => Promise<void>): Promise<void> {
    this.closing = true
    const until = Date.now() + this.settings.closeTimeout
    await arrived?.(this.settings.closeTimeout)
    await this.calls.drained(Math.max(0, until - Date.now()))
    this.calls.stop(new CallCancelled('The server is closing'))
    this.subscriptions.end()
    this.sessions.endAll('The server is closing')
    await this.cluster?.close()
  }
}

function healthOf (redis: { ok: boolean, since: number, error: string | undefined } | undefined): Health {
  if (redis === undefined) return { ok: true }
  return { ok: redis.ok, shared: { ok: redis.ok, since: new Date(redis.since), ...(redis.error !== undefined && { error: redis.error }) } }
}

/** Without sessions of its own, an endpoint may still have those of HTTP+SSE, which last as long as their streams. */
export function sessionLimits ({ sessions, httpSse, limits, sse }: Settings): SessionLimits {
  const { idle, max, maxPerCaller } = sessions || { idle: Infinity, max: httpSse ? 10_000 : 0, maxPerCaller: 1_000 }
  return { idle, max, maxPerCaller, calls: limits.calls, questions: limits.questions, replay: sse.replay }
}
