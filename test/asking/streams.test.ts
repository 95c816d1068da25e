// Where a question goes in the handshake revisions, and what becomes of it where nobody answers.
import type { Test } from 'tap'
import type { HttpPeer } from '../support/http.js'
import { legacy } from '../support/http.js'
import type { StdioPeer } from '../support/stdio.js'
import { until, wait } from '../support/time.js'
import { allModes, defineTool, failure, join, modeOf, named, Name, open, questions, requestModes, said, type Client, type OpenOptions } from './client.js'
import { alone, each } from './each.js'

const http = modeOf('2025-11-25', 'http')
const json = { Accept: 'application/json' }

/** A tool that asks, and how its question ended. */
function asking (options: { timeout?: number } = {}) {
  const ended: string[] = []
  const tool = defineTool({
    name: 'ask',
    ...options,
    handler: async (_, ctx) => {
      try {
        const { content } = await ctx.elicit('Name?', Name)
        ended.push('answered')
        return `Hello, ${content?.name}`
      } catch (error) {
        ended.push((error as Error).name)
        throw error
      }
    }
  })
  return { tool, ended }
}

/** A call that waits for its first answer. */
async function begun (client: Client, tool = 'ask') {
  const call = client.peer.start('tools/call', { name: tool })
  const { value: question } = await questions(call.inbox).next()
  return { ...call, question }
}

const stream = { Accept: 'text/event-stream' }
const openHttp = async (t: Test, more: Omit<OpenOptions, 'tools'> = {}, options = {}) => {
  const { tool, ended } = asking(options)
  const client = await open(t, http, { tools: [tool], ...more })
  return { client, ended, peer: client.peer as HttpPeer }
}

alone('a call that takes JSON alone, in a session without a stream, has nowhere to ask', async t => {
  const { client, ended } = await openHttp(t)
  const before = Date.now()
  const { text, isError, reply } = await client.call('ask', undefined, { headers: json })
  t.match([isError, text], [true, /no stream.*GET/])
  t.equal(reply.answer?.type, 'application/json')
  t.ok(Date.now() - before < 2000, 'at once')
  t.strictSame(ended, ['NoStreamError'])
})

alone('in a session with a GET stream it is asked there', async t => {
  const { client, ended, peer } = await openHttp(t)
  const events = await peer.events()
  const call = peer.start('tools/call', { name: 'ask' }, { headers: json })
  const question = await events.first('a question', one => one.method === 'elicitation/create')
  await client.tell(question.id, named('Ada'))
  const { result, answer } = await call.reply
  t.match(result, { content: [{ text: 'Hello, Ada' }] })
  t.equal(answer?.type, 'application/json')
  t.strictSame(ended, ['answered'])
})

alone('on the newest of several', async t => {
  const { client, peer } = await openHttp(t)
  const older = await peer.events()
  const newer = await peer.events()
  const call = peer.start('tools/call', { name: 'ask' }, { headers: json })
  const question = await newer.first('a question', one => one.method === 'elicitation/create')
  t.strictSame(older.messages.filter(one => one.id !== undefined), [])
  await client.tell(question.id, named('Ada'))
  t.match(await call.reply, { result: { content: [{ text: 'Hello, Ada' }] } })
})

alone('a question on the stream of a call is not on the session\'s', async t => {
  const { client, peer } = await openHttp(t)
  const events = await peer.events()
  t.equal((await client.call('ask', () => named('Ada'))).text, 'Hello, Ada')
  t.strictSame(events.messages.filter(one => one.id !== undefined), [])
})

alone('a client that takes nothing but streams is asked on one', async t => {
  const { client } = await openHttp(t)
  t.equal((await client.call('ask', () => named('Ada'), { headers: stream })).text, 'Hello, Ada')
})

for (const [title, options, headers] of [['without sessions', { sessions: false } as const, {}], ['without the header of one', {}, { 'Mcp-Session-Id': undefined }]] as const) {
  alone(`a call ${title} can never be asked`, async t => {
    const { tool, ended } = asking()
    const client = await open(t, http, { tools: [tool], options })
    const before = Date.now()
    const { text, isError, asked } = await client.call('ask', () => named('Ada'), { headers: headers as {} })
    t.match([isError, text], [true, /session/])
    t.strictSame([asked, ended], [[], ['NoStreamError']])
    t.ok(Date.now() - before < 2000, 'at once')
  })
}

alone('the answer of another session is nobody\'s', async t => {
  const { client, peer } = await openHttp(t)
  const other = await legacy(client.server.url, '2025-11-25', { t, initialize: { capabilities: { elicitation: {} } } })
  const { question, reply, inbox } = await begun(client)
  const answer = (who: HttpPeer, name: string, extra = {}) => who.post({ jsonrpc: '2.0', id: question.id, result: named(name) }, extra)
  t.ok([202, 404].includes((await answer(other, 'Eve')).status))
  t.equal((await answer(peer, 'Eve', { 'Mcp-Session-Id': '11111111-1111-4111-8111-111111111111' })).status, 404)
  t.ok((await answer(peer, 'Eve', { 'Mcp-Session-Id': undefined })).status >= 400)
  t.strictSame((await inbox.during(100)).filter(one => one.method === undefined), [], 'the question is still open')
  t.equal((await answer(peer, 'Ada')).status, 202)
  t.match(await reply, { result: { content: [{ text: 'Hello, Ada' }] } })
  t.equal((await answer(peer, 'Bob')).status, 202, 'a second answer is no error')
})

each('a client that answers with an error', allModes.filter(({ rounds }) => !rounds), async (t, open) => {
  const client = await open({
    tools: [
      defineTool({ name: 'shown', handler: async (_, ctx) => (await ctx.sample('Hi')).model }),
      defineTool({ name: 'caught', handler: async (_, ctx) => await ctx.sample('Hi').then(() => 'answered', error => `${error.name} ${error.code} ${error.message}`) })
    ]
  })
  const refusal = () => failure(-1, 'User rejected sampling request')
  t.match(await client.call('shown', refusal), { isError: true, text: /User rejected sampling request/ })
  t.match(await client.call('caught', refusal), { isError: false, text: /^InputRejectedError -1 .*User rejected/ })
})

each('a client that answers with an error that is none', allModes.filter(({ rounds, over }) => !rounds && over !== 'stdio'), async (t, open) => {
  const client = await open({ tools: [defineTool({ name: 'ask', timeout: 2000, handler: async (_, ctx) => await ctx.roots().then(() => 'answered', error => error.name) })] })
  const call = client.peer.start('tools/call', { name: 'ask' })
  const { value: question } = await questions(call.inbox).next()
  const body = { jsonrpc: '2.0', id: question.id, error: null }
  const answer = await ('post' in client.peer ? (client.peer as HttpPeer).post(body) : (client.peer as any).write(JSON.stringify(body)))
  t.equal(answer.status, 202)
  t.match((await call.reply).result, { content: [{ text: 'InputRejectedError' }] })
})

each('a client that never answers has as long as the tool', requestModes, async (t, open) => {
  const { tool, ended } = asking({ timeout: 300 })
  const client = await open({ tools: [tool] })
  const before = Date.now()
  const { text, isError, asked, notes } = await client.call('ask')
  t.match([isError, text], [true, /longer than 300 ms/])
  t.ok(Date.now() - before < 3000)
  t.match(notes, [{ method: 'notifications/cancelled', params: { requestId: asked[0]?.id } }], 'then the question is taken back')
  t.strictSame(ended, ['TimeoutError'])
  await client.tell(asked[0]?.id, named('Ada'))
  t.strictSame((await client.call('ask', () => named('Ada'))).text, 'Hello, Ada', 'a late answer does no harm')
})

each('a call that is cancelled takes its question with it', requestModes, async (t, open) => {
  const { tool, ended } = asking()
  const client = await open({ tools: [tool] })
  const { id, inbox, question } = await begun(client)
  await client.peer.notify('notifications/cancelled', { requestId: id, reason: 'changed my mind' })
  const note = await inbox.first('the question taken back', one => one.method === 'notifications/cancelled')
  t.equal(note.params.requestId, question.id)
  t.ok(await until(() => ended.length > 0))
  t.strictSame(ended, ['AbortError'])
  t.equal(client.server.app.mcp.stats().calls, 0)
})

alone('a session that is ended takes its questions with it', async t => {
  const { client, ended, peer } = await openHttp(t)
  const { question, answer } = await begun(client)
  t.equal((await peer.delete()).status, 204)
  t.ok(await until(() => ended.length > 0))
  t.strictSame(ended, ['AbortError'])
  t.ok(await (await answer)?.over(), 'and their stream')
  t.equal((await client.tell(question.id, named('Ada'))).status, 404)
  t.match(client.server.app.mcp.stats(), { sessions: 0, calls: 0 })
})

each('a server that closes', requestModes, async (t, open, { over }) => {
  const { tool, ended } = asking()
  const client = await open({ tools: [tool], options: { closeTimeout: 200 } })
  const { inbox, question } = await begun(client)
  const before = Date.now()
  await client.server.app.close()
  t.ok(Date.now() - before < 4000, 'does not wait for an answer')
  t.strictSame(ended, ['AbortError'])
  const note = await inbox.first('the question taken back', one => one.method === 'notifications/cancelled').catch(() => undefined)
  if (over === 'http') t.match(note, { params: { requestId: question.id } })
})

alone('a client whose connection is gone is asked on the stream of its session', async t => {
  const { client, peer } = await openHttp(t)
  client.server.app.mcp.tools.add({ name: 'later', handler: async (_, ctx) => { await wait(300); return (await ctx.elicit('Name?', Name)).action } })
  const events = await peer.events()
  const call = peer.start('tools/call', { name: 'later' })
  t.ok(await until(() => client.server.app.mcp.stats().calls === 1))
  call.abort()
  const question = await events.first('a question', one => one.method === 'elicitation/create')
  t.equal((await client.tell(question.id, named('Ada'))).status, 202)
  t.ok(await until(() => client.server.app.mcp.stats().calls === 0))
})

alone('without one there is nowhere to ask', async t => {
  const { client, peer } = await openHttp(t)
  const ended: string[] = []
  client.server.app.mcp.tools.add({ name: 'later', handler: async (_, ctx) => { await wait(300); return await ctx.elicit('Name?', Name).then(() => 'answered', error => { ended.push(error.name); return 'no' }) } })
  const call = peer.start('tools/call', { name: 'later' })
  t.ok(await until(() => client.server.app.mcp.stats().calls === 1))
  call.abort()
  t.ok(await until(() => ended.length > 0), 'the handler is told, and does not wait for an answer that cannot come')
  t.strictSame(ended, ['NoStreamError'])
})

alone('when the input of stdio has ended, nobody can answer', async t => {
  const { tool, ended } = asking()
  const client = await open(t, modeOf('2025-11-25', 'stdio'), { tools: [tool] })
  const { id, inbox } = await begun(client)
  const { input, done } = client.peer as StdioPeer
  input.end()
  const left = await Promise.race([done.then(() => true), wait(5000).then(() => false)])
  t.ok(left, 'so the server does not wait')
  t.strictSame(ended, ['NoStreamError'])
  t.match(inbox.messages.find(one => one.id === id), { result: { isError: true } }, 'and answers what was asked')
  if (!left) await client.server.app.close()
})

alone('each session has its own questions', async t => {
  const { client } = await openHttp(t)
  const other = await join(t, http, client.server)
  const [one, two] = await Promise.all([begun(client), begun(other)])
  await Promise.all([client.tell(one.question.id, named('Ada')), other.tell(two.question.id, named('Bob'))])
  t.match([(await one.reply).result, (await two.reply).result], [{ content: [{ text: 'Hello, Ada' }] }, { content: [{ text: 'Hello, Bob' }] }])
})

alone('the members of a batch are asked on its stream', async t => {
  const client = await open(t, modeOf('2025-03-26', 'http'), { tools: [defineTool({ name: 'model', handler: async (_, ctx) => (await ctx.sample('Hi')).model })] })
  const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'model' } })
  const { inbox, over } = await (client.peer as HttpPeer).post([call(1), call(2)]).then(answer => ({ inbox: answer.inbox, over: () => answer.over() }))
  for (const id of ['ask-1', 'ask-2']) {
    const question = await inbox.first('a question', one => one.id === id)
    await client.tell(question.id, said(id))
  }
  t.ok(await over())
  t.match(inbox.messages.filter(one => one.result !== undefined).sort((a, b) => a.id - b.id), [{ id: 1, result: { content: [{ text: 'm' }] } }, { id: 2 }])
})
