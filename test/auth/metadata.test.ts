import Fastify from 'fastify'
import t from 'tap'
import mcpPlugin from '../../lib/index.js'
import { AUDIENCE, Issuer } from '../support/issuer.js'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

t.test('what clients are told of the endpoint', async t => {
  const issuer = await new Issuer().start(t)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(mcpPlugin, {
    serverInfo: { name: 'x', title: 'The X', version: '1' },
    auth: { jwt: issuer.jwt, resource: AUDIENCE, scopes: ['mcp'], dpop: 'require', rootMetadata: true },
    tools: [{ name: 'a', scopes: ['files', 'admin'], handler: () => 'a' }] as never,
    resources: [{ uri: 'mem://a', name: 'a', scopes: ['read'], read: () => 'a' }] as never,
    prompts: [{ name: 'p', scopes: ['read', 'speak'], handler: () => 'p' }] as never
  })
  for (const url of [`${WELL_KNOWN}/mcp`, WELL_KNOWN]) {
    const reply = await app.inject(url)
    t.match(reply, { statusCode: 200, headers: { 'content-type': /^application\/json/, 'access-control-allow-origin': '*' } })
    t.strictSame(reply.json(), {
      resource: AUDIENCE,
      authorization_servers: [issuer.url],
      scopes_supported: ['mcp'],
      bearer_methods_supported: ['header'],
      resource_name: 'The X',
      dpop_signing_alg_values_supported: ['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519'],
      dpop_bound_access_tokens_required: true
    })
  }
  t.match(await app.inject({ method: 'OPTIONS', url: `${WELL_KNOWN}/mcp`, headers: { origin: 'https://app.example' } }), { statusCode: 204, headers: { 'access-control-allow-headers': '*' } })
  t.equal((await app.inject({ method: 'HEAD', url: `${WELL_KNOWN}/mcp` })).statusCode, 200)
})

t.test('clients are told to ask for what every request needs at first, or for all there is where nothing is', async t => {
  const issuer = await new Issuer().start(t)
  const asks = async (scopes?: string[]) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(mcpPlugin, {
      auth: { jwt: issuer.jwt, ...(scopes && { scopes }) },
      tools: [{ name: 'a', scopes: ['files', 'admin'], handler: () => 'a' }] as never,
      resources: [{ uri: 'mem://a', name: 'a', scopes: ['read'], read: () => 'a' }] as never,
      prompts: [{ name: 'p', scopes: ['read', 'speak'], handler: () => 'p' }] as never
    })
    return (await app.inject(`${WELL_KNOWN}/mcp`)).json().scopes_supported
  }
  t.strictSame(await asks(['read', 'mcp']), ['mcp', 'read'])
  t.strictSame(await asks(), ['admin', 'files', 'read', 'speak'])
})

t.test('each endpoint has its own, whatever scope it is in', async t => {
  const issuer = await new Issuer().start(t)
  const app = Fastify({ trustProxy: true })
  t.teardown(() => app.close())
  for (const [prefix, name] of [['/one', 'a'], ['/two', 'b']] as const) {
    await app.register(async scope => { await scope.register(mcpPlugin, { auth: { authenticate: () => undefined, authorizationServers: [`https://${name}.example`] }, path: '/x' }) }, { prefix })
  }
  await app.register(mcpPlugin, { auth: { introspection: issuer.introspection } })
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'mcp.example.test' }
  t.match((await app.inject({ url: `${WELL_KNOWN}/one/x`, headers })).json(), { resource: 'https://mcp.example.test/one/x', authorization_servers: ['https://a.example'] })
  t.match((await app.inject({ url: `${WELL_KNOWN}/two/x`, headers })).json(), { resource: 'https://mcp.example.test/two/x', authorization_servers: ['https://b.example'] })
  t.match((await app.inject({ url: `${WELL_KNOWN}/mcp`, headers })).json(), { authorization_servers: [issuer.url] })
  t.equal((await app.inject(WELL_KNOWN)).statusCode, 404)
})

t.test('without auth there is none', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(mcpPlugin)
  t.equal((await app.inject(`${WELL_KNOWN}/mcp`)).statusCode, 404)
})
