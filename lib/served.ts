import type { Implementation } from '../types/index.js'
import type { Feature, Listener, Method, Served } from './method.js'
import type { Revision } from './revisions/revision.js'
import { checkOf } from './validate.js'
import type { Check } from './validate.js'

/** A revision with the methods that it has and this server offers, and their results as text. */
export class ServedRevision implements Served {
  readonly revision: Revision
  readonly methods = new Map<string, { method: Method, check: Check }>()
  readonly listeners = new Map<string, Listener>()
  private readonly identity: string
  private readonly kept = new WeakMap<Record<string, unknown>, string>()

  constructor (revision: Revision, features: Feature[], serverInfo: Implementation) {
    this.revision = revision
    this.identity = JSON.stringify(serverInfo)
    for (const feature of features) if (feature.offered !== false) this.offer(feature)
  }

  /** From now on the methods of the feature are known, as far as the revision has them. */
  offer (feature: Feature): void {
    const { requests, notifications } = this.revision
    for (const method of feature.methods) if (requests.has(method.name)) this.methods.set(method.name, { method, check: checkOf(method.params) })
    for (const listener of feature.notifications ?? []) if (notifications.has(listener.name)) this.listeners.set(listener.name, listener)
  }

  encode (method: Method, result: Record<string, unknown>): string {
    if (method.shared !== true) return this.revision.encode(method.name, result, this.identity)
    let text = this.kept.get(result)
    if (text === undefined) this.kept.set(result, text = this.revision.encode(method.name, result, this.identity))
    return text
  }
}
