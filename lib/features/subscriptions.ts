import { rpcError } from '../errors.js'
import type { Exchange } from '../exchange.js'
import { notificationText, resultText } from '../jsonrpc.js'
import { KEPT } from '../method.js'
import type { Feature, Method } from '../method.js'
import { META } from '../schemas/envelope.js'
import { ListenParams } from '../schemas/params.js'
import { changeText, MAX_URIS } from '../changes.js'
import type { Change } from '../changes.js'
import type { Subscription } from '../subscriptions.js'

interface Wanted { toolsListChanged?: boolean, promptsListChanged?: boolean, resourcesListChanged?: boolean, resourceSubscriptions?: string[] }

export interface Listeners {
  readonly size: number
  add (subscription: Subscription, until?: number): void
  delete (subscription: Subscription): void
}

const FILTERS = { toolsListChanged: 'tools', promptsListChanged: 'prompts', resourcesListChanged: 'resources' } as const

/** A stream of the changes a client asked for (2026-07-28 basic/patterns/subscriptions). */
export function subscriptions (listeners: Listeners, max: number, offers: (kind: Change['kind']) => boolean): Feature {
  const method: Method = {
    name: 'subscriptions/listen',
    params: ListenParams,
    call (params, exchange) {
      if (!exchange.channel.streams) throw rpcError('NotAcceptable', 'subscriptions/listen is answered by a stream; Accept must name text/event-stream')
      if (listeners.size >= max) throw rpcError('Unavailable', 'there are too many streams; try again later')
      const filter = honoured(params.notifications as Wanted, offers)
      exchange.keepIdentity()
      const listen = new Listen(exchange, filter)
      listeners.add(listen, exchange.auth?.expiresAt)
      exchange.onEnd = () => listeners.delete(listen)
      exchange.channel.onGone(() => exchange.leave())
      return KEPT
    }
  }
  return { methods: [method] }
}

/**
 * The part of the wish that can come true; the acknowledgment says so.
 * @throws McpError where that is more than a stream may have
 */
function honoured (wanted: Wanted, offers: (kind: Change['kind']) => boolean): Wanted {
  const out: Wanted = {}
  for (const [name, kind] of Object.entries(FILTERS) as [keyof typeof FILTERS, Change['kind']][]) {
    if (wanted[name] === true && offers(kind)) out[name] = true
  }
  if (wanted.resourceSubscriptions !== undefined && offers('resource')) out.resourceSubscriptions = [...new Set(wanted.resourceSubscriptions)]
  const length = out.resourceSubscriptions?.reduce((sum, uri) => sum + uri.length, 0) ?? 0
  if (length > MAX_URIS) throw rpcError('InvalidParams', `a stream may subscribe to URIs of ${MAX_URIS} characters together, these have ${length}`)
  return out
}

class Listen implements Subscription {
  private readonly exchange: Exchange
  private readonly kinds: Change['kind'][]
  readonly uris: ReadonlySet<string> | undefined

  constructor (exchange: Exchange, filter: Wanted) {
    this.exchange = exchange
    this.kinds = Object.entries(FILTERS).filter(([name]) => filter[name as keyof typeof FILTERS] === true).map(([, kind]) => kind)
    this.uris = filter.resourceSubscriptions && new Set(filter.resourceSubscriptions)
    exchange.send(notificationText('notifications/subscriptions/acknowledged', { _meta: this.meta, notifications: filter }))
  }

  private get meta () { return { [META.subscriptionId]: this.exchange.message.id } }

  wants (change: Change): boolean { return change.kind === 'resource' ? this.uris?.has(change.uri as string) === true : this.kinds.includes(change.kind) }

  deliver (change: Change): void { this.exchange.send(changeText(change, this.meta)) }

  /** The completion, then the cancellation: a client that knows the first is not troubled by the second. */
  end (): void {
    const { exchange, meta } = this
    const { id } = exchange.message
    exchange.send(resultText(id, exchange.served.encode(exchange.method as Method, { _meta: meta })))
    exchange.send(notificationText('notifications/cancelled', { _meta: meta, requestId: id, reason: 'The server ends the subscription' }))
    exchange.conclude()
  }
}
