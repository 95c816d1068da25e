import type { FastifyInstance } from 'fastify'
import type { Implementation, Mcp, Tool } from '../types/index.js'
import { Calls } from './calls.js'
import type { Change } from './changes.js'
import { CallCancelled } from './errors.js'
import { cancellation } from './features/cancellation.js'
import { discover } from './features/discover.js'
import { lifecycle } from './features/lifecycle.js'
import { logging } from './features/logging.js'
import { subscriptions } from './features/subscriptions.js'
import { ToolsFeature } from './features/tools.js'
import type { Endpoint } from './exchange.js'
import type { Feature, Listener, Method, Served } from './method.js'
import type { Settings } from './options.js'
import { Revisions } from './revisions/index.js'
import type { Revision } from './revisions/revision.js'
import { Sessions } from './sessions.js'
import { Subscriptions } from './subscriptions.js'
import { checkOf } from './validate.js'
import { expire, inputRequired } from './dispatch.js'
import { RequestStates } from './request-state.js'

/** One endpoint: what it offers, to whom it speaks, and what is under way. */
export class McpServer implements Endpoint {
  readonly app: FastifyInstance
  readonly settings: Settings
  readonly calls: Calls
  readonly sessions: Sessions
  readonly subscriptions = new Subscriptions()
  readonly states: RequestStates
  readonly inputRequired = inputRequired
  readonly revisions: Revisions<Served>
  readonly tools: ToolsFeature
  private readonly features: Feature[]
  private readonly changes = new Set<Change['kind']>()

  constructor (app: FastifyInstance, settings: Settings) {
    this.app = app
    this.settings = settings
    this.calls = new Calls(settings.sse.after, expire)
    this.sessions = new Sessions(settings.sessions || { idle: Infinity, max: settings.httpSse ? 10_000 : 0 })
    this.states = new RequestStates(settings.requestState)
    const started = { value: false }
    app.addHook('onReady', done => { started.value = true; done() })
    const { limits, pageSize, cache, validator } = settings
    this.tools = new ToolsFeature({ timeout: limits.toolTimeout, validator, pageSize, cache, get started () { return started.value } }, () => this.changed('tools'))
    const introduction = {
      serverInfo: settings.serverInfo,
      instructions: settings.instructions,
      capabilities: (hears: boolean) => this.capabilities(hears),
      versions: settings.revisions.map(one => one.version).reverse(),
      cache
    }
    this.features = [
      lifecycle(introduction), discover(introduction), this.tools, logging, cancellation,
      subscriptions(this.subscriptions, limits.streams, kind => kind === 'tools')
    ]
    this.revisions = new Revisions(settings.revisions.map(revision => served(revision, this.features, settings.serverInfo)))
  }

  /** Tells listeners once, however many changes one turn of the loop brings. */
  changed (kind: Change['kind']): void {
    if (this.changes.size === 0) setImmediate(() => this.announce())
    this.changes.add(kind)
  }

  private announce (): void {
    const kinds = [...this.changes]
    this.changes.clear()
    for (const kind of kinds) this.subscriptions.publish({ kind })
  }

  private capabilities (hears: boolean): Record<string, unknown> {
    return Object.assign({}, ...this.features.map(feature => feature.capability?.(hears)))
  }

  /** `app.mcp` as the instance `app` sees it: what it adds is its own. */
  facade (app: FastifyInstance, stdio: Mcp['stdio'], streams: () => number): Mcp {
    const { tools } = this
    return {
      tools: {
        add: (tool: unknown) => tools.add(tool as Tool, app),
        remove: name => tools.remove(name),
        enable: name => tools.enable(name, true),
        disable: name => tools.enable(name, false),
        has: name => tools.has(name)
      },
      stdio,
      stats: () => ({ sessions: this.sessions.size, streams: streams(), calls: this.calls.size })
    }
  }

  /** Ends what is held open, lets calls in flight finish for a while, then stops them. */
  async close (): Promise<void> {
    this.subscriptions.end()
    await this.calls.drained(this.settings.closeTimeout)
    this.calls.cancel(new CallCancelled('The server is closing'))
    this.sessions.endAll('The server is closing')
  }
}

/** A revision with the methods that it has and this server offers, and their results as text. */
function served (revision: Revision, features: Feature[], serverInfo: Implementation): Served {
  const identity = JSON.stringify(serverInfo)
  const methods = features.flatMap(feature => feature.methods).filter(method => revision.requests.has(method.name))
  const listeners: Listener[] = features.flatMap(feature => feature.notifications ?? []).filter(one => revision.notifications.has(one.name))
  const kept = new WeakMap<Record<string, unknown>, string>()
  return {
    revision,
    methods: new Map(methods.map(method => [method.name, { method, check: checkOf(method.params as unknown as Record<string, unknown>) }])),
    listeners: new Map(listeners.map(one => [one.name, one])),
    encode (method: Method, result: Record<string, unknown>): string {
      if (method.shared !== true) return revision.encode(method.name, result, identity)
      let text = kept.get(result)
      if (text === undefined) kept.set(result, text = revision.encode(method.name, result, identity))
      return text
    }
  }
}
