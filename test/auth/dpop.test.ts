import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import t from 'tap'
import { InvalidToken } from '../../lib/auth/caller.js'
import { Proofs } from '../../lib/auth/dpop.js'
import { seconds } from '../support/issuer.js'

const token = 'a.b.c'
const url = 'https://mcp.example.test/mcp'
const pair = async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  return { jwk, privateKey, key: await calculateJwkThumbprint(jwk) }
}
const ath = createHash('sha256').update(token).digest('base64url')
const proofOf = async ({ jwk, privateKey }: { jwk: JWK, privateKey: CryptoKey }, claims: object = {}, header: object = {}) =>
  await new SignJWT(JSON.parse(JSON.stringify({ jti: randomUUID(), htm: 'POST', htu: url, iat: seconds(), ath, ...claims }))).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header }).sign(privateKey)

t.test('a proof of the key, for this token and this request', async t => {
  const own = await pair()
  const proofs = new Proofs()
  const context = { token, key: own.key, method: 'POST', url }
  await t.resolves(proofs.check(await proofOf(own), context))
  await t.resolves(proofs.check(await proofOf(own, { htu: 'HTTPS://MCP.example.test:443/mcp?x=1#y' }), context), 'in another spelling')
})

t.test('any other is refused, and why is told', async t => {
  const own = await pair()
  const other = await pair()
  const proofs = new Proofs()
  const context = { token, key: own.key, method: 'POST', url }
  const used = await proofOf(own)
  await proofs.check(used, context)
  const rows: Array<[string, unknown, RegExp]> = [
    ['none', undefined, /missing/], ['empty', '', /missing/], ['two', ['a', 'b'], /missing/], ['no proof', 'x', /not valid/],
    ['of another key', await proofOf(other), /another key/], ['signed by another key', await proofOf({ jwk: own.jwk, privateKey: other.privateKey }), /not valid/],
    ['for another method', await proofOf(own, { htm: 'GET' }), /another request/], ['for another URL', await proofOf(own, { htu: url + '/x' }), /another request/], ['for no URL', await proofOf(own, { htu: 'x' }), /another request/],
    ['for another token', await proofOf(own, { ath: 'x' }), /another token/], ['for no token', await proofOf(own, { ath: undefined }), /another token/],
    ['too old', await proofOf(own, { iat: seconds() - 200 }), /not valid/], ['from the future', await proofOf(own, { iat: seconds() + 200 }), /not valid/], ['without an id', await proofOf(own, { jti: undefined }), /not valid/],
    ['of another type', await proofOf(own, {}, { typ: 'JWT' }), /not valid/], ['used before', used, /used before/]
  ]
  for (const [what, proof, message] of rows) {
    await t.rejects(proofs.check(proof, context), InvalidToken, what)
    if (what !== 'used before') await t.rejects(proofs.check(proof, context), { error: 'invalid_dpop_proof', message }, what)
  }
  await t.rejects(proofs.check(used, context), { message: /used before/ })
})
