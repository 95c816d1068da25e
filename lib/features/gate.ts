import type { Context } from '../../types/index.js'
import { certain } from '../certain.js'
import type { Exchange } from '../exchange.js'
import { preview } from '../preview.js'
import { scopesProblem } from '../schemas/scopes.js'

// Who sees a tool, a resource or a prompt, and who may use it.

/** How many different views of one list are kept; with more the oldest are made again. */
const MAX_VIEWS = 64

export interface Gate {
  readonly scopes: readonly string[]
  readonly visible: ((ctx: Context) => boolean) | undefined
  /** What it belongs to, for the log. */
  readonly of?: string
}

/** What depends on the caller is for the caller alone (2026-07-28 server/utilities/caching, Security Considerations). */
export const PRIVATE = { cacheScope: 'private' } as const
export const OPEN: Gate = { scopes: [], visible: undefined }

interface Gatable { name?: string | undefined, scopes?: readonly string[] | undefined, visible?: ((ctx: Context) => boolean) | undefined }

/** @throws Error that says what is wrong with it */
export function gateOf ({ name, scopes = [], visible }: Gatable): Gate {
  const problem = scopesProblem(scopes)
  if (problem !== undefined) throw new Error(`scopes${problem}`)
  if (visible !== undefined && typeof visible !== 'function') throw new Error(`visible must be a function, got ${preview(visible)}`)
  return scopes.length === 0 && visible === undefined ? OPEN : { scopes, visible, ...(name !== undefined && { of: name }) }
}

/** Whether it is there for this caller. */
export function sees (gate: Gate, exchange: Exchange): boolean {
  const { scopes, visible } = gate
  const { access } = exchange.endpoint
  if (!access.shows && !access.covers(exchange.auth, scopes)) return false
  return visible === undefined || certain(() => visible(exchange.ctx), visible, error => {
    exchange.endpoint.app.log.error({ err: error, ...(gate.of !== undefined && { name: gate.of }) }, 'visible failed, so what it is for is hidden')
  })
}

/** @throws McpError 403 that names all scopes */
export function admit ({ scopes }: Gate, exchange: Exchange): void {
  const { access } = exchange.endpoint
  if (scopes.length > 0 && !access.covers(exchange.auth, scopes)) throw access.insufficient(scopes, exchange.request)
}

interface Gated { readonly gate: Gate }

/** A list as each caller sees it, arranged once for all who see the same. */
export class Views<E extends Gated, V> {
  private readonly arrange: (entries: readonly E[], own: boolean) => V
  private readonly views = new Map<string, V>()
  private all: V | undefined
  private entries: readonly E[] | undefined
  private open = true

  /** @param arrange `own`: it depends on the caller, so no cache may share it */
  constructor (arrange: (entries: readonly E[], own: boolean) => V) { this.arrange = arrange }

  /** @param entries the same array as long as they are the same */
  of (entries: readonly E[], exchange: Exchange): V {
    if (entries !== this.entries) this.begin(entries, exchange)
    if (this.open) return (this.all ??= this.arrange(entries, false))
    const seen = entries.map(({ gate }) => gate === OPEN || sees(gate, exchange))
    const key = seen.map(one => one ? '1' : '0').join('')
    let view = this.views.get(key)
    if (view === undefined) {
      const [oldest] = this.views.keys()
      if (this.views.size >= MAX_VIEWS && oldest !== undefined) this.views.delete(oldest)
      this.views.set(key, view = this.arrange(entries.filter((_, i) => seen[i]), true))
    }
    return view
  }

  private begin (entries: readonly E[], { endpoint: { access } }: Exchange): void {
    this.entries = entries
    this.open = entries.every(({ gate }) => gate.visible === undefined && (access.shows || gate.scopes.length === 0))
    this.all = undefined
    this.views.clear()
  }
}
