import type { FastifyRequest } from 'fastify'
import { hostOf, pathOf } from '../target.js'

export const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** Where clients find the endpoint, and what is said of it (RFC 9728 section 3.1: the path of the resource follows the well-known one). */
export class Place {
  /** The path on this server. */
  readonly path: string
  private readonly configured: URL | undefined
  private readonly said: string | undefined

  /** @param resource the URL that clients use, where it is not the one they send their requests to */
  constructor (path: string, resource: string | undefined) {
    this.path = path
    this.said = resource
    this.configured = resource === undefined ? undefined : new URL(resource)
  }

  /** Paths of the metadata: that of the resource as clients see it, and as this server does. */
  get documents (): string[] { return [...new Set([this.path, this.configured?.pathname ?? this.path].map(path => WELL_KNOWN + after(path)))] }

  /** As it is configured, to the letter: clients compare it with the URL they use. */
  resource (request: FastifyRequest): string {
    if (this.said !== undefined) return this.said
    const { origin, pathname } = this.public(request)
    return origin + after(pathname)
  }

  metadata (request: FastifyRequest): string {
    const { origin, pathname } = this.public(request)
    return origin + WELL_KNOWN + after(pathname)
  }

  /** What the client sent this request to: the endpoint, or a path below it. */
  url (request: FastifyRequest): string {
    const { origin, pathname } = this.public(request)
    const path = pathOf(request)
    return origin + (path.startsWith(this.path) ? pathname.replace(/\/$/, '') + path.slice(this.path.length) : path)
  }

  private public (request: FastifyRequest): { origin: string, pathname: string } {
    return this.configured ?? { origin: `${request.protocol}://${hostOf(request)}`, pathname: this.path }
  }
}

/** The path of the root is none, where others go before it. */
const after = (path: string): string => path === '/' ? '' : path
