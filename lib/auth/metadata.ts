import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuthOptions } from '../../types/index.js'
import { DPOP_ALGORITHMS } from './dpop.js'
import { WELL_KNOWN } from './place.js'
import type { Place } from './place.js'

export interface MetadataOptions { auth: AuthOptions, place: Place, name: string, scopes: () => string[] }

/**
 * Protected resource metadata (RFC 9728 section 2): public, whatever page asks. Mounted on the root of the app: its paths are fixed.
 * Its scopes are what clients ask for at first: the least that is of use, the rest comes by challenges (2026-07-28 basic/authorization, Scope
 * Selection Strategy). Where nothing is said to be the least it is all there is.
 */
export function mountMetadata (root: FastifyInstance, { auth, place, name, scopes }: MetadataOptions): void {
  const issuer = auth.jwt?.issuer ?? auth.introspection?.issuer
  const document = (request: FastifyRequest) => ({
    resource: place.resource(request),
    authorization_servers: auth.authorizationServers ?? (issuer === undefined ? undefined : [issuer]),
    scopes_supported: nonEmpty([...new Set(auth.scopes ?? scopes())].sort()),
    bearer_methods_supported: ['header'],
    resource_name: name,
    ...(auth.authenticate === undefined && {
      dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
      ...(auth.dpop === 'require' && { dpop_bound_access_tokens_required: true })
    })
  })
  for (const url of [...place.documents, ...(auth.rootMetadata === true ? [WELL_KNOWN] : [])]) {
    if (root.hasRoute({ method: 'GET', url })) continue
    root.route({
      method: 'GET',
      url,
      handler (request, reply) {
        return forAll(reply).header('cache-control', 'no-store').type('application/json').send(JSON.stringify(document(request)))
      }
    })
    // Clients send MCP-Protocol-Version here too, so a browser asks first.
    root.options(url, (_, reply) => forAll(reply).headers({ 'access-control-allow-methods': 'GET, HEAD', 'access-control-allow-headers': '*' }).code(204).send())
  }
}

/** An app that has CORS of its own has said it already. */
const forAll = (reply: FastifyReply): FastifyReply => reply.hasHeader('access-control-allow-origin') ? reply : reply.header('access-control-allow-origin', '*')

const nonEmpty = <T>(list: T[]): T[] | undefined => list.length === 0 ? undefined : list
