// Section 8: asking the client, and what comes back.
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import { build } from '../support/app.js'
import { until } from '../support/audit.js'
import { legacy, modern, type HttpPeer } from '../support/http.js'
import type { McpOptions } from '../../types/index.js'

const { defineTool } = mcpPlugin
const Confirm = Type.Object({ confirm: Type.Boolean() })
const confirmed = { action: 'accept', content: { confirm: true } }
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** A server whose tools ask; `paid` is what they did, `ended` how their questions ended. */
async function serve (t: Test, options: McpOptions = {}) {
  const paid: number[] = []
  const ended: unknown[] = []
  const payer = (name: string) => defineTool({
    name,
    inputSchema: Type.Object({ amount: Type.Integer() }),
    handler: async ({ amount }, ctx) => {
      const { content } = await ctx.elicit(`Pay ${amount}?`, Confirm)
      if (content?.confirm !== true) return 'not paid'
      paid.push(amount)
      return `paid ${amount}`
    }
  })
  const ask = defineTool({
    name: 'ask',
    timeout: options.limits?.toolTimeout,
    handler: async (_, ctx) => {
      try {
        return (await ctx.elicit('Name?', Type.Object({ name: Type.String() }))).action
      } catch (error) {
        ended.push(error)
        throw error
      }
    }
  })
  return { ...await build(t, { options: { ...options, tools: [payer('pay'), payer('pay_too'), ask] } }), paid, ended }
}

const declaring = (t: Test, url: string, capabilities: object) => modern(url, { t, meta: { [capabilitiesKey]: capabilities } })

/** A call that has come to its question. */
async function asked (client: HttpPeer, name: string, amount: number) {
  const { result, id } = await client.call(name, { amount })
  return { id, requestState: result.requestState as string, key: Object.keys(result.inputRequests)[0] as string, resultType: result.resultType }
}

t.test('BB-056 an intact state makes the answer count, in a call of its own', async t => {
  const { url, paid } = await serve(t)
  const client = declaring(t, url, { elicitation: {} })
  const { id, requestState, key, resultType } = await asked(client, 'pay', 5)
  t.equal(resultType, 'input_required')
  const retry = (more: object, options = {}) => client.request('tools/call', { name: 'pay', arguments: { amount: 5 }, requestState, ...more }, options)
  t.match(await retry({ inputResponses: { [key]: confirmed } }, { id }), { result: { content: [{ text: 'paid 5' }] } }, 'the same id is another request')
  t.strictSame(paid, [5])
})

t.test('BB-056 an altered state is refused, without a side effect and without a hint', async t => {
  const { url, paid } = await serve(t)
  const client = declaring(t, url, { elicitation: {} })
  const { requestState, key } = await asked(client, 'pay', 5)
  const other = await asked(client, 'pay_too', 5)
  const dearer = await asked(client, 'pay', 500)
  const parts = requestState.split('.')
  const flipped = parts.map((part, i) => {
    const bytes = Buffer.from(part, 'base64url')
    if (bytes.length > 0) bytes[0] = (bytes[0] as number) ^ 1
    return parts.map((one, at) => at === i ? bytes.toString('base64url') : one).join('.')
  }).filter(one => one !== requestState)
  // The last character of 16 bytes carries four bits that a decoder drops.
  const last = requestState.slice(-1)
  const spellings = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(one => one !== last).map(one => requestState.slice(0, -1) + one)
  const altered = [...flipped, ...spellings, requestState.slice(0, -1), requestState.slice(0, 40), requestState + '=', '', other.requestState, dearer.requestState]
  const messages = new Set<string>()
  for (const one of altered) {
    const { error, answer } = await client.request('tools/call', { name: 'pay', arguments: { amount: 5 }, requestState: one, inputResponses: { [key]: confirmed, [dearer.key]: confirmed } })
    t.equal(error?.code, -32602)
    t.equal(answer?.status, 200)
    messages.add(error?.message)
  }
  t.equal(messages.size, 1, 'one text for all of them')
  t.strictSame(paid, [])
})

t.test('BB-056 answers that are missing are asked for again, unknown ones ignored, an array is an error', async t => {
  const { url, paid } = await serve(t)
  const client = declaring(t, url, { elicitation: {} })
  const { requestState, key } = await asked(client, 'pay', 5)
  const retry = async (inputResponses: unknown) => await client.request('tools/call', { name: 'pay', arguments: { amount: 5 }, requestState, ...(inputResponses !== undefined && { inputResponses }) })
  for (const missing of [undefined, null, {}, { other: confirmed }]) {
    const { result } = await retry(missing)
    t.match(result, { resultType: 'input_required', inputRequests: { [key]: { method: 'elicitation/create' } }, requestState: String }, JSON.stringify(missing))
  }
  for (const wrong of [[], [confirmed], 'yes', 1]) t.match((await retry(wrong)).error, { code: -32602 }, JSON.stringify(wrong))
  t.strictSame(paid, [])
  t.match((await retry({ [key]: confirmed, other: { action: 'accept' }, constructor: 1 })).result, { content: [{ text: 'paid 5' }] })
})

t.test('BB-056 nothing but calls, prompts and resources may ask: other methods take no notice of answers', async t => {
  const { url } = await serve(t)
  const client = declaring(t, url, { elicitation: {} })
  const { requestState, key } = await asked(client, 'pay', 5)
  for (const method of ['tools/list', 'server/discover']) {
    const { result } = await client.request(method, { requestState, inputResponses: { [key]: confirmed } })
    t.equal(result.resultType, 'complete', method)
  }
})

t.test('BB-057 what a client has not declared it is not asked, in 2026-07-28', async t => {
  const { url, ended } = await serve(t)
  for (const capabilities of [{}, { elicitation: { url: {} } }, { sampling: {}, roots: {} }]) {
    const { error, result, answer } = await declaring(t, url, capabilities).call('ask')
    t.match(error, { code: -32021, data: { requiredCapabilities: { elicitation: Object } } }, JSON.stringify(capabilities))
    t.strictSame([answer?.status, result], [400, undefined])
  }
  t.match(ended, Array(3).fill({ name: 'InputUnsupportedError', capability: 'elicitation' }))
  for (const capabilities of [{ elicitation: {} }, { elicitation: { form: {} } }]) {
    t.match((await declaring(t, url, capabilities).call('ask')).result, { resultType: 'input_required' }, JSON.stringify(capabilities))
  }
})

t.test('BB-057 nor before: the handler is told at once, and nothing is sent', async t => {
  const { url, ended } = await serve(t)
  for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26'] as const) {
    const client = await legacy(url, revision, { t })
    const events = await client.events()
    const { result, notes } = await client.call('ask')
    t.match(result, { isError: true, content: [{ text: /elicitation/ }] }, revision)
    t.strictSame([...notes, ...events.messages], [], 'not on any stream')
  }
  t.match(ended, Array(3).fill({ name: 'InputUnsupportedError' }))
})

t.test('BB-058 nowhere to ask is an error at once', async t => {
  const sessionless = await serve(t, { sessions: false })
  const server = await serve(t)
  const rows: Array<[string, HttpPeer, object, unknown[]]> = [
    ['without sessions', await legacy(sessionless.url, '2025-11-25', { t, initialize: { capabilities: { elicitation: {} } } }), {}, sessionless.ended],
    ['JSON alone', await legacy(server.url, '2025-11-25', { t, initialize: { capabilities: { elicitation: {} } } }), { Accept: 'application/json' }, server.ended]
  ]
  for (const [title, client, headers, ended] of rows) {
    const before = Date.now()
    const { result } = await client.call('ask', {}, { headers: headers as Record<string, string> })
    t.equal(result.isError, true, title)
    t.ok(Date.now() - before < 2000, 'promptly')
    t.match(ended, [{ name: 'NoStreamError' }])
  }
})

/** A call in a session that waits for its answer. */
async function waiting (t: Test, options: McpOptions = {}) {
  const server = await serve(t, options)
  const client = await legacy(server.url, '2025-11-25', { t, initialize: { capabilities: { elicitation: {} } } })
  const call = client.start('tools/call', { name: 'ask' })
  const question = await call.inbox.first('a question', one => one.method === 'elicitation/create')
  return { ...server, client, call, question }
}

t.test('BB-058 a client that does not answer has the time of the tool', async t => {
  const { call, question, ended } = await waiting(t, { limits: { toolTimeout: 200 } })
  t.match(await call.reply, { result: { isError: true, content: [{ text: /200 ms/ }] } })
  t.match(call.inbox.messages, [{}, { method: 'notifications/cancelled', params: { requestId: question.id } }, {}])
  t.match(ended, [{ name: 'TimeoutError' }])
})

t.test('BB-058 a client that answers with an error is heard, with its code', async t => {
  const { call, client, question, ended } = await waiting(t)
  t.equal((await client.post({ jsonrpc: '2.0', id: question.id, error: { code: -32099, message: 'no form here' } })).status, 202)
  t.match(await call.reply, { result: { isError: true, content: [{ text: /no form here/ }] } })
  t.match(ended, [{ name: 'InputRejectedError', code: -32099 }])
})

t.test('BB-058 the answer of another session is ignored', async t => {
  const { url, call, client, question } = await waiting(t)
  const foreign = await legacy(url, '2025-11-25', { t, initialize: { capabilities: { elicitation: {} } } })
  const answer = (action: string) => ({ jsonrpc: '2.0', id: question.id, result: { action } })
  t.ok([202, 404].includes((await foreign.post(answer('cancel'))).status))
  t.strictSame((await call.inbox.during(100)).filter(one => one.result !== undefined), [], 'the question stays open')
  await client.post(answer('decline'))
  t.match(await call.reply, { result: { content: [{ text: 'decline' }] } })
})

t.test('BB-058 a client that is gone is not waited for without end', async t => {
  const { app, call, client, ended } = await waiting(t, { limits: { toolTimeout: 400 } })
  call.abort()
  t.ok(await until(() => ended.length > 0), 'the question ends with the time of the tool at the latest')
  t.ok(await until(() => app.mcp.stats().calls === 0))
  t.equal((await client.delete()).status, 204)
})
