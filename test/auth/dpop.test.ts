import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import t from 'tap'
import { InvalidToken } from '../../lib/auth/caller.js'
import { Proofs } from '../../lib/auth/dpop.js'
import { MemoryStore } from '../../lib/stores/memory.js'
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
    ['too old', await proofOf(own, { iat: seconds() - 200 }), /not valid/], ['from the future', await proofOf(own, { iat: seconds() + 200 }), /not valid/], ['without an id', await proofOf(own, { jti: undefined }), /not valid/], ['with an id that is no text', await proofOf(own, { jti: 5 }), /not valid/],
    ['of another type', await proofOf(own, {}, { typ: 'JWT' }), /not valid/], ['used before', used, /used before/]
  ]
  for (const [what, proof, message] of rows) {
    await t.rejects(proofs.check(proof, context), InvalidToken, what)
    if (what !== 'used before') await t.rejects(proofs.check(proof, context), { error: 'invalid_dpop_proof', message }, what)
  }
  await t.rejects(proofs.check(used, context), { message: /used before/ })
})

t.test('a proof is remembered as long as it would count, though it came from ahead', async t => {
  const own = await pair()
  const proofs = new Proofs()
  const context = { token, key: own.key, method: 'POST', url }
  const used = await proofOf(own, { iat: seconds() + 55 })
  await proofs.check(used, context)
  const clock = t.capture(Date, 'now', () => performance.timeOrigin + performance.now() + 112_000)
  t.teardown(() => clock.restore())
  await t.rejects(proofs.check(used, context), InvalidToken)
})

t.test('processes tell each other of proofs that were used; where they cannot, each goes by its own', async t => {
  const own = await pair()
  const context = { token, key: own.key, method: 'POST', url }
  const store = new MemoryStore()
  const [one, two] = [new Proofs(store), new Proofs(store)]
  const proof = await proofOf(own)
  await one.check(proof, context)
  await t.rejects(two.check(proof, context), { message: /used before/ })
  const down = { swap: async () => { throw new Error('down') } } as unknown as MemoryStore
  const alone = new Proofs(down)
  const another = await proofOf(own)
  await t.resolves(alone.check(another, context))
  await t.rejects(alone.check(another, context), { message: /used before/ })
})
