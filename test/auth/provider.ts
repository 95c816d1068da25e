// A real authorization server on loopback: PKCE, resource indicators, registration, consent, signed tokens that end and are refreshed.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider, { errors, type Configuration, type InteractionResults, type KoaContextWithOIDC, type ResourceServer } from 'oidc-provider'
import type { Test } from 'tap'
import { Shelf, Shelves } from './shelves.js'

export const SCOPES = ['files:read', 'files:write']
const ALG = 'ES256'
/** What the resource server is to the authorization server, where it asks about tokens. */
const ASKER = { client_id: 'mcp server', client_secret: 's e%cret' }

export interface ProviderOptions {
  /** Whether access tokens are JWTs, or mean something to their issuer alone. Default: `'jwt'`. */
  format?: 'jwt' | 'opaque'
  /** Whether a client may ask for no other scopes than those it registered with (RFC 7591 section 2). Default: the server lets it ask for all. */
  held?: boolean
}

export class AuthorizationServer {
  issuer = ''
  /** How long access tokens count, in seconds. */
  ttl = 600
  /** What users let clients do, of what they ask for. */
  grants = (scope: string): boolean => SCOPES.includes(scope)
  /** The resources it issues tokens for. */
  readonly resources = new Set<string>()
  /** Client id metadata documents by URL: this server looks nowhere else. */
  readonly documents = new Map<string, object>()
  /** Each request that came, without the query. */
  readonly asked: string[] = []
  private readonly shelves = new Shelves()
  private readonly options: ProviderOptions

  constructor (options: ProviderOptions = {}) { this.options = options }

  async start (t: Test): Promise<this> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => {
      server.close()
      server.closeAllConnections()
    })
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const provider = new Provider(this.issuer, await this.configuration())
    provider.use(async (ctx, next) => {
      this.asked.push(`${ctx.method} ${ctx.path.replace(/\/(auth|interaction)\/.*/, '/$1/…')}`)
      if (ctx.path.startsWith('/interaction/')) await this.interact(provider, ctx as KoaContextWithOIDC)
      else await next()
    })
    server.on('request', provider.callback())
    return this
  }

  jwt (audience: string) { return { issuer: this.issuer, audience, jwksUri: `${this.issuer}/jwks`, clockTolerance: 0 } }
  introspection (audience: string) { return { endpoint: `${this.issuer}/token/introspection`, clientId: ASKER.client_id, clientSecret: ASKER.client_secret, issuer: this.issuer, audience, cacheTtl: 0 } }

  /** Takes back every access token, or the refresh tokens as well. */
  revoke (what: 'access' | 'all'): void {
    this.shelves.clear('AccessToken')
    if (what === 'all') this.shelves.clear('RefreshToken')
  }

  private async configuration (): Promise<Configuration> {
    const { privateKey } = await generateKeyPair(ALG, { extractable: true })
    return {
      adapter: name => new Shelf(this.shelves, name),
      jwks: { keys: [{ ...await exportJWK(privateKey), kid: 'k1', alg: ALG, use: 'sig' }] } as NonNullable<Configuration['jwks']>,
      clients: [{ ...ASKER, redirect_uris: [], response_types: [], grant_types: [] }],
      clientDefaults: { id_token_signed_response_alg: ALG },
      ...(this.options.held !== true && { extraClientMetadata: { properties: ['scope'], validator: (_, __, ___, metadata) => { delete metadata.scope } } }),
      cookies: { keys: ['only for tests'] },
      scopes: ['openid', 'offline_access', ...SCOPES],
      pkce: { required: () => true },
      findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
      issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
      rotateRefreshToken: true,
      ttl: { AccessToken: () => this.ttl, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600, IdToken: 3600 },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      fetch: async url => this.documents.has(String(url)) ? Response.json(this.documents.get(String(url))) : new Response(null, { status: 404 }),
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: { enabled: false },
        registration: { enabled: true },
        revocation: { enabled: true, allowedPolicy: () => true },
        introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === ASKER.client_id },
        clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
        resourceIndicators: { enabled: true, getResourceServerInfo: (_, resource) => this.info(resource) }
      }
    }
  }

  /** A token is for one resource alone, and its audience is the resource to the letter (RFC 8707 section 2). */
  private info (resource: string): ResourceServer {
    if (!this.resources.has(resource)) throw new errors.InvalidTarget()
    const { format = 'jwt' } = this.options
    return { audience: resource, scope: SCOPES.join(' '), accessTokenFormat: format, accessTokenTTL: this.ttl, ...(format === 'jwt' && { jwt: { sign: { alg: ALG } } }) }
  }

  /** The pages that a user sees: who it is, and what the client may do. */
  private async interact (provider: Provider, ctx: KoaContextWithOIDC): Promise<void> {
    const { prompt: { name }, params } = await provider.interactionDetails(ctx.req, ctx.res)
    if (ctx.method === 'GET') {
      const field = name === 'login' ? '<input name="login">' : `<p>${params.client_id} asks for ${params.scope}</p><input name="consent" value="yes" type="hidden">`
      ctx.type = 'html'
      ctx.body = `<!doctype html><form method="post" action="${ctx.path}">${field}</form>`
      return
    }
    const fields = await fieldsOf(ctx.req)
    const result = name === 'login' ? { login: { accountId: fields.get('login') as string } } : await this.consent(provider, ctx, fields)
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: name !== 'login' }))
  }

  private async consent (provider: Provider, ctx: KoaContextWithOIDC, fields: URLSearchParams): Promise<InteractionResults> {
    if (fields.get('consent') !== 'yes') return { error: 'access_denied', error_description: 'the user said no' }
    const { prompt: { details }, params, grantId, session } = await provider.interactionDetails(ctx.req, ctx.res)
    const grant = (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ?? new provider.Grant({ accountId: session?.accountId as string, clientId: params.client_id as string })
    for (const scope of details.missingOIDCScope as string[] | undefined ?? []) grant.addOIDCScope(scope)
    for (const [resource, scopes] of Object.entries(details.missingResourceScopes as Record<string, string[]> | undefined ?? {})) {
      for (const scope of scopes) this.grants(scope) ? grant.addResourceScope(resource, scope) : grant.rejectResourceScope(resource, scope)
    }
    return { consent: { grantId: await grant.save() } }
  }
}

async function fieldsOf (request: IncomingMessage): Promise<URLSearchParams> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return new URLSearchParams(body)
}
