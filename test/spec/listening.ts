// 2026-07-28: what goes on while a request is open: cancellation, log messages, subscriptions.
import type { Answer } from '../support/http.js'
import { isNote, isResponse, metaKey, sleep, subscriptionId, type Call } from '../support/stdio.js'
import { alive, both, said, until, type Audit } from '../support/audit.js'

const http: Audit['over'] = ['http']
const streamableHttp = 'basic/transports/streamable-http'
const acknowledged = isNote('notifications/subscriptions/acknowledged')
const changed = isNote('notifications/tools/list_changed')
const isLog = isNote('notifications/message')

const ack = (call: Call) => call.inbox.first('the acknowledgement', acknowledged)
const slow = (ms: number) => ({ name: 'slow', arguments: { ms } })

const cancelling: Audit[] = [
  {
    id: 'cancellation/transport-1',
    says: 'MUST take the end of the response stream (HTTP), or a notification (stdio), for a cancellation, and SHOULD stop work',
    from: `basic/patterns/cancellation § Transport-Specific Cancellation; ${streamableHttp} § Cancellation`,
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const call = client.start('tools/call', slow(2000))
      await until(() => it.server.app.mcp.stats().calls === 1)
      call.abort()
      t.ok(await until(() => it.server.slow.length === 1, 500))
      t.same(it.server.slow, [{ ms: 2000, outcome: 'aborted' }])
      t.ok(await until(() => it.server.app.mcp.stats().calls === 0, 500))
    }
  },
  {
    id: 'cancellation/transport-2',
    says: 'the end of a stream that had begun is a cancellation too',
    from: `${streamableHttp} § Cancellation`,
    over: http,
    async check (t, it) {
      const client = await it.http()
      const call = client.start('tools/call', { name: 'progress', arguments: { n: 200, delayMs: 10 } }, { meta: { progressToken: 'p' } })
      await call.inbox.first('progress', isNote('notifications/progress'))
      call.abort()
      t.ok(await until(() => it.server.app.mcp.stats().streams === 0, 500), 'the stream is gone')
      await alive(t, client)
    }
  },
  {
    id: 'cancellation/behavior-1',
    says: 'MUST NOT send further messages for a cancelled request, nor a cancellation of its own',
    from: 'basic/transports/stdio § Cancellation; basic/patterns/cancellation (first paragraphs)',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      const call = client.start('tools/call', { name: 'progress', arguments: { n: 50, delayMs: 10 } }, { meta: { progressToken: 'p' } })
      await call.inbox.first('progress', isNote('notifications/progress'))
      call.abort()
      await sleep(40)
      t.same(await client.all.during(200), [])
    }
  },
  {
    id: 'cancellation/behavior-2',
    says: 'a client that waits is not one that left: its call runs to the end',
    from: `${streamableHttp} § Cancellation`,
    over: http,
    async check (t, it) {
      t.equal(said(await (await it.http()).call('slow', { ms: 250 })), 'done')
      t.same(it.server.slow, [{ ms: 250, outcome: 'finished' }])
    }
  }
]

const logging: Audit[] = [
  {
    id: 'logging/level-1',
    says: 'MUST NOT send log messages for a request that did not ask for them, whatever was asked before',
    from: 'server/utilities/logging § Per-request log level',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const count = async (meta?: Record<string, unknown>) => (await client.call('log', { level: 'emergency', n: 2 }, { meta })).notes.filter(isLog).length
      t.equal(await count(), 0)
      t.equal(await count({ [`${metaKey}logLevel`]: 'debug' }), 2)
      t.equal(await count(), 0)
    }
  },
  {
    id: 'logging/level-2',
    says: 'sends messages at or above the level of the request, before its response',
    from: 'server/utilities/logging § Per-request log level, § Log Levels',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const count = async (level: string) => (await client.call('log', { level, n: 2 }, { meta: { [`${metaKey}logLevel`]: 'warning' } })).notes.filter(isLog).length
      t.same([await count('debug'), await count('notice'), await count('warning'), await count('alert')], [0, 0, 2, 2])
    }
  },
  {
    id: 'logging/level-3',
    says: 'MUST NOT send log messages or progress on a listen stream',
    from: `server/utilities/logging § Per-request log level; ${streamableHttp} § Receiving Messages`,
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const stream = client.listen({ toolsListChanged: true })
      await ack(stream)
      const { notes } = await client.call('log', { level: 'error', n: 2 }, { meta: { [`${metaKey}logLevel`]: 'debug' } })
      await client.call('progress', { n: 2 }, { meta: { progressToken: 'p' } })
      t.equal(notes.filter(isLog).length, 2)
      t.same(notes.filter(note => note.params?._meta?.[subscriptionId] !== undefined), [])
      t.equal(stream.inbox.messages.length, 1)
    }
  },
  {
    id: 'logging/errors-1',
    says: 'SHOULD refuse an unknown level with -32602',
    from: 'server/utilities/logging § Error Handling',
    over: both,
    async check (t, it) {
      const { error } = await (await it.connect()).call('echo', { text: 'x' }, { meta: { [`${metaKey}logLevel`]: 'loud' } })
      t.equal(error?.code, -32602)
      t.same(it.server.echoed, [])
    }
  }
]

const subscriptions: Audit[] = [
  {
    id: 'subscriptions/acknowledgment-1',
    says: 'MUST acknowledge first, with the id of the request as the id of the subscription',
    from: 'basic/patterns/subscriptions § Acknowledgment, § Receiving Notifications',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const id of ['sub-1', 7, 0, '7']) {
        const call = client.listen({ toolsListChanged: true }, { id })
        it.server.app.mcp.tools.disable('opt')
        it.server.app.mcp.tools.enable('opt')
        await ack(call)
        t.equal(call.inbox.messages[0]?.method, 'notifications/subscriptions/acknowledged', 'nothing before it')
        t.equal(call.inbox.messages[0]?.params._meta[subscriptionId], id)
      }
    }
  },
  {
    id: 'subscriptions/acknowledgment-2',
    says: 'the acknowledgment has what the server agreed to, without what it does not support',
    from: 'basic/patterns/subscriptions § Acknowledgment',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { capabilities } = (await client.request('server/discover')).result
      const asked = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
      const agreed = (await ack(client.listen(asked))).params.notifications
      t.equal(agreed.toolsListChanged, true)
      if (!capabilities.prompts?.listChanged) t.notOk('promptsListChanged' in agreed)
      if (!capabilities.resources?.listChanged) t.notOk('resourcesListChanged' in agreed)
      t.same((await ack(client.listen({}))).params.notifications, {})
      t.same((await ack(client.listen({ toolsListChanged: false }))).params.notifications.toolsListChanged ?? false, false)
    }
  },
  {
    id: 'subscriptions/acknowledgment-3',
    says: 'over HTTP the acknowledgment comes at once, on an event stream that stays open without a response',
    from: `${streamableHttp} § Receiving Messages; basic/patterns/subscriptions § Opening a Stream`,
    over: http,
    async check (t, it) {
      const call = (await it.http()).listen({ toolsListChanged: true })
      const answer = await call.answer as Answer
      t.match([answer.status, answer.type], [200, 'text/event-stream'])
      await call.inbox.first('the acknowledgement', acknowledged, 300)
      t.notOk(await answer.over(100))
      t.same(call.inbox.messages.filter(isResponse), [])
    }
  },
  {
    id: 'subscriptions/opening-1',
    says: 'MUST NOT send what was not asked for',
    from: 'basic/patterns/subscriptions § Opening a Stream',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const [wants, not, other] = [client.listen({ toolsListChanged: true }), client.listen({}), client.listen({ promptsListChanged: true, toolsListChanged: false })]
      for (const call of [wants, not, other]) await ack(call)
      it.server.app.mcp.tools.disable('opt')
      await wants.inbox.first('the change', changed)
      await sleep(80)
      t.same([not, other].map(call => call.inbox.messages.length), [1, 1])
      if ('all' in client) t.equal((client as any).all.messages.filter(changed).length, 1, 'once on the shared channel')
    }
  },
  {
    id: 'subscriptions/opening-2',
    says: 'a filter is required, and malformed ones are refused with -32602',
    from: 'basic/patterns/subscriptions § Opening a Stream; schema SubscriptionsListenRequest',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const params of [{}, { notifications: 'all' }, { notifications: { toolsListChanged: 'yes' } }, { notifications: { resourceSubscriptions: 'mem://a' } }]) {
        t.equal((await client.request('subscriptions/listen', params)).error?.code, -32602, JSON.stringify(params))
      }
    }
  },
  {
    id: 'subscriptions/receiving-1',
    says: 'every notification MUST carry the id of its subscription; several can be open at once',
    from: 'basic/patterns/subscriptions § Receiving Notifications, § Multiple Concurrent Subscriptions; basic/index § Per-response protocol fields',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const calls = [client.listen({ toolsListChanged: true }, { id: 'one' }), client.listen({ toolsListChanged: true }, { id: 2 })]
      for (const call of calls) await ack(call)
      it.server.app.mcp.tools.disable('opt')
      for (const call of calls) {
        t.equal((await call.inbox.first('the change', changed)).params._meta[subscriptionId], call.id)
        t.equal(call.inbox.messages.length, 2)
      }
    }
  },
  {
    id: 'subscriptions/cancellation-1',
    says: 'ends when the client cancels it: nothing more is sent, nothing is kept',
    from: 'basic/patterns/subscriptions § Cancellation',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const call = client.listen({ toolsListChanged: true })
      await ack(call)
      call.abort()
      if (it.over === 'http') t.ok(await until(() => it.server.app.mcp.stats().streams === 0), 'the stream is gone')
      await sleep(50)
      const before = call.inbox.messages.length
      it.server.app.mcp.tools.disable('opt')
      await sleep(80)
      t.same(call.inbox.messages.slice(before), [])
      await alive(t, client)
    }
  },
  {
    id: 'subscriptions/closure-1',
    says: 'SHOULD end a subscription with its response before it closes the stream',
    from: 'basic/patterns/subscriptions § Graceful Closure',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const call = client.listen({ toolsListChanged: true }, { id: 'last' })
      await ack(call)
      const closed = it.server.app.close()
      const { result, message } = await call.reply
      t.equal(message.id, 'last')
      t.match(result, { resultType: 'complete', _meta: { [subscriptionId]: 'last' } })
      const answer = await call.answer
      if (answer !== undefined) {
        t.ok(await answer.over(1000))
        t.notOk(answer.cut, 'ended, not cut')
      }
      await closed
    }
  },
  {
    id: 'subscriptions/closure-2',
    says: 'MUST send notifications/cancelled for a subscription that it tears down, and for nothing else',
    from: 'basic/patterns/cancellation (second paragraph), § Behavior Requirements 2',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const call = client.listen({ toolsListChanged: true }, { id: 'torn' })
      await ack(call)
      const running = client.start('tools/call', slow(3000))
      await until(() => it.server.app.mcp.stats().calls === 1)
      const everything = 'all' in client ? (client as any).all : call.inbox
      const closed = it.server.app.close()
      const cancelled = await everything.first('the cancellation', isNote('notifications/cancelled'))
      t.match(cancelled.params, { requestId: 'torn', _meta: { 'io.modelcontextprotocol/subscriptionId': 'torn' } })
      await closed
      const all = [...everything.messages, ...running.inbox.messages].filter(isNote('notifications/cancelled'))
      t.same([...new Set(all.map(m => m.params.requestId))], ['torn'])
    }
  }
]

export const listening: Audit[] = [...cancelling, ...logging, ...subscriptions]
