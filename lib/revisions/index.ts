import type { Revision as RevisionName } from '../../types/index.js'
import { rpcError } from '../errors.js'
import { isObject } from '../jsonrpc.js'
import type { Notification, Request } from '../jsonrpc.js'
import { LEVELS, META } from '../schemas/envelope.js'
import { revision20241105 } from './2024-11-05.js'
import { revision20250326 } from './2025-03-26.js'
import { revision20250618 } from './2025-06-18.js'
import { revision20251125 } from './2025-11-25.js'
import { revision20260728 } from './2026-07-28.js'
import type { Revision } from './revision.js'

/** Oldest first. */
export const revisions: readonly Revision[] = [revision20241105, revision20250326, revision20250618, revision20251125, revision20260728]

/** What a message is taken to speak when nothing says so: 2025-06-18 brought the header (2026-07-28 basic/transports/streamable-http, Protocol Version Header). */
const UNSAID: RevisionName = '2025-03-26'

interface Served { readonly revision: Revision }

/** Which revision a message speaks, among those an endpoint serves. Chosen once, at the door. */
export class Revisions<T extends Served> {
  readonly versions: string[]
  private readonly byVersion: Map<string, T>
  private readonly handshakes: T[]
  private readonly stateless: boolean

  /** @param served oldest first */
  constructor (served: T[]) {
    this.versions = served.map(one => one.revision.version).reverse()
    this.byVersion = new Map(served.map(one => [one.revision.version, one]))
    this.handshakes = served.filter(one => !one.revision.stateless)
    this.stateless = this.handshakes.length < served.length
  }

  get (version: string): T | undefined { return this.byVersion.get(version) }

  /** Whether the message begins a session; such a message belongs to no session, whatever its headers say. */
  opens (message: Request): boolean { return message.method === 'initialize' && this.claimed(message) === undefined }

  /** Whether the message carries its own context, so that sessions mean nothing to it. */
  standsAlone (message: Request | Notification): boolean { return this.claimed(message) !== undefined }

  /** Whether this version of the header speaks of requests that carry their own context. */
  isStateless (header: string | undefined): boolean { return header !== undefined && this.byVersion.get(header)?.revision.stateless === true }

  /** @throws McpError that the transport sends back */
  choose (message: Request, header: string | undefined, bound: T | undefined): T {
    const claimed = this.claimed(message)
    if (claimed !== undefined) return this.perRequest(message, header)
    if (this.opens(message) && this.handshakes.length > 0) return this.negotiate(message)
    if (bound !== undefined) return this.ofSession(bound, header)
    if (this.isStateless(header)) return this.perRequest(message, header)
    return this.unbound(message, header)
  }

  /** For an array of messages, which cannot say for itself what it speaks. */
  ofBatch (items: readonly unknown[], header: string | undefined, bound: T | undefined): T {
    if (items.some(item => isObject(item) && this.standsAlone(item as unknown as Request))) throw rpcError('InvalidRequest', 'messages that name their version in _meta come one at a time')
    if (bound !== undefined) return this.ofSession(bound, header)
    const named = this.byVersion.get(header ?? UNSAID)
    if (named === undefined) throw rpcError('InvalidRequest', `${header === undefined ? 'a batch is not taken here' : `MCP-Protocol-Version ${quote(header)} is not spoken here`}; use one of ${this.versions.join(', ')}`)
    return named
  }

  /** The revision of a session, if the header does not contradict it (2025-11-25 basic/transports, Protocol Version Header). */
  ofSession (bound: T, header: string | undefined): T {
    const { version } = bound.revision
    if (header === undefined || header === version) return bound
    throw rpcError('InvalidRequest', `MCP-Protocol-Version is ${quote(header)}, but this session speaks ${version}`)
  }

  /** The newest handshake revision where the one asked for is not served (2025-11-25 basic/lifecycle, Version Negotiation). */
  private negotiate (message: Request): T {
    const asked = message.params?.protocolVersion
    return this.handshakes.find(one => one.revision.version === asked) ?? this.handshakes.at(-1) as T
  }

  private unbound (message: Request, header: string | undefined): T {
    const oldest = this.handshakes[0]
    if (oldest === undefined) {
      const asked = header ?? message.params?.protocolVersion
      if (typeof asked !== 'string') throw rpcError('HeaderMismatch', `MCP-Protocol-Version is missing; this server speaks ${this.versions.join(', ')}`)
      throw this.unsupported(asked)
    }
    if (header === undefined) return this.byVersion.get(UNSAID) ?? oldest
    const named = this.byVersion.get(header)
    if (named !== undefined) return named
    throw rpcError('InvalidRequest', `MCP-Protocol-Version ${quote(header)} is not spoken here; use one of ${this.versions.join(', ')}`)
  }

  /** First what is malformed, then what contradicts itself, then what is not served. */
  private perRequest (message: Request, header: string | undefined): T {
    const meta = isObject(message.params?._meta) ? message.params._meta : {}
    const version = meta[META.protocolVersion]
    const problem = metaProblem(meta)
    if (header === undefined) throw rpcError('HeaderMismatch', `MCP-Protocol-Version is missing; _meta says ${quote(version)}`)
    if (problem !== undefined) throw rpcError('InvalidParams', problem)
    if (header !== version) throw rpcError('HeaderMismatch', `MCP-Protocol-Version is ${quote(header)}, but _meta says ${quote(version)}`)
    const named = this.byVersion.get(header)
    if (named === undefined) throw this.unsupported(header)
    if (!named.revision.stateless) throw rpcError('InvalidRequest', `${header} has no version in _meta; open with initialize, or name one of ${this.versions.join(', ')} that has`)
    return named
  }

  private unsupported (requested: string) {
    return rpcError('UnsupportedVersion', `${quote(requested)}; this server speaks ${this.versions.join(', ')}`, { supported: this.versions, requested })
  }

  private claimed (message: Request | Notification): unknown {
    if (!this.stateless) return undefined
    const meta = message.params?._meta
    return isObject(meta) ? meta[META.protocolVersion] : undefined
  }
}

/** `_meta` of a request that carries its own context (2026-07-28 basic/index, Per-request protocol fields). */
function metaProblem (meta: Record<string, unknown>): string | undefined {
  const at = (key: string) => `params._meta[${JSON.stringify(key)}]`
  if (typeof meta[META.protocolVersion] !== 'string') return `${at(META.protocolVersion)} must be a string`
  if (!isObject(meta[META.clientCapabilities])) return `${at(META.clientCapabilities)} must be an object`
  const info = meta[META.clientInfo]
  if (info !== undefined && !isObject(info)) return `${at(META.clientInfo)} must be an object`
  const level = meta[META.logLevel]
  if (level !== undefined && !LEVELS.some(known => known === level)) return `${at(META.logLevel)} must be one of ${LEVELS.join(', ')}`
}

const quote = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? 'nothing'
