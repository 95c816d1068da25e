import type { FastifyRequest } from 'fastify'

// What a request asks for (RFC 9112 section 3.2). A target in absolute form names its host itself, and the Host header does not count then.

const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i

/** The host, with its port where that is named. */
export function hostOf ({ url, host }: Pick<FastifyRequest, 'url' | 'host'>): string {
  return url.startsWith('/') ? host : ABSOLUTE.exec(url)?.[1] ?? host
}

/** The path, and nothing that a client could take for a host: it resolves two slashes to one, and backslashes to slashes. */
export function pathOf ({ url }: Pick<FastifyRequest, 'url'>): string {
  return (url.split('?', 1)[0] as string).replace(ABSOLUTE, '').replace(/^[/\\]*/, '/')
}
