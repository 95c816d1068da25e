// Many callers at once, with the same ids, in all revisions, some of whom hang up: nothing of one reaches another.
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { build, defineTool } from '../support/app.js'
import { until } from '../support/audit.js'
import { HttpPeer, httpSse, legacy, modern, type SsePeer } from '../support/http.js'
import { sleep } from '../support/stdio.js'
import { revisions, type Revision } from '../support/wire.js'

const PRINCIPALS = 50
const CALLS = 40
const AT_ONCE = 4
const nameOf = (i: number) => `p${i}`

const whoami = defineTool({
  name: 'whoami',
  inputSchema: Type.Object({ nonce: Type.String(), ms: Type.Integer() }),
  async handler ({ nonce, ms }, ctx) {
    const own = `${ctx.auth?.subject} ${nonce}`
    await ctx.progress(1, 2, own)
    await sleep(ms)
    await ctx.progress(2, 2, own)
    return own
  }
})
const own = Array.from({ length: PRINCIPALS }, (_, i) => defineTool({ name: `own_${nameOf(i)}`, visible: ctx => ctx.auth?.subject === nameOf(i), handler: () => nameOf(i) }))

async function clientOf (t: Test, url: string, revision: Revision, headers: { authorization: string }): Promise<HttpPeer | SsePeer> {
  if (revision === '2026-07-28') return modern(url, { t, headers })
  return revision === '2024-11-05' ? await httpSse(url, { t, headers }) : await legacy(url, revision, { t, headers })
}

t.test('50 callers, 2,000 calls', async t => {
  const { app, url } = await build(t, { bare: true, options: { tools: [whoami, ...own], sse: { after: 20 }, auth: { authenticate: ({ headers }) => ({ subject: String(headers.authorization).slice(7), scopes: [] }) } } })
  const counts = { calls: 0, answers: 0, left: 0, progress: 0, lists: 0, foreign: 0, crossed: 0 }
  const crossed = (what: string) => { counts.crossed++; t.fail(what) }
  const clients = await Promise.all(Array.from({ length: PRINCIPALS }, async (_, i) => await clientOf(t, url, revisions[i % revisions.length] as Revision, { authorization: `Bearer ${nameOf(i)}` })))

  const one = async (client: HttpPeer | SsePeer, i: number, n: number) => {
    counts.calls++
    const nonce = `${i}-${n}`
    const call = client.start('tools/call', { name: 'whoami', arguments: { nonce, ms: Math.floor(Math.random() * 30) } }, { id: n, meta: { progressToken: n } })
    if (n % 10 === 0 && client instanceof HttpPeer) {
      await sleep(Math.random() * 20)
      call.abort()
      counts.left++
      return
    }
    const { result, notes } = await call.reply
    counts.answers++
    if (result?.content?.[0]?.text !== `${nameOf(i)} ${nonce}`) crossed(`${nameOf(i)} got ${JSON.stringify(result)} for ${nonce}`)
    for (const { method, params } of notes) {
      if (method !== 'notifications/progress') continue
      counts.progress++
      if (params.progressToken !== n || (params.message !== undefined && params.message !== `${nameOf(i)} ${nonce}`)) crossed(`${nameOf(i)} heard ${JSON.stringify(params)} in call ${nonce}`)
    }
  }
  const listed = async (client: HttpPeer | SsePeer, i: number) => {
    counts.lists++
    const { result } = await client.request('tools/list', {})
    const names = result.tools.map(({ name }: { name: string }) => name)
    if (names.join() !== `whoami,own_${nameOf(i)}`) crossed(`${nameOf(i)} was shown ${names.join()}`)
  }
  const foreign = async (client: HttpPeer | SsePeer, i: number) => {
    const other = clients[(i + revisions.length) % PRINCIPALS]
    if (!(client instanceof HttpPeer) || !(other instanceof HttpPeer) || other.session === undefined) return
    counts.foreign++
    const { status } = await client.post({ jsonrpc: '2.0', id: 'theirs', method: 'ping' }, { 'mcp-session-id': other.session })
    if (status !== 404) crossed(`${nameOf(i)} entered the session of another: ${status}`)
  }
  await Promise.all(clients.map(async (client, i) => {
    let next = 1
    await Promise.all(Array.from({ length: AT_ONCE }, async () => { for (let n = next++; n <= CALLS; n = next++) await one(client, i, n) }))
    await listed(client, i)
    await foreign(client, i)
  }))
  t.comment(JSON.stringify(counts))
  t.match(counts, { calls: PRINCIPALS * CALLS, answers: counts.calls - counts.left, lists: PRINCIPALS, crossed: 0 })
  t.ok(counts.progress > counts.answers / 2 && counts.left > 100 && counts.foreign >= 25)
  t.ok(await until(() => app.mcp.stats().calls === 0, 10_000), 'nothing goes on for those who left')
})
