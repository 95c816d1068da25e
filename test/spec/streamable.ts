// Streamable HTTP as 2025-03-26, 2025-06-18 and 2025-11-25 have it: messages up, streams down. Page: basic/transports.
import type { Answer, HttpPeer } from '../support/http.js'
import { isNote, isResponse, sleep } from '../support/stdio.js'
import { alive, until, type Audit } from '../support/audit.js'

const since = '2025-03-26' as const
const http: Audit['over'] = ['http']
const changed = isNote('notifications/tools/list_changed')

/** A call with progress, which is answered with a stream. */
const streaming = (client: HttpPeer, token: string, n: number, delayMs = 10) =>
  client.start('tools/call', { name: 'progress', arguments: { n, delayMs } }, { meta: { progressToken: token } })

const told = (answer: Answer) => answer.events.filter(event => event.data !== '').map(event => JSON.parse(event.data))

const sending: Audit[] = [
  {
    id: 'transports/sending-1',
    says: 'MUST answer a request with one JSON object or with an event stream',
    from: 'basic/transports § Sending Messages to the Server 5',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      for (const request of [() => client.call('echo', { text: 'x' }), () => streaming(client, 'p', 2).reply]) {
        const { answer } = await request()
        t.equal(answer?.status, 200)
        t.match(answer?.type, /^(application\/json|text\/event-stream)$/)
      }
    }
  },
  {
    id: 'transports/sending-2',
    says: 'MUST answer what it accepts of notifications and responses with 202 and no body',
    from: 'basic/transports § Sending Messages to the Server 4',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const accepted = await client.notify('notifications/initialized')
      t.equal(accepted.status, 202)
      t.equal(accepted.text, '')
      for (const message of [{ jsonrpc: '2.0', id: 4242, result: {} }, { jsonrpc: '2.0', id: 4243, error: { code: -1, message: 'no' } }]) {
        const answer = await client.post(message)
        t.ok(answer.status === 202 ? answer.text === '' : answer.status === 400, `a response nobody waits for: ${answer.status} ${answer.text}`)
      }
      await alive(t, client)
    }
  },
  {
    id: 'transports/sending-3',
    says: 'the body MUST be a single message: a batch is refused as a whole',
    from: 'basic/transports § Sending Messages to the Server 3; changelog 1',
    over: ['http', 'stdio'],
    since: '2025-06-18',
    async check (t, it) {
      const client = await it.connect()
      const ask = (id: number) => client.compose('tools/call', { name: 'echo', arguments: { text: 'in a batch' } }, { id })
      const heard = await client.raw(JSON.stringify([ask(1), ask(2)]))
      const messages = heard.messages.filter(isResponse)
      t.match(messages, [{ error: { code: -32600 } }])
      t.equal(messages.length, 1)
      if (heard.status !== undefined) t.equal(heard.status, 400)
      await sleep(30)
      t.same(it.server.echoed, [])
      await alive(t, client)
    }
  },
  {
    id: 'transports/sending-4',
    says: 'SHOULD end the stream after the response, and not before',
    from: 'basic/transports § Sending Messages to the Server 6',
    over: http,
    since,
    async check (t, it) {
      const { answer, result } = await streaming(await it.http(), 'p', 3).reply
      t.ok(answer?.streams && result, 'a stream with the response')
      t.ok(await answer?.over(500), 'has ended')
      t.notOk(answer?.cut, 'cleanly')
      t.equal(told(answer as Answer).findIndex(isResponse), 3, 'the response is last')
    }
  },
  {
    id: 'transports/sending-5',
    says: 'what precedes the response SHOULD relate to its request',
    from: 'basic/transports § Sending Messages to the Server 6',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const [a, b] = await Promise.all([streaming(client, 'a', 4).reply, streaming(client, 'b', 4).reply])
      t.same(a.notes.map(note => note.params.progressToken), ['a', 'a', 'a', 'a'])
      t.same(b.notes.map(note => note.params.progressToken), ['b', 'b', 'b', 'b'])
    }
  },
  {
    id: 'transports/sending-6',
    says: 'SHOULD NOT take a disconnection for a cancellation',
    from: 'basic/transports § Sending Messages to the Server 6, Disconnection',
    over: http,
    since,
    server: { options: { sse: { after: 20 } } },
    async check (t, it) {
      const client = await it.http()
      const call = client.start('tools/call', { name: 'slow', arguments: { ms: 300 } })
      await sleep(100)
      call.abort()
      t.ok(await until(() => it.server.slow.length === 1))
      t.same(it.server.slow, [{ ms: 300, outcome: 'finished' }])
    }
  },
  {
    id: 'transports/sending-7',
    says: 'SHOULD begin a stream with an event that has an id and empty data',
    from: 'basic/transports § Sending Messages to the Server 6; changelog minor 6',
    over: http,
    since: '2025-11-25',
    async check (t, it) {
      const answer = (await streaming(await it.http(), 'p', 1).reply).answer as Answer
      t.equal(answer.events[0]?.data, '')
      t.ok(answer.events[0]?.id)
    }
  },
  {
    id: 'transports/sending-8',
    says: 'MUST respect the version: no event without a message, which came with 2025-11-25',
    from: 'basic/transports § Sending Messages to the Server 6; basic/lifecycle § Operation (SHOULD in 2025-03-26)',
    over: http,
    since,
    until: '2025-06-18',
    async check (t, it) {
      const answer = (await streaming(await it.http(), 'p', 2).reply).answer as Answer
      t.equal(answer.events.length, 3)
      t.same(answer.events.filter(event => event.data === ''), [])
    }
  }
]

const listening: Audit[] = [
  {
    id: 'transports/listening-1',
    says: 'MUST answer GET with an event stream',
    from: 'basic/transports § Listening for Messages from the Server 3',
    over: http,
    since,
    async check (t, it) {
      const answer = await (await it.http()).get()
      t.equal(answer.status, 200)
      t.equal(answer.type, 'text/event-stream')
      t.notOk(await answer.over(60), 'that stays open')
    }
  },
  {
    id: 'transports/listening-2',
    says: 'MUST answer GET with 405 where it offers no stream',
    from: 'basic/transports § Listening for Messages from the Server 3',
    over: http,
    since,
    server: { options: { sessions: false } },
    async check (t, it) {
      const answer = await (await it.http()).get()
      t.equal(answer.status, 405)
      t.match(answer.headers.allow, /POST/)
    }
  },
  {
    id: 'transports/listening-3',
    says: 'MUST NOT send a response on the stream of a GET',
    from: 'basic/transports § Listening for Messages from the Server 4',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const stream = await client.get()
      await streaming(client, 'p', 2).reply
      await client.request('ping')
      it.server.app.mcp.tools.disable('opt')
      await stream.inbox.first('the change', changed)
      await sleep(50)
      t.same(stream.messages.filter(message => !changed(message)), [], 'nothing but the change')
    }
  },
  {
    id: 'transports/connections-1',
    says: 'MUST send each message on only one of the connected streams',
    from: 'basic/transports § Multiple Connections 2',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const streams = [await client.get(), await client.get()]
      t.same(streams.map(stream => stream.status), [200, 200], 'a client may have several')
      it.server.app.mcp.tools.disable('opt')
      const heard = () => streams.flatMap(stream => stream.messages.filter(changed)).length
      await until(() => heard() > 0)
      await sleep(80)
      t.equal(heard(), 1)
    }
  },
  {
    id: 'transports/connections-2',
    says: 'each session hears of a change on a stream of its own, and of nobody else\'s calls',
    from: 'basic/transports § Multiple Connections, § Session Management',
    over: http,
    since,
    async check (t, it) {
      const a = await it.http()
      const b = await it.http()
      const streams = [await a.get(), await b.get()]
      await a.request('logging/setLevel', { level: 'debug' })
      await b.request('logging/setLevel', { level: 'error' })
      t.equal((await a.call('log', { level: 'info', n: 1 })).notes.length, 1, 'the level of one session')
      t.equal((await b.call('log', { level: 'info', n: 1 })).notes.length, 0, 'is not that of another')
      it.server.app.mcp.tools.disable('opt')
      for (const stream of streams) await stream.inbox.first('the change', changed)
      t.same(streams.map(stream => stream.messages.length), [1, 1])
    }
  }
]

const resuming: Audit[] = [
  {
    id: 'transports/resumability-1',
    says: 'MAY attach event ids, as this server does; they MUST be unique across all streams of a session',
    from: 'basic/transports § Resumability and Redelivery 1',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const stream = await client.get()
      const replies = await Promise.all(['a', 'b', 'c'].map(token => streaming(client, token, 5).reply))
      it.server.app.mcp.tools.disable('opt')
      await stream.inbox.first('the change', changed)
      const ids = [stream, ...replies.map(reply => reply.answer as Answer)].flatMap(one => one.events.map(event => event.id)).filter(Boolean)
      t.ok(ids.length >= 15, `${ids.length} ids`)
      t.equal(new Set(ids).size, ids.length)
    }
  },
  {
    id: 'transports/resumability-2',
    says: 'MAY resume: a GET with Last-Event-ID goes on where that stream broke off, and MUST NOT replay another stream',
    from: 'basic/transports § Resumability and Redelivery 2',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const call = streaming(client, 'a', 6, 30)
      const other = streaming(client, 'b', 6, 30)
      await call.inbox.first('progress', isNote('notifications/progress'))
      const broken = await call.answer as Answer
      const last = broken.events.findLast(event => event.id !== undefined)
      call.abort()
      const seen = broken.messages.length
      await other.reply
      const resumed = await client.get({ 'Last-Event-ID': last?.id })
      t.ok(last?.id, 'there are event ids')
      await resumed.inbox.first('the response', isResponse)
      t.same(resumed.messages.map(m => m.params?.progressToken ?? m.id), [...Array(6 - seen).fill('a'), call.id], 'the rest of that stream, once')
      t.same(resumed.messages.slice(0, -1).map(m => m.params.progress), [1, 2, 3, 4, 5, 6].slice(seen), 'in order')
    }
  },
  {
    id: 'transports/resumability-3',
    says: 'an event id of another session gives nothing of it away',
    from: 'basic/transports § Resumability and Redelivery 2',
    over: http,
    since,
    async check (t, it) {
      const a = await it.http()
      const b = await it.http()
      const { answer } = await streaming(a, 'secret', 4).reply
      const id = answer?.events.find(event => event.id !== undefined)?.id
      t.ok(id, 'there are event ids')
      const foreign = await b.get({ 'Last-Event-ID': id })
      await sleep(80)
      t.notMatch(foreign.text, /secret/)
      t.same(foreign.messages.filter(message => message.error === undefined), [])
    }
  },
  {
    id: 'transports/resumability-4',
    says: 'the answer to a call whose connection broke waits for whoever resumes its stream',
    from: 'basic/transports § Sending Messages to the Server 6, § Resumability and Redelivery 2',
    over: http,
    since: '2025-11-25',
    server: { options: { sse: { after: 20 } } },
    async check (t, it) {
      const client = await it.http()
      const call = client.start('tools/call', { name: 'slow', arguments: { ms: 200 } })
      const broken = await call.answer as Answer
      t.ok(broken.streams, 'a call that takes longer gets a stream')
      await until(() => broken.events.length > 0)
      call.abort()
      await until(() => it.server.slow.length === 1)
      const resumed = await client.get({ 'Last-Event-ID': broken.events[0]?.id })
      const response = await resumed.inbox.first('the response', isResponse)
      t.equal(response.id, call.id)
      t.equal(response.result.content[0].text, 'done')
    }
  },
  {
    id: 'transports/resumability-5',
    says: 'the stream of a GET can be resumed like that of a POST: what was missed comes once',
    from: 'basic/transports § Resumability and Redelivery 2',
    over: http,
    since,
    async check (t, it) {
      const client = await it.http()
      const { tools } = it.server.app.mcp
      const broken = await client.get()
      tools.disable('opt')
      await broken.inbox.first('the change', changed)
      broken.close()
      await until(() => it.server.app.mcp.stats().streams === 0)
      tools.enable('opt')
      await sleep(30)
      const resumed = await client.get({ 'Last-Event-ID': broken.events.at(-1)?.id })
      await resumed.inbox.first('the change that was missed', changed)
      await sleep(50)
      t.equal(resumed.messages.length, 1, 'and not the one that was seen')
    }
  }
]

export const streamable: Audit[] = [...sending, ...listening, ...resuming]
