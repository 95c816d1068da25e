// The official clients sign in at a real authorization server, and ask for more where they need it.
import { DpopSession, InsufficientScopeError } from '@modelcontextprotocol/client'
import t from 'tap'
import { signIn, v2, type Wallet } from './oauth-client.js'
import { SCOPES } from './provider.js'
import { documentOf, enter, generations, signed, user, who } from './signed.js'

const { v1, legacy, auto, pinned } = generations
const all = Object.values(generations)

/** What the last authorization request asked for, refresh tokens apart: the second generation asks for these by a scope. */
const wanted = ({ scopes }: Wallet) => scopes.filter(scope => scope !== 'offline_access')
const needsBoth = (url: string) => `Bearer error="insufficient_scope", error_description="this needs files:read files:write", scope="files:read files:write", resource_metadata="${documentOf(url)}"`

/** The parts of a challenge that a client needs to ask for more. */
function read (challenge: string): { scope: string, metadata: string } {
  const part = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? ''
  return { scope: part('scope'), metadata: part('resource_metadata') }
}

for (const { name, make, revision } of all) {
  t.test(`${name}: a stranger is led from 401 to a token, and the handler knows whose it is`, async t => {
    const { client, wallet, issuer, url, app } = await enter(t, make)
    t.strictSame(wallet.seen[0], { verb: 'POST', status: 401, challenge: `Bearer scope="files:read", resource_metadata="${documentOf(url)}"` })
    t.strictSame(issuer.asked.slice(0, 3), ['GET /.well-known/oauth-authorization-server', 'POST /reg', 'GET /auth'])
    t.equal(wallet.asked.length, 1)
    const asked = Object.fromEntries(wallet.asked[0] as URLSearchParams)
    t.match(asked, { response_type: 'code', client_id: wallet.known?.client_id, code_challenge_method: 'S256', code_challenge: /^[\w-]{43}$/, resource: url, redirect_uri: wallet.redirectUrl })
    t.strictSame(wanted(wallet), ['files:read'])
    t.match(wallet.browser.read, ['', `${wallet.known?.client_id} asks for files:read`], 'the user said who it is, and what the client may do')
    t.equal(client.revision(), revision)
    const sessions = revision === '2025-11-25'
    t.strictSame(await who(client), { subject: 'ada', issuer: issuer.issuer, client: wallet.known?.client_id, scopes: ['files:read'], audience: url, session: sessions })
    t.strictSame([app.mcp.stats().sessions, client.session() !== undefined], [sessions ? 1 : 0, sessions])
    t.equal(issuer.asked.filter(one => one === 'GET /jwks').length, 1)
  })
}

for (const { name, make, refresh } of [{ ...v1, refresh: false }, { ...legacy, refresh: true }, { ...auto, refresh: true }, { ...pinned, refresh: true }, { ...pinned, refresh: false }]) {
  t.test(`${name}${refresh ? '' : ', without refresh tokens'}: asks the user for more by itself, and the call then succeeds`, async t => {
    const { client, wallet, url, issuer } = await enter(t, make, {}, { refresh })
    t.strictSame([wallet.held?.refresh_token !== undefined, wallet.held?.scope], [refresh, 'files:read'])
    const session = client.session()
    await t.rejects(client.call('write'), { message: 'Unauthorized' })
    t.equal(wallet.seen.at(-1)?.status, 403)
    t.equal(wallet.challenge, needsBoth(url))
    t.equal(wallet.asked.length, 2)
    t.strictSame(wanted(wallet), SCOPES)
    await client.finish()
    t.equal(await client.call('write'), 'written for ada')
    t.strictSame((await who(client)).scopes.sort(), SCOPES)
    t.equal(client.session(), session, 'in the session that was there')
    t.equal(issuer.asked.filter(one => one === 'POST /reg').length, 1)
  })
}

t.test('v1, with refresh tokens: a refreshed token brings no more, so it gives up; asked to forget the token, it asks the user', async t => {
  const { client, wallet, url } = await enter(t, v1.make)
  const session = client.session()
  await t.rejects(client.call('write'), /Server returned 403 after trying upscoping/)
  t.strictSame(wallet.seen.slice(-2), Array(2).fill({ verb: 'POST', status: 403, challenge: needsBoth(url) }))
  t.equal(wallet.asked.length, 1, 'the user was not asked')
  wallet.invalidateCredentials('tokens')
  const { scope, metadata } = read(wallet.challenge)
  t.equal(await client.authorize(scope, metadata), 'REDIRECT')
  t.strictSame(wanted(wallet), SCOPES)
  await client.finish()
  t.equal(await client.call('write'), 'written for ada')
  t.equal(client.session(), session)
})

t.test('v2, told to leave it to the app: the error says what to ask for', async t => {
  const { client, wallet, url } = await enter(t, v2({ pin: '2026-07-28' }, { onInsufficientScope: 'throw' }))
  const error = await client.call('write').then(() => undefined, (error: unknown) => error)
  if (!(error instanceof InsufficientScopeError)) throw error
  t.strictSame([error.requiredScope, String(error.resourceMetadataUrl), error.errorDescription], ['files:read files:write', documentOf(url), 'this needs files:read files:write'])
  t.equal(await client.authorize(error.requiredScope as string, String(error.resourceMetadataUrl)), 'REDIRECT')
  await client.finish()
  t.equal(await client.call('write'), 'written for ada')
  t.strictSame(wanted(wallet), SCOPES)
})

for (const { name, make, again } of [{ ...v1, again: false }, { ...legacy, again: true }, { ...pinned, again: true }]) {
  t.test(`${name}: a user who does not let it is ${again ? 'asked with each call' : 'asked once'}, and may do what was allowed before`, async t => {
    const { client, wallet, issuer } = await enter(t, make, {}, { refresh: false })
    issuer.grants = scope => scope === 'files:read'
    await t.rejects(client.call('write'), { message: 'Unauthorized' })
    await client.finish()
    t.equal(wallet.held?.scope, 'files:read')
    await t.rejects(client.call('write'), { message: again ? 'Unauthorized' : /403 after trying upscoping/ })
    t.equal(wallet.asked.length, again ? 3 : 2)
    t.strictSame((await who(client)).scopes, ['files:read'])
  })
}

t.test('a client that is held to the scopes it registered with cannot ask for more, until it registers for them', async t => {
  const { client, wallet, issuer } = await enter(t, pinned.make, { held: true })
  t.match(wallet.known, { scope: 'files:read offline_access' })
  await t.rejects(client.call('write'), { message: 'Unauthorized' })
  await t.rejects(client.finish(), /requested scope is not allowed/)
  wallet.invalidateCredentials('client')
  await t.rejects(client.call('write'), { message: 'Unauthorized' })
  await client.finish()
  t.equal(await client.call('write'), 'written for ada')
  t.equal(issuer.asked.filter(one => one === 'POST /reg').length, 2)
})

for (const [place, where] of Object.entries({ 'below a prefix': { prefix: '/api/v1' }, 'on the root': { options: { path: '/' } }, 'at a path of its own': { prefix: '/a', options: { path: '/b/c' } } })) {
  for (const { name, make } of [v1, pinned]) {
    t.test(`${name}: signs in to an endpoint ${place}`, async t => {
      const { client, wallet, url } = await enter(t, make, where)
      t.equal(wallet.challenge, `Bearer scope="files:read", resource_metadata="${documentOf(url)}"`)
      t.match(await (await fetch(documentOf(url))).json(), { resource: url, scopes_supported: ['files:read'] })
      t.equal(wallet.asked[0]?.get('resource'), url)
      t.match(await who(client), { subject: 'ada', audience: url })
    })
  }
}

for (const { name, make } of [v1, legacy, pinned]) {
  t.test(`${name}: says by a document who it is, and need not register`, async t => {
    const server = await signed(t)
    const clientMetadataUrl = 'https://client.example.test/mcp.json'
    const client = server.sit(make, user('ada', { clientMetadataUrl }))
    server.issuer.documents.set(clientMetadataUrl, { ...client.wallet.clientMetadata, application_type: 'native', client_id: clientMetadataUrl })
    t.equal(await signIn(client), true)
    t.match(await who(client), { subject: 'ada', client: clientMetadataUrl })
    t.notOk(server.issuer.asked.includes('POST /reg'))
  })
}

t.test('v2: a token that is bound to a key opens what demands it, with the key alone', async t => {
  const { client, wallet, url } = await enter(t, pinned.make, { auth: () => ({ dpop: 'require' }) }, { dpop: await DpopSession.create() })
  t.equal(wallet.held?.token_type, 'DPoP')
  t.match(await who(client), { subject: 'ada', scopes: ['files:read'] })
  for (const scheme of ['DPoP', 'Bearer']) {
    const { status, headers } = await fetch(url, { method: 'POST', headers: { authorization: `${scheme} ${wallet.held?.access_token}`, accept: 'application/json, text/event-stream', 'content-type': 'application/json' }, body: '{}' })
    t.equal(status, 401, scheme)
    t.match(headers.get('www-authenticate'), /^DPoP error="invalid_/)
  }
})

t.test('a token for one endpoint opens no other of the same issuer', async t => {
  const one = await enter(t, pinned.make)
  const other = await signed(t, { issuer: one.issuer })
  const reply = await fetch(other.url, { method: 'POST', headers: { authorization: `Bearer ${one.wallet.held?.access_token}` } })
  t.equal(reply.status, 401)
  t.equal(reply.headers.get('www-authenticate'), `Bearer error="invalid_token", error_description="the token is not valid here", scope="files:read", resource_metadata="${documentOf(other.url)}"`)
})
