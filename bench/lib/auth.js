import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import mcpPlugin from 'fastify-mcp-plugin'
import { tools } from './tools.js'
import { serverInfo } from './workloads.js'

const ISSUER = 'https://login.example.com'
const AUDIENCE = 'https://mcp.example.com/mcp'

/** The plugin with tokens to be checked; gives the headers of one that is good. */
export default async function serve (app) {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...await exportJWK(publicKey), kid: 'k', alg: 'RS256' }
  await app.register(mcpPlugin, { serverInfo, tools, auth: { jwt: { issuer: ISSUER, audience: AUDIENCE, jwks: { keys: [jwk] } }, resource: AUDIENCE } })
  const token = await new SignJWT({ scope: 'read', client_id: 'bench' }).setProtectedHeader({ alg: 'RS256', kid: 'k', typ: 'at+jwt' })
    .setIssuer(ISSUER).setAudience(AUDIENCE).setSubject('ada').setExpirationTime('1h').sign(privateKey)
  return { authorization: `Bearer ${token}` }
}
