// The official clients stay signed in: tokens end, are refreshed or taken back, and the session is still their user's.
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { decodeJwt } from 'jose'
import t from 'tap'
import { until } from '../support/audit.js'
import { signIn, type Wallet } from './oauth-client.js'
import { documentOf, enter, generations, signed, user, who, type SignedOptions } from './signed.js'

const { v1, legacy, pinned } = generations
const handshakes = [v1, legacy]
/** In seconds; a second of it may be over when it is issued. */
const SHORT = 2
/** In ms. */
const PATIENCE = 10_000
const invalid = (url: string, why: string) => `Bearer error="invalid_token", error_description="${why}", scope="files:read", resource_metadata="${documentOf(url)}"`
const asking: SignedOptions = { format: 'opaque', auth: (issuer, url) => ({ jwt: undefined as never, introspection: issuer.introspection(url) }) }
const refreshes = (asked: string[]) => asked.filter(one => one === 'POST /token').length - 1
const endOf = ({ held }: Wallet) => decodeJwt(held?.access_token as string).exp as number

for (const { name, make } of [...handshakes, pinned]) {
  t.test(`${name}: a token that has ended is refreshed, the user asked no more`, async t => {
    const { client, wallet, issuer, url, app } = await enter(t, make)
    issuer.ttl = SHORT
    wallet.held = { ...wallet.held as OAuthTokens, access_token: 'x' } // which makes it fetch a short one
    t.equal((await who(client)).subject, 'ada')
    t.equal(wallet.challenge, invalid(url, 'the token is not valid here'))
    issuer.ttl = 600
    const [short, session, sessions] = [wallet.held?.access_token, client.session(), app.mcp.stats().sessions]
    await new Promise(resolve => setTimeout(resolve, endOf(wallet) * 1000 + 50 - Date.now()))
    t.equal((await who(client)).subject, 'ada')
    t.strictSame(wallet.seen.slice(-2), [{ verb: 'POST', status: 401, challenge: invalid(url, 'the token has expired') }, { verb: 'POST', status: 200, challenge: null }])
    t.not(wallet.held?.access_token, short)
    t.strictSame([refreshes(issuer.asked), wallet.asked.length], [2, 1])
    t.strictSame([client.session(), app.mcp.stats().sessions], [session, sessions])
  })
}

for (const { name, make } of handshakes) {
  t.test(`${name}: the stream ends with its token, and is there again with the next`, async t => {
    const server = await signed(t)
    const { issuer, app } = server
    issuer.ttl = SHORT + 1
    const client = server.sit(make, user('ada'))
    t.equal(await signIn(client), true)
    issuer.ttl = 600
    const { wallet } = client
    const gets = () => wallet.seen.filter(({ verb }) => verb === 'GET').map(({ status }) => status)
    t.ok(await until(() => app.mcp.stats().streams === 1, PATIENCE))
    t.ok(await until(() => app.mcp.stats().streams === 0, PATIENCE), 'it ends')
    t.ok(endOf(wallet) * 1000 <= Date.now(), 'not before the token does')
    t.ok(await until(() => app.mcp.stats().streams === 1, PATIENCE), 'and is there again')
    t.ok(await until(() => gets().length === 3, PATIENCE))
    t.strictSame(gets(), [200, 401, 200])
    t.strictSame([refreshes(issuer.asked), wallet.asked.length, app.mcp.stats().sessions], [1, 1, 1])
  })
}

for (const { name, make } of Object.values(generations)) {
  t.test(`${name}: a token that was taken back is refreshed; with all of them the user is asked`, async t => {
    const { client, wallet, issuer, url } = await enter(t, make, asking)
    t.match(await who(client), { subject: 'ada', scopes: ['files:read'], client: wallet.known?.client_id, audience: url })
    const session = client.session()
    const before = refreshes(issuer.asked)
    issuer.revoke('access')
    t.equal((await who(client)).subject, 'ada')
    t.equal(wallet.challenge, invalid(url, 'the token is not active'))
    t.strictSame([refreshes(issuer.asked) - before, wallet.asked.length], [1, 1])
    issuer.revoke('all')
    await t.rejects(who(client), { message: 'Unauthorized' })
    t.equal(wallet.asked.length, 2)
    await client.finish()
    t.equal((await who(client)).subject, 'ada')
    t.equal(client.session(), session)
  })
}

for (const { name, make } of handshakes) {
  t.test(`${name}: the token of another user does not open the session, whichever client both use`, async t => {
    const server = await enter(t, make)
    const { client, wallet, url } = server
    const eve = server.sit(make, user('eve'))
    eve.wallet.known = wallet.known
    t.equal(await signIn(eve), true)
    t.match(await who(eve), { subject: 'eve', client: wallet.known?.client_id })
    const headers = {
      authorization: `Bearer ${eve.wallet.held?.access_token}`,
      'mcp-session-id': client.session() as string,
      'mcp-protocol-version': '2025-11-25',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream'
    }
    const call = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'who' } })
    for (const method of ['POST', 'GET', 'DELETE']) {
      const { status } = await fetch(url, { method, headers, ...(method === 'POST' && { body: call }) })
      t.equal(status, 404, method)
    }
    t.match(await who(client), { subject: 'ada' }, 'nothing of it was ended')
    t.not(eve.session(), client.session())
    const again = await fetch(url, { method: 'POST', headers: { ...headers, authorization: `Bearer ${wallet.held?.access_token}` }, body: call })
    t.equal(again.status, 200, 'all else being the same, its own user is let in')
  })
}

t.test('a user who registers anew is another client: its sessions are begun anew', async t => {
  const server = await enter(t, legacy.make)
  const { client, wallet, issuer } = server
  const session = client.session()
  wallet.invalidateCredentials('all')
  await t.rejects(who(client), { message: 'Unauthorized' })
  await client.finish()
  await t.rejects(who(client), /404|[Ss]ession/)
  t.equal(issuer.asked.filter(one => one === 'POST /reg').length, 2)
  await client.connect()
  t.match(await who(client), { subject: 'ada', client: wallet.known?.client_id })
  t.not(client.session(), session)
})
