// The official clients, signed in: one wallet serves both generations of them.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2, auth as authV2 } from '@modelcontextprotocol/client'
import type { ClientOptions, DpopSession, OAuthClientProvider as ProviderV2, StreamableHTTPClientTransportOptions } from '@modelcontextprotocol/client'
import { auth as authV1, type OAuthClientProvider as ProviderV1, type OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthClientMetadata, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Browser } from './browser.js'

const HOME = 'http://127.0.0.1:9/callback'

export interface WalletOptions {
  /** Whether it asks for refresh tokens. Default: `true`. */
  refresh?: boolean
  /** Where it says who it is, in place of registering. */
  clientMetadataUrl?: string
  /** The key that its tokens are bound to. */
  dpop?: DpopSession
}

/** What a client keeps, and what it was told. */
export class Wallet {
  readonly redirectUrl = HOME
  readonly clientMetadata: OAuthClientMetadata
  declare clientMetadataUrl?: string
  declare dpop?: () => DpopSession
  readonly browser: Browser
  /** The authorization requests it made. */
  readonly asked: URLSearchParams[] = []
  /** What came of its requests to the endpoint. */
  readonly seen: Array<{ verb: string, status: number, challenge: string | null }> = []
  held: OAuthTokens | undefined
  known: OAuthClientInformationMixed | undefined
  back: URL | undefined
  private verifier = ''
  private found: OAuthDiscoveryState | undefined

  constructor (browser: Browser, { refresh = true, clientMetadataUrl, dpop }: WalletOptions = {}) {
    this.browser = browser
    if (dpop !== undefined) this.dpop = () => dpop
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
    this.clientMetadata = {
      client_name: 'test client',
      redirect_uris: [HOME],
      response_types: ['code'],
      grant_types: refresh ? ['authorization_code', 'refresh_token'] : ['authorization_code'],
      token_endpoint_auth_method: 'none'
    }
  }

  clientInformation () { return this.known }
  saveClientInformation (known: OAuthClientInformationMixed) { this.known = known }
  tokens () { return this.held }
  saveTokens (tokens: OAuthTokens) { this.held = tokens }
  codeVerifier () { return this.verifier }
  saveCodeVerifier (verifier: string) { this.verifier = verifier }
  discoveryState () { return this.found as never }
  saveDiscoveryState (found: unknown) { this.found = found as OAuthDiscoveryState }
  invalidateCredentials (what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery') {
    if (what === 'all' || what === 'client') this.known = undefined
    if (what === 'all' || what === 'tokens') this.held = undefined
  }

  async redirectToAuthorization (url: URL) {
    this.asked.push(url.searchParams)
    this.back = await this.browser.visit(url, HOME)
  }

  /** What the last authorization request asked for. */
  get scopes () { return (this.asked.at(-1)?.get('scope') ?? '').split(' ').filter(scope => scope !== '').sort() }
  get challenge () { return this.seen.findLast(({ challenge }) => challenge !== null)?.challenge ?? '' }

  /** For the endpoint at `url`: the other requests of a client are its own affair. */
  fetchFor (url: string) {
    return async (input: string | URL, init?: RequestInit): Promise<Response> => {
      const response = await fetch(input, init)
      if (String(input) === new URL(url).href) this.seen.push({ verb: init?.method ?? 'GET', status: response.status, challenge: response.headers.get('www-authenticate') })
      return response
    }
  }
}

export interface OAuthClient {
  readonly wallet: Wallet
  connect (): Promise<void>
  /** After the user came back: the code becomes a token. */
  finish (): Promise<void>
  /** The text that the tool gives. */
  call (name: string): Promise<string>
  /** Asks for a token by itself, as one does where the client does not. */
  authorize (scope: string, metadata: string): Promise<string>
  session (): string | undefined
  revision (): string | undefined
  close (): Promise<void>
}

type Mode = NonNullable<NonNullable<ClientOptions['versionNegotiation']>['mode']>

const identity = { name: 'test client', version: '1.0.0' }
const textOf = (result: { content?: unknown }) => (result.content as Array<{ text: string }>)[0]?.text ?? ''

export function v1 (url: string, wallet: Wallet): OAuthClient {
  let client: ClientV1
  let transport: TransportV1
  return {
    wallet,
    async connect () {
      client = new ClientV1(identity)
      transport = new TransportV1(new URL(url), { authProvider: wallet satisfies ProviderV1, fetch: wallet.fetchFor(url) })
      await client.connect(transport as Parameters<ClientV1['connect']>[0])
    },
    finish: async () => await transport.finishAuth(wallet.back?.searchParams.get('code') as string),
    call: async name => textOf(await client.callTool({ name }) as { content?: unknown }),
    authorize: async (scope, metadata) => await authV1(wallet, { serverUrl: url, scope, resourceMetadataUrl: new URL(metadata) }),
    session: () => transport.sessionId,
    revision: () => transport.protocolVersion,
    close: async () => await client.close()
  }
}

export const v2 = (mode: Mode, options: StreamableHTTPClientTransportOptions = {}) => (url: string, wallet: Wallet): OAuthClient => {
  let client: ClientV2
  let transport: TransportV2
  return {
    wallet,
    async connect () {
      client = new ClientV2(identity, { versionNegotiation: { mode } })
      transport = new TransportV2(new URL(url), { ...options, authProvider: wallet as ProviderV2, fetch: wallet.fetchFor(url) })
      await client.connect(transport)
    },
    finish: async () => await transport.finishAuth(wallet.back?.searchParams as URLSearchParams),
    call: async name => textOf(await client.callTool({ name })),
    authorize: async (scope, metadata) => await authV2(wallet as ProviderV2, { serverUrl: url, scope, resourceMetadataUrl: new URL(metadata), forceReauthorization: true }),
    session: () => transport.sessionId,
    revision: () => client.getNegotiatedProtocolVersion(),
    close: async () => await client.close()
  }
}

/** @returns whether the user had to be asked */
export async function signIn (client: OAuthClient): Promise<boolean> {
  const before = client.wallet.asked.length
  try {
    await client.connect()
  } catch (error) {
    if (client.wallet.asked.length === before) throw error
    await client.finish()
    await client.connect()
  }
  return client.wallet.asked.length > before
}
