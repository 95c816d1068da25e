// Who makes a request. What each kind of wrong token comes to at each door is in matrix.test.ts.
import { createHash, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import type { AuthOptions } from '../../types/index.js'
import { build, defineTool } from '../support/app.js'
import { AUDIENCE, Issuer, seconds } from '../support/issuer.js'

const call = (name: string) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name } })

async function guarded (t: Test, auth: (issuer: Issuer) => AuthOptions, tools = [defineTool({ name: 'who', handler: (_, ctx) => JSON.stringify([ctx.auth?.subject, ctx.auth?.scopes]) })]) {
  const issuer = await new Issuer().start(t)
  let runs = 0
  const counting = defineTool({ name: 'count', handler: () => `${++runs}` })
  const server = await build(t, { bare: true, listen: false, options: { auth: { resource: AUDIENCE, ...auth(issuer) }, tools: [...tools, counting] } })
  const send = async (headers: Record<string, string> = {}, more: object = {}) =>
    await server.app.inject({ method: 'POST', url: '/mcp', payload: call('who'), headers: { 'content-type': 'application/json', ...headers }, ...more })
  const text = async (token: string, scheme = 'Bearer', more: Record<string, string> = {}) => JSON.parse((await send({ authorization: `${scheme} ${token}`, ...more })).json().result.content[0].text)
  return { ...server, issuer, send, text, runs: () => runs }
}

const jwt = (issuer: Issuer): AuthOptions => ({ jwt: issuer.jwt })

t.test('a token in the query is refused, be it good', async t => {
  const { app, issuer } = await guarded(t, jwt)
  const token = await issuer.token()
  for (const headers of [{}, { authorization: `Bearer ${token}` }]) {
    const reply = await app.inject({ method: 'POST', url: `/mcp?access_token=${token}`, payload: call('who'), headers })
    t.match(reply, { statusCode: 401, headers: { 'www-authenticate': /^Bearer error="invalid_token".*header Authorization/ } })
  }
})

t.test('the body of nobody is not read', async t => {
  const { send } = await guarded(t, jwt)
  t.equal((await send({}, { payload: '{"jsonrpc":' })).statusCode, 401)
  t.equal((await send({}, { payload: 'x'.repeat(2_000_000) })).statusCode, 401)
})

t.test('a good token says who it is, in the handler and on the request', async t => {
  const { app, issuer, send, text } = await guarded(t, jwt)
  const token = await issuer.token({ scope: 'read files' })
  t.strictSame(await text(token), ['ada', ['read', 'files']])
  t.strictSame(await text(token, 'bearer'), ['ada', ['read', 'files']])
  t.equal(issuer.fetched, 1)
  t.equal((await send({ authorization: `Bearer ${token}` }, { url: '/mcp/' })).statusCode, 200)
  app.mcp.tools.add({ name: 'request', handler: (_, ctx) => `${ctx.request?.mcp?.auth?.subject}` })
  t.match((await send({ authorization: `Bearer ${token}` }, { payload: call('request') })).json(), { result: { content: [{ text: 'ada' }] } })
})

t.test('other routes of the app are open as before', async t => {
  const issuer = await new Issuer().start(t)
  const { default: Fastify } = await import('fastify')
  const { default: mcpPlugin } = await import('../../lib/index.js')
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(mcpPlugin, { auth: { jwt: issuer.jwt } })
  app.get('/health', async request => ({ mcp: request.mcp }))
  t.match(await app.inject('/health'), { statusCode: 200, body: '{"mcp":null}' })
})

t.test('a scope that every request needs', async t => {
  const { issuer, send } = await guarded(t, issuer => ({ ...jwt(issuer), scopes: ['mcp', 'x'] }))
  const reply = await send({ authorization: `Bearer ${await issuer.token({ scope: 'mcp' })}` })
  t.match(reply, { statusCode: 403, headers: { 'www-authenticate': /error="insufficient_scope".*scope="mcp x"/ } })
  t.equal((await send({ authorization: `Bearer ${await issuer.token({ scope: 'x mcp y' })}` })).statusCode, 200)
})

t.test('by introspection', async t => {
  const { issuer, send, text } = await guarded(t, issuer => ({ introspection: issuer.introspection }))
  issuer.known.set('opaque', { active: true, sub: 'ada', aud: AUDIENCE, scope: 'read' })
  t.strictSame(await text('opaque'), ['ada', ['read']])
  await text('opaque')
  t.equal(issuer.asked, 1, 'asked once for a while')
  t.match(await send({ authorization: 'Bearer other' }), { statusCode: 401, headers: { 'www-authenticate': /invalid_token/ } })
})

t.test('in a way of your own', async t => {
  const auth = { authenticate: (request: { headers: Record<string, unknown> }) => request.headers.authorization === 'Bearer good' ? { subject: 'ada', scopes: ['own'] } : undefined }
  for (const authenticate of [auth.authenticate, async (request: any) => auth.authenticate(request)]) {
    const { send, text } = await guarded(t, () => ({ authenticate: authenticate as NonNullable<AuthOptions['authenticate']> }))
    t.strictSame(await text('good'), ['ada', ['own']])
    t.match(await send({ authorization: 'Bearer bad' }), { statusCode: 401, headers: { 'www-authenticate': /error="invalid_token"/ } })
    const nobody = await send()
    t.equal(nobody.statusCode, 401)
    t.notMatch(nobody.headers['www-authenticate'], /error=/)
  }
  const thrown = await guarded(t, () => ({ authenticate: () => { throw Object.assign(new Error('no'), { statusCode: 401 }) } }))
  t.match(await thrown.send({ authorization: 'Bearer x' }), { statusCode: 401, headers: { 'www-authenticate': /invalid_token/ } }, 'as @fastify/jwt does')
})

t.test('a query of a library is awaited, though it is no promise of the language', async t => {
  const query = (said: unknown) => () => ({ then: (done: (value: unknown) => void) => { done(said) } })
  const { send, runs } = await guarded(t, () => ({ authenticate: query(false) as never }))
  t.equal((await send({}, { payload: call('count') })).statusCode, 401)
  t.equal(runs(), 0)
  const { text } = await guarded(t, () => ({ authenticate: query({ subject: 'ada', scopes: ['own'] }) as never }))
  t.strictSame(await text('x'), ['ada', ['own']])
})

t.test('two headers Authorization are none', async t => {
  const { issuer, app } = await guarded(t, jwt)
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const token = await issuer.token()
  const status = (headers: string[]) => new Promise<string>((resolve, reject) => {
    const body = JSON.stringify(call('who'))
    const socket = connect(Number(url.port), '127.0.0.1', () => socket.write(`POST /mcp HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n${headers.join('\r\n')}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`))
    let text = ''
    socket.on('data', chunk => { text += chunk }).on('end', () => resolve(text.slice(9, 12))).on('error', reject)
  })
  t.equal(await status([`Authorization: Bearer ${token}`]), '200')
  t.equal(await status([`Authorization: Bearer ${token}`, `AUTHORIZATION: Bearer ${token}`]), '400')
})

t.test('what an author gives as a caller and is none lets nobody in, and the log says what came', async t => {
  for (const said of [true, { sub: 'ada', scopes: [] }, { subject: 'ada', scopes: 'admin' }, { subject: 'ada' }]) {
    const { send, log, runs } = await guarded(t, () => ({ authenticate: (async () => said) as never }))
    t.equal((await send({}, { payload: call('count') })).statusCode, 503)
    t.equal(runs(), 0)
    t.match(log.filter(({ level }) => level === 50), [{ err: { message: /authenticate\(\) gave no caller: / } }])
  }
  const { send, log } = await guarded(t, () => ({ authenticate: () => ({ subject: 'ada', scopes: [], expiresAt: seconds() + 60 }) }))
  t.equal((await send()).statusCode, 401, 'a time in seconds is long over')
  t.match(log.filter(({ reason }) => reason !== undefined), [{ reason: /expiresAt is \d+; it is a time in ms/ }])
})

t.test('why a token is refused is in the log, and the token is not', async t => {
  const { issuer, send, log } = await guarded(t, jwt)
  const rows: [Record<string, unknown>, RegExp][] = [[{ aud: 'https://other.example' }, /"aud"/], [{ iss: 'https://evil.example' }, /"iss"/], [{ sub: undefined }, /"sub"/], [{ exp: seconds() - 60 }, /"exp"/]]
  for (const [claims, reason] of rows) {
    const token = await issuer.token(claims)
    const reply = await send({ authorization: `Bearer ${token}` })
    t.equal(reply.statusCode, 401)
    t.match(log.filter(line => line.reason !== undefined).at(-1), { level: 30, reason, msg: 'the access token is refused' })
    t.notMatch(JSON.stringify(log), token.split('.')[1])
  }
  issuer.known.set('opaque', { active: true, sub: 'ada', aud: 'x' })
  const other = await guarded(t, () => ({ introspection: issuer.introspection }))
  t.equal((await other.send({ authorization: 'Bearer opaque' })).statusCode, 401)
  t.match(other.log.filter(({ reason }) => reason !== undefined), [{ reason: /another aud/ }])
})

t.test('what keeps tokens from being checked is 503, logged in full, and told to nobody', async t => {
  const secret = 'pg://u:pw@10.0.0.9/db'
  const { send, log } = await guarded(t, () => ({ authenticate: async () => { throw new Error(secret) } }))
  const reply = await send({ authorization: 'Bearer x' })
  t.equal(reply.statusCode, 503)
  t.ok(reply.headers['retry-after'])
  t.notMatch(reply.body, secret)
  t.match(log.filter(({ level }) => level === 50), [{ err: { message: secret } }])
  const down = await guarded(t, jwt)
  const token = await down.issuer.token()
  down.issuer.down = true
  t.equal((await down.send({ authorization: `Bearer ${token}` })).statusCode, 503)
})

t.test('a token that is bound to a key', async t => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(publicKey)
  const cnf = { jkt: await calculateJwkThumbprint(jwk) }
  const proof = async (token: string, htu = AUDIENCE) => await new SignJWT({ jti: randomUUID(), htm: 'POST', htu, iat: seconds(), ath: createHash('sha256').update(token).digest('base64url') })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk }).sign(privateKey)
  const { issuer, send, text } = await guarded(t, jwt)
  const token = await issuer.token({ cnf })
  t.strictSame(await text(token, 'DPoP', { dpop: await proof(token) }), ['ada', ['read']])
  t.match(await send({ authorization: `Bearer ${token}`, dpop: await proof(token) }), { statusCode: 401, headers: { 'www-authenticate': /^Bearer .*scheme DPoP/ } }, 'not as if it were not')
  t.match(await send({ authorization: `DPoP ${token}` }), { statusCode: 401, headers: { 'www-authenticate': /^DPoP error="invalid_dpop_proof".*algs="ES256/ } })
  t.match(await send({ authorization: `DPoP ${token}`, dpop: await proof(token, 'https://other.example/mcp') }), { statusCode: 401 })
  const required = await guarded(t, issuer => ({ ...jwt(issuer), dpop: 'require' }))
  t.match(await required.send({ authorization: `Bearer ${await required.issuer.token()}` }), { statusCode: 401, headers: { 'www-authenticate': /^DPoP / } })
  const bound = await required.issuer.token({ cnf })
  t.strictSame(await required.text(bound, 'DPoP', { dpop: await proof(bound) }), ['ada', ['read']])
})

t.test('each 401 says in the log what was wrong, and never what was sent', async t => {
  const own = await guarded(t, () => ({
    authenticate: async request => { throw Object.assign(new Error(`unknown user (${request.headers.authorization}; ${request.headers.authorization?.split(' ')[1]})`), { statusCode: 401 }) }
  }))
  const { send, log } = await guarded(t, jwt)
  const rows: [typeof send, typeof log, Record<string, string>, RegExp][] = [
    [own.send, own.log, { authorization: 'Bearer opaque-hunter2' }, /^unknown user \(Bearer \[redacted\]; \[redacted\]\)$/],
    [own.send, own.log, { authorization: 'hunter2' }, /^unknown user \(\[redacted\]; undefined\)$/],
    [own.send, own.log, {}, /^unknown user \(undefined; undefined\)$/],
    [send, log, { authorization: 'Basic aHVudGVyMg==' }, /no token of a scheme that is known here/],
    [send, log, {}, /^there is none$/]
  ]
  for (const [send, log, headers, reason] of rows) {
    t.equal((await send(headers)).statusCode, 401)
    t.match(log.filter(line => line.reason !== undefined).at(-1), { level: 30, reason, msg: 'the access token is refused' })
  }
  t.notMatch(JSON.stringify([own.log, log]), /hunter2|aHVudGVyMg/)
  const silent = await guarded(t, () => ({ authenticate: async () => { throw { statusCode: 401 } } })) // eslint-disable-line no-throw-literal
  t.equal((await silent.send()).statusCode, 401)
  t.match(silent.log.filter(line => line.reason !== undefined), [{ reason: /authenticate\(\) refused it/ }])
})
