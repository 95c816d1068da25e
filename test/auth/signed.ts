// An app behind a real authorization server.
import Fastify from 'fastify'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { AuthOptions, McpOptions } from '../../types/index.js'
import { defineTool } from '../support/app.js'
import { Browser } from './browser.js'
import { signIn, v1, v2, Wallet, type OAuthClient, type WalletOptions } from './oauth-client.js'
import { AuthorizationServer, type ProviderOptions } from './provider.js'

export interface Signed {
  issuer: AuthorizationServer
  url: string
  app: ReturnType<typeof Fastify>
  /** A user sits down in front of a client, which is closed with the test. */
  sit (make: (url: string, wallet: Wallet) => OAuthClient, wallet: Wallet): OAuthClient
}

export interface SignedOptions extends ProviderOptions {
  /** Who issues the tokens, where it is there already. */
  issuer?: AuthorizationServer
  auth?: (issuer: AuthorizationServer, url: string) => Partial<AuthOptions>
  options?: McpOptions
  prefix?: string
}

/** The audience of the tokens is the URL, so that has to be known before the plugin is registered. */
async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export async function signed (t: Test, { auth, options, prefix, issuer: known, ...provider }: SignedOptions = {}): Promise<Signed> {
  const issuer = known ?? await new AuthorizationServer(provider).start(t)
  const port = await freePort()
  const path = (prefix ?? '') + (options?.path ?? '/mcp')
  const url = `http://127.0.0.1:${port}${path === '/' ? '' : path}`
  issuer.resources.add(url)
  const app = Fastify()
  t.teardown(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  await app.register(mcpPlugin, {
    tools,
    ...options,
    auth: { jwt: issuer.jwt(url), resource: url, scopes: ['files:read'], ...auth?.(issuer, url) },
    ...(prefix !== undefined && { prefix })
  })
  await app.listen({ port, host: '127.0.0.1' })
  const sit: Signed['sit'] = (make, wallet) => {
    const made = make(url, wallet)
    t.teardown(() => made.close())
    return made
  }
  return { issuer, url, app, sit }
}

const tools = [
  defineTool({ name: 'who', handler: (_, { auth, session }) => JSON.stringify({ subject: auth?.subject, issuer: auth?.issuer, client: auth?.clientId, scopes: auth?.scopes, audience: auth?.claims?.aud, session: session !== undefined }) }),
  defineTool({ name: 'write', scopes: ['files:write'], handler: (_, { auth }) => `written for ${auth?.subject}` })
]

export interface Generation { name: string, make: (url: string, wallet: Wallet) => OAuthClient, revision: string }

export const generations = {
  v1: { name: 'v1', make: v1, revision: '2025-11-25' },
  legacy: { name: 'v2, with a handshake', make: v2('legacy'), revision: '2025-11-25' },
  auto: { name: 'v2, left to find out', make: v2('auto'), revision: '2026-07-28' },
  pinned: { name: 'v2, pinned', make: v2({ pin: '2026-07-28' }), revision: '2026-07-28' }
} satisfies Record<string, Generation>

export const user = (name: string, options?: WalletOptions) => new Wallet(new Browser(name), options)

/** Ada, who has signed in. */
export async function enter (t: Test, make: Generation['make'], options: SignedOptions = {}, wallet: WalletOptions = {}) {
  const server = await signed(t, options)
  const client = server.sit(make, user('ada', wallet))
  t.equal(await signIn(client), true, 'the user was asked')
  return { ...server, client, wallet: client.wallet }
}

/** What the handler knows of the caller. */
export const who = async (client: OAuthClient) => JSON.parse(await client.call('who'))

/** Where the endpoint at `url` says how to get in. */
export function documentOf (url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
}
