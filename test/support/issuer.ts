// An authorization server as far as a resource server sees it: keys, signed tokens, and answers about tokens.
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import type { Test } from 'tap'

export const AUDIENCE = 'https://mcp.example.test/mcp'
export const seconds = () => Math.floor(Date.now() / 1000)

export interface TokenOptions { kid?: string, alg?: string, typ?: string, key?: CryptoKey | Uint8Array }

export class Issuer {
  url = ''
  /** How often the keys were fetched, and how often a token was asked about. */
  fetched = 0
  asked = 0
  down = false
  /** It answers what is no key set. */
  broken = false
  /** What is said about a token, where introspection is used: an answer, a status in its place, or 0 for no answer at all. */
  readonly known = new Map<string, object | number>()
  readonly headers: Array<Record<string, unknown>> = []
  readonly keys: JWK[] = []
  private readonly signers = new Map<string, CryptoKey>()
  private server: Server | undefined

  async start (t: Test): Promise<this> {
    await this.addKey('k1')
    this.server = createServer((request, response) => {
      if (this.down) return request.socket.destroy()
      response.setHeader('content-type', 'application/json')
      if (request.url === '/jwks') {
        this.fetched++
        if (this.broken) return response.writeHead(500).end('no')
        return response.end(JSON.stringify({ keys: this.keys }))
      }
      this.asked++
      this.headers.push(request.headers)
      const chunks: Buffer[] = []
      request.on('data', chunk => chunks.push(chunk)).on('end', () => {
        const token = new URLSearchParams(Buffer.concat(chunks).toString()).get('token') ?? ''
        const said = this.known.get(token) ?? { active: false }
        if (said === 0) return
        response.writeHead(typeof said === 'number' ? said : 200).end(JSON.stringify(said))
      })
    }).listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
    t.teardown(() => {
      this.server?.closeAllConnections()
      this.server?.close()
    })
    return this
  }

  async addKey (kid: string, alg = 'RS256'): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    this.keys.push({ ...await exportJWK(publicKey), kid, alg, use: 'sig' })
    this.signers.set(kid, privateKey)
  }

  get jwt () { return { issuer: this.url, audience: AUDIENCE, jwksUri: `${this.url}/jwks` } }
  get introspection () { return { endpoint: `${this.url}/introspect`, clientId: 'mcp:1', clientSecret: 's e%cret', issuer: this.url, audience: AUDIENCE } }

  /** A token with these claims besides the usual ones; undefined takes one out. */
  async token (claims: Record<string, unknown> = {}, { kid = 'k1', alg = 'RS256', typ = 'at+jwt', key }: TokenOptions = {}): Promise<string> {
    const all = { iss: this.url, sub: 'ada', aud: AUDIENCE, iat: seconds() - 10, exp: seconds() + 600, scope: 'read', ...claims }
    return await new SignJWT(JSON.parse(JSON.stringify(all))).setProtectedHeader({ alg, kid, typ }).sign(key ?? this.signers.get(kid) as CryptoKey)
  }
}
