// Every way in which a token can be wrong, at every door: what the caller is told, and that nothing ran, began or ended.
import cors from '@fastify/cors'
import Fastify from 'fastify'
import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { AuthOptions } from '../../types/index.js'
import { defineTool } from '../support/app.js'
import { until } from '../support/audit.js'
import { AUDIENCE, Issuer, seconds, type TokenOptions } from '../support/issuer.js'
import { begin, doorsOf, enter, ORIGIN, type Credentials, type Door } from './doors.js'

interface Told { status: number, challenge: string | undefined }
interface Row { what: string, told: Told, with: (door: Door) => Credentials | Promise<Credentials> }
/** One way to say who it is, with what is wrong there, and what is right. */
interface Way { auth: AuthOptions, rows: Row[], good: Row['with'] }

const ALGORITHMS = 'ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519'
const NOT_HERE = 'the token is not valid here'
const FORMS = 'scope="mcp", resource_metadata="https://mcp.example.test/.well-known/oauth-protected-resource/mcp"'
const nobody: Told = { status: 401, challenge: `Bearer ${FORMS}` }
const said = (status: number, error: string, why: string): Told => ({ status, challenge: `Bearer error="${error}", error_description="${why}", ${FORMS}` })
const invalid = (why = NOT_HERE) => said(401, 'invalid_token', why)
const malformed = (why: string) => said(400, 'invalid_request', why)
const proofless = (why: string): Told => ({ status: 401, challenge: `DPoP error="invalid_dpop_proof", error_description="${why}", ${FORMS}, algs="${ALGORITHMS}"` })
const trouble: Told = { status: 503, challenge: undefined }

const authorization = (...values: string[]): Credentials => ({ headers: { authorization: values } })
const row = (what: string, told: Told, sent: Credentials = {}): Row => ({ what, told, with: () => sent })
const bearer = (what: string, told: Told, token: string): Row => row(what, told, authorization(`Bearer ${token}`))
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** An endpoint with a tool, and all that says whether anything came of a request. */
async function serve (t: Test, auth: AuthOptions) {
  const ran: unknown[] = []
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  await app.register(cors, { origin: ORIGIN })
  await app.register(mcpPlugin, { origins: [ORIGIN], closeTimeout: 50, tools: [defineTool({ name: 'run', handler: (_, { auth }) => `${ran.push(auth?.subject)}` })], auth: { resource: AUDIENCE, scopes: ['mcp'], rootMetadata: true, ...auth } })
  return { app, ran, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

async function check (t: Test, { auth, rows, good }: Way, spoil: () => void = () => {}) {
  const { app, ran, url } = await serve(t, auth)
  const begun = await begin(async door => await enter(url, door, await good(door)))
  const doors = doorsOf(begun)
  t.ok(await until(() => app.mcp.stats().streams === 1))
  const before = { ...app.mcp.stats() }
  t.match(before, { sessions: 3, calls: 0 })
  spoil()
  for (const { what, told, with: credentials } of rows) {
    const wrong = await Promise.all(doors.map(async door => {
      const answer = await enter(url, door, await credentials(door))
      const wanted = door.open === true ? { status: door.good, challenge: undefined, session: undefined } : { ...told, session: undefined, code: told.status === 503 ? -32603 : -32600, type: 'application/json' }
      const got = { status: answer.status, challenge: answer.headers['www-authenticate'], session: answer.headers['mcp-session-id'], ...(door.open !== true && { code: answer.type === 'application/json' ? answer.json.error?.code : answer.text, type: answer.type }) }
      answer.close()
      return JSON.stringify(got) === JSON.stringify(wanted) ? [] : [{ door: door.name, got, wanted }]
    }))
    t.strictSame([wrong.flat(), ran, app.mcp.stats()], [[], [], before], what)
  }
  return { doors, ran, app, url }
}

/** The same doors open for who may enter, so whoever did not was kept out by the lock. */
async function control (t: Test, way: Way) {
  const { doors, ran, app, url } = await check(t, way)
  for (const door of doors) {
    const answer = await enter(url, door, await way.good(door))
    t.equal(answer.status, door.good, `who may enter: ${door.name}`)
    answer.close()
  }
  t.ok(await until(() => ran.length === 8 && app.mcp.stats().calls === 0))
  t.strictSame([...new Set(ran)], ['ada'])
}

t.test('BB-061 BB-062 tokens that are JWTs', async t => {
  const issuer = await new Issuer().start(t)
  const good = await issuer.token({ scope: 'mcp' })
  const { privateKey } = await generateKeyPair('RS256')
  const [head, body, signature] = good.split('.') as [string, string, string]
  const publicKey = new TextEncoder().encode(JSON.stringify(issuer.keys[0]).padEnd(64))
  const claims: Array<[string, Record<string, unknown>, TokenOptions?, Told?]> = [
    ['signed with the public key as a shared secret', {}, { alg: 'HS256', key: publicKey }], ['signed by another key', {}, { key: privateKey }], ['of an unknown key', {}, { kid: 'k9', key: privateKey }],
    ['of another issuer', { iss: 'https://evil.example' }], ['of an issuer with a slash', { iss: issuer.url + '/' }], ['of no issuer', { iss: undefined }],
    ['for another server', { aud: 'https://other.example/mcp' }], ['for the origin', { aud: 'https://mcp.example.test' }], ['for the URL with a slash', { aud: AUDIENCE + '/' }], ['for several others', { aud: ['https://other.example', 'x'] }], ['for nobody', { aud: undefined }],
    ['expired', { exp: seconds() - 60 }, {}, invalid('the token has expired')], ['not valid yet', { nbf: seconds() + 60 }], ['without an end', { exp: undefined }], ['of nobody', { sub: undefined }],
    ...['dpop+jwt', 'logout+jwt', 'secevent+jwt', 'JOSE'].map((typ): [string, {}, TokenOptions] => [`of the type ${typ}`, {}, { typ }]), ['an ID token', { aud: 'client-1', nonce: 'n' }, { typ: 'JWT' }],
    ['without a scope that all need', { scope: 'read' }, {}, said(403, 'insufficient_scope', 'this needs mcp')]
  ]
  const rows = [
    row('none', nobody), row('an empty header', nobody, authorization('')), row('a scheme alone', nobody, authorization('Bearer')), row('a token without a scheme', nobody, authorization(good)), row('another scheme', nobody, authorization('Basic YWRhOng=')),
    bearer('garbage', invalid(), 'garbage'), bearer('parts of garbage', invalid(), 'a.b.c'), bearer('two tokens', invalid(), `${good} ${good}`), bearer('unsigned', invalid(), `${base64({ alg: 'none' })}.${body}.`), bearer('without a signature', invalid(), `${head}.${body}.`),
    bearer('with other claims', invalid(), `${head}.${base64({ iss: issuer.url, aud: AUDIENCE, sub: 'root', scope: 'mcp', exp: seconds() + 60 })}.${signature}`), bearer('encrypted', invalid(), `${base64({ alg: 'dir', enc: 'A256GCM' })}..a.b.c`),
    ...await Promise.all(claims.map(async ([what, more, options, told = invalid()]) => bearer(what, told, await issuer.token({ scope: 'mcp', ...more }, options)))),
    row('in the query alone', invalid('the token must come in the header Authorization'), { query: `access_token=${good}` }), row('in the query and the header', invalid('the token must come in the header Authorization'), { ...authorization(`Bearer ${good}`), query: `access_token=${good}` }),
    row('in two headers', malformed('there must be one header Authorization'), authorization(`Bearer ${good}`, `Bearer ${good}`)), row('in two headers, of which the second is none', malformed('there must be one header Authorization'), authorization(`Bearer ${good}`, 'Basic eA=='))
  ]
  await control(t, { auth: { jwt: issuer.jwt }, rows, good: () => authorization(`Bearer ${good}`) })
})

t.test('BB-062 tokens that are bound to a key', async t => {
  const issuer = await new Issuer().start(t)
  const pair = async () => await generateKeyPair('ES256', { extractable: true })
  const [own, other] = [await pair(), await pair()]
  const cnf = { jkt: await calculateJwkThumbprint(await exportJWK(own.publicKey)) }
  const bound = await issuer.token({ scope: 'mcp', cnf })
  const free = await issuer.token({ scope: 'mcp' })
  const proof = async ({ method, path }: Door, claims: object = {}, key: { publicKey: CryptoKey, privateKey: CryptoKey } = own) => {
    const all = { jti: randomUUID(), htm: method, htu: 'https://mcp.example.test' + path.split('?')[0], iat: seconds(), ath: createHash('sha256').update(bound).digest('base64url'), ...claims }
    return await new SignJWT(JSON.parse(JSON.stringify(all))).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(key.publicKey) }).sign(key.privateKey)
  }
  const proved = (dpop?: string | string[], token = bound): Credentials => ({ headers: { authorization: `DPoP ${token}`, ...(dpop !== undefined && { dpop }) } })
  const claiming = (what: string, why: string, claims: object): Row => ({ what, told: proofless(why), with: async door => proved(await proof(door, claims)) })
  const rows: Row[] = [
    { what: 'with the scheme of one that is not', told: invalid('the token is bound to a key; send it with the scheme DPoP'), with: async door => ({ headers: { authorization: `Bearer ${bound}`, dpop: await proof(door) } }) },
    { what: 'bound to no key', told: invalid('the token is bound to no key'), with: async door => proved(await proof(door), free) },
    row('without a proof', proofless('the header DPoP is missing'), proved()), row('with garbage for a proof', proofless('the proof is not valid'), proved('x')),
    { what: 'with two proofs', told: proofless('the proof is not valid'), with: async door => proved([await proof(door), await proof(door)]) },
    { what: 'with a proof by another key', told: proofless('the proof is by another key'), with: async door => proved(await proof(door, {}, other)) },
    { what: 'with a proof signed by another key', told: proofless('the proof is not valid'), with: async door => proved(await proof(door, {}, { publicKey: own.publicKey, privateKey: other.privateKey })) },
    claiming('with a proof for another method', 'the proof is for another request', { htm: 'PATCH' }), claiming('with a proof for another URL', 'the proof is for another request', { htu: 'https://other.example/mcp' }),
    claiming('with a proof for another token', 'the proof is for another token', { ath: 'x' }), claiming('with a proof for no token', 'the proof is for another token', { ath: undefined }),
    claiming('with a proof that is too old', 'the proof is not valid', { iat: seconds() - 300 }), claiming('with a proof of later', 'the proof is not valid', { iat: seconds() + 300 }), claiming('with a proof without an id', 'the proof is not valid', { jti: undefined })
  ]
  const good: Way['good'] = async door => proved(await proof(door))
  const way: Way = { auth: { jwt: issuer.jwt }, rows, good }
  await control(t, way)
  const dpop = ({ challenge, ...told }: Told): Told => ({ ...told, challenge: `${challenge?.replace('Bearer', 'DPoP')}, algs="${ALGORITHMS}"` })
  const demanded = [row('none', dpop(nobody)), bearer('bound to no key, where that is demanded', dpop(invalid('the token is bound to no key')), free), bearer('garbage', dpop(invalid()), 'a.b.c')]
  await check(t, { auth: { jwt: issuer.jwt, dpop: 'require' }, rows: demanded, good })

  const { url, ran } = await serve(t, way.auth)
  const wrong = await Promise.all(doorsOf({ session: {}, batching: {}, lastEventId: 'x', messages: '/mcp/messages' }).filter(({ open }) => open !== true).map(async door => {
    const sent = await good(door)
    const harmless = { ...door, headers: { 'content-type': 'application/json', accept: 'text/plain' }, body: undefined }
    const first = await enter(url, harmless, sent)
    const again = await enter(url, door, sent)
    return first.status !== 401 && again.status === 401 && again.headers['www-authenticate'] === proofless('the proof was used before').challenge ? [] : [[door.name, first.status, again.status]]
  }))
  t.strictSame([wrong.flat(), ran], [[], []], 'with a proof that was used before')
})

t.test('BB-062 tokens that their issuer is asked about', async t => {
  const issuer = await new Issuer().start(t)
  const active = { active: true, sub: 'ada', aud: AUDIENCE, scope: 'mcp' }
  const answers: Array<[string, object | number, Told]> = [
    ['inactive', { active: false }, invalid('the token is not active')], ['inactive, with all else', { ...active, active: 'true' }, invalid('the token is not active')], ['of another issuer', { ...active, iss: 'https://evil.example' }, invalid()],
    ['for another server', { ...active, aud: 'https://other.example' }, invalid()], ['for nobody', { ...active, aud: undefined }, invalid()], ['expired', { ...active, exp: seconds() - 1 }, invalid('the token has expired')], ['not valid yet', { ...active, nbf: seconds() + 60 }, invalid('the token is not valid yet')],
    ['of nobody', { ...active, sub: undefined }, invalid('the token has no subject')], ['without a scope that all need', { ...active, scope: 'read' }, said(403, 'insufficient_scope', 'this needs mcp')],
    ['500 in place of an answer', 500, trouble], ['401 in place of an answer', 401, trouble], ['no answer in time', 0, trouble]
  ]
  issuer.known.set('good', active)
  for (const [what, answer] of answers) issuer.known.set(what.replace(/\W/g, ''), answer)
  const rows = [row('none', nobody), bearer('unknown', invalid('the token is not active'), 'unknown'), ...answers.map(([what, , told]) => bearer(what, told, what.replace(/\W/g, '')))]
  const way: Way = { auth: { introspection: { ...issuer.introspection, timeout: 300 } }, rows, good: () => authorization('Bearer good') }
  await control(t, way)
  await check(t, { ...way, rows: [bearer('an issuer that is away', trouble, 'another')] }, () => { issuer.down = true })
  issuer.down = false
})

t.test('BB-062 keys that cannot be had', async t => {
  for (const what of ['down', 'broken'] as const) {
    const issuer = await new Issuer().start(t)
    issuer[what] = true
    const { url, ran, app } = await serve(t, { jwt: issuer.jwt })
    const token = await issuer.token({ scope: 'mcp' })
    for (const door of doorsOf({ session: {}, batching: {}, lastEventId: 'x', messages: '/mcp/messages' })) {
      const { status, headers } = await enter(url, door, authorization(`Bearer ${token}`))
      t.strictSame([status, headers['www-authenticate']], [door.open === true ? door.good : 503, undefined], `${what}: ${door.name}`)
    }
    t.strictSame([ran, app.mcp.stats()], [[], { sessions: 0, streams: 0, calls: 0 }])
  }
})

t.test('BB-062 what a way of one\'s own says', async t => {
  const ada = { subject: 'ada', scopes: ['mcp'] }
  const no = Object.assign(new Error('no'), { statusCode: 401 })
  const ways: Array<[string, () => unknown, Told, Told]> = [
    ...[undefined, null, false, 0, ''].flatMap((value): Array<[string, () => unknown, Told, Told]> => [[`${value}`, () => value, nobody, invalid()], [`a promise of ${value}`, async () => value, nobody, invalid()]]),
    ['401 thrown', () => { throw no }, nobody, invalid()], ['401 rejected', async () => { throw no }, nobody, invalid()], ['an error thrown', () => { throw new Error('db') }, trouble, trouble], ['an error rejected', async () => { throw new Error('db') }, trouble, trouble], ['nothing rejected', () => Promise.reject(undefined as never), trouble, trouble], // eslint-disable-line prefer-promise-reject-errors
    ['true', () => true, trouble, trouble], ['a caller without a name', () => ({ scopes: ['mcp'] }), trouble, trouble], ['a caller whose time is over', () => ({ ...ada, expiresAt: Date.now() - 1 }), invalid('the token has expired'), invalid('the token has expired')],
    ['a caller without a scope that all need', () => ({ ...ada, scopes: [] }), said(403, 'insufficient_scope', 'this needs mcp'), said(403, 'insufficient_scope', 'this needs mcp')]
  ]
  const say = new Map(ways.map(([what, answer]) => [what, answer]))
  const rows = ways.flatMap(([what, , without, told]) => [row(what, without, { headers: { 'x-say': what } }), row(`${what}, to a token`, told, { headers: { 'x-say': what, authorization: 'Bearer x' } })])
  const authenticate = ({ headers }: { headers: Record<string, unknown> }) => say.get(headers['x-say'] as string)?.() ?? (headers['x-say'] === 'ada' ? ada : undefined)
  await control(t, { auth: { authenticate: authenticate as never }, rows: [...rows, row('in two headers', malformed('there must be one header Authorization'), { headers: { 'x-say': 'ada', authorization: ['Bearer x', 'Bearer y'] } })], good: () => ({ headers: { 'x-say': 'ada' } }) })
})
