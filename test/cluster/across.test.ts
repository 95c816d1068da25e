// One session, every request at another process.
import t from 'tap'
import { Type } from '@sinclair/typebox'
import { defineTool } from '../support/app.js'
import { until } from '../support/time.js'
import { apps, heard, lastId, onEach, Roamer } from './cluster.js'
import { steps } from './steps.js'

const tools = [
  defineTool({
    name: 'ask_name',
    async handler (_, ctx) {
      const answer = await ctx.elicit('Your name?', Type.Object({ name: Type.String() }))
      return answer.action === 'accept' ? `Hello, ${answer.content.name}!` : answer.action
    }
  }),
  steps
]
const resources = [{ uri: 'mem://a', name: 'a', read: () => 'A' }].map(one => ({ ...one })) as never

onEach(t, 'initialize on A, call on B, listen on C, answer at D, resume on E', async (t, sharing) => {
  const [a, b, c, d, e] = await apps(t, sharing, 5, { tools, resources }) as [any, any, any, any, any]
  const client = new Roamer(t)
  t.match((await client.open(a)).messages[0], { result: { protocolVersion: '2025-11-25' } })
  t.match(await client.ask(b, 'tools/call', { name: 'echo', arguments: { text: 'hi' } }), { result: { content: [{ text: 'hi' }] } })
  t.match(await client.ask(c, 'resources/subscribe', { uri: 'mem://a' }), { result: {} })

  const listening = await client.listen(c).answer
  t.equal(listening.status, 200)
  b.app.mcp.resources.updated('mem://a')
  t.ok(await heard(listening, one => one.method === 'notifications/resources/updated' && one.params.uri === 'mem://a'))
  a.app.mcp.tools.disable('noargs')
  t.ok(await heard(listening, one => one.method === 'notifications/tools/list_changed'))

  const asked = await client.call(b, 'ask_name').answer
  t.ok(await heard(asked, one => one.method === 'elicitation/create'))
  const question = asked.messages.find(one => one.method === 'elicitation/create')
  t.equal((await client.answer(d, question?.id, { action: 'accept', content: { name: 'Ada' } })).status, 202)
  t.ok(await heard(asked, one => one.result?.content[0].text === 'Hello, Ada!'))

  const going = client.call(b, 'steps', { n: 10, ms: 40 }, { _meta: { progressToken: 'p' } })
  const first = await going.answer
  t.ok(await until(() => first.messages.length >= 3))
  going.abort()
  const seen = first.messages.map(one => one.params?.progress)
  const rest = await client.listen(e, lastId(first)).answer
  t.equal(rest.status, 200)
  t.ok(await rest.over(), 'the stream ends with the answer')
  t.match(rest.messages.at(-1), { id: going.id, result: { content: [{ text: 'all done' }] } })
  t.strictSame([...seen, ...rest.messages.map(one => one.params?.progress)].filter(Boolean), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'each once, in order')

  t.equal((await client.end(d)).status, 204)
  t.ok(await listening.over(), 'the stream at another process is over')
  t.equal((await client.post(a.url, { jsonrpc: '2.0', id: 99, method: 'ping' })).status, 404)
})
