// What all five revisions say alike: JSON-RPC, stdio, pagination, progress. The page is cited as later revisions name it.
import { isNote, isResponse, type Peer } from '../support/stdio.js'
import { alive, both, refused, said, type Audit, type Subject } from '../support/audit.js'

const isProgress = isNote('notifications/progress')
const ids = ['a-ü', '', '0', 0, -1, Number.MAX_SAFE_INTEGER]

/** A well-formed tools/list of that client, to be spoilt. */
const list = (client: Peer, spoil: Record<string, unknown> = {}) => JSON.stringify({ ...client.compose('tools/list', undefined, { id: 'spoilt' }), ...spoil })

const messages: Audit[] = [
  {
    id: 'base/requests-1',
    says: 'MUST take a string or an integer as id, and MUST answer with the same',
    from: 'basic/index § Requests, § Responses (2024-11-05: basic/messages)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const id of ids) t.equal((await client.request('tools/list', undefined, { id })).id, id, JSON.stringify(id))
    }
  },
  {
    id: 'base/requests-2',
    says: 'the id MUST NOT be null, and MUST be a string or an integer',
    from: 'basic/index § Requests (2024-11-05: basic/messages)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const id of [null, 1.5, true, {}, [1]]) refused(t, await client.raw(list(client, { id })), -32600, JSON.stringify(id))
      await alive(t, client)
    }
  },
  {
    id: 'base/requests-3',
    says: 'MUST follow JSON-RPC 2.0: what is no request is refused as an invalid one',
    from: 'basic/index § Messages; JSON-RPC 2.0 § 4, § 5.1',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const spoil of [{ jsonrpc: '1.0' }, { jsonrpc: undefined }, { method: 7 }, { method: undefined }]) {
        refused(t, await client.raw(list(client, spoil)), -32600, JSON.stringify(spoil))
      }
      for (const text of ['{}', '42', '"x"', 'null']) refused(t, await client.raw(text), -32600, text)
      await alive(t, client)
    }
  },
  {
    id: 'base/requests-4',
    says: 'params is an object: an array or a scalar is refused, and the request is always answered',
    from: 'basic/index § Requests; JSON-RPC 2.0 § 4.2',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const params of [[], 'x', 7]) refused(t, await client.raw(list(client, { params })), [-32602, -32600], JSON.stringify(params), [200, 400])
      // In 2026-07-28 the params have the version, without which a line on stdio is one of an older revision.
      if (it.over === 'http' || it.revision < '2026-07-28') t.equal((await client.raw(list(client, { params: null }))).messages.length, 1, 'null is answered')
      await alive(t, client)
    }
  },
  {
    id: 'base/errors-2',
    says: 'MUST follow JSON-RPC 2.0: what is no JSON is a parse error, and does not end the connection',
    from: 'basic/index § Messages; JSON-RPC 2.0 § 5.1',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      refused(t, await client.raw('{"jsonrpc": "2.0",'), -32700, 'half an object')
      await alive(t, client)
    }
  },
  {
    id: 'base/notifications-1',
    says: 'MUST NOT answer a notification, known or not',
    from: 'basic/index § Notifications (2024-11-05: basic/messages)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const method of ['notifications/vendor/thing', 'notifications/cancelled', 'vendor/thing']) {
        const heard = await client.raw(JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: 'nothing' } }))
        t.same(heard.messages.filter(m => isResponse(m) && (m.result !== undefined || (m.id ?? null) !== null)), [], method)
        const statuses = it.revision === '2026-07-28' ? /^(202|4..)$/ : /^(20[024]|400)$/
        if (heard.status !== undefined) t.match(heard.status, statuses, `${method}: HTTP ${heard.status}`)
        else t.same(heard.messages.filter(isResponse), [], method)
      }
      await alive(t, client)
    }
  },
  {
    id: 'base/encoding-1',
    says: 'messages MUST be UTF-8',
    from: 'basic/transports (first paragraph)',
    over: both,
    since: '2025-03-26',
    async check (t, it) {
      const text = 'größe 漢字 🙂 \u2028 \u0000 \ud83d\ude80'
      t.equal(said(await (await it.connect()).call('echo', { text })), text)
    }
  }
]

const pipes: Audit[] = [
  {
    id: 'stdio/messages-1',
    says: 'MUST NOT have newlines inside a message',
    from: 'basic/transports § stdio',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      const before = client.lines.length
      const text = 'a\nb\r\nc\u2028d\u2029e\rf'
      t.equal(said(await client.call('echo', { text })), text)
      t.equal(client.lines.length - before, 1, 'one line')
      t.equal(client.rest.length, 0, 'and it ends with a newline')
    }
  },
  {
    id: 'stdio/messages-2',
    says: 'MUST NOT write anything to its output that is no message',
    from: 'basic/transports § stdio',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      await client.call('boom')
      await client.raw('no message')
      const { lines } = client
      client.input.end()
      await client.done
      t.ok(it.server.log.length > 0, 'the log was written to')
      t.same(lines.filter(line => JSON.parse(line).jsonrpc !== '2.0'), [])
      t.equal(client.rest.length, 0, 'nothing after the last message')
    }
  },
  {
    id: 'stdio/messages-3',
    says: 'messages are delimited by newlines, however the bytes come in',
    from: 'basic/transports § stdio',
    over: ['stdio'],
    async check (t, it) {
      const client = await it.stdio()
      const ask = (id: string, text: string) => JSON.stringify(client.compose('tools/call', { name: 'echo', arguments: { text } }, { id })) + '\n'
      const answer = async (id: string) => said({ result: (await client.all.first(id, m => isResponse(m) && m.id === id)).result } as any)
      client.input.write(ask('one', '1') + ask('two', '2'))
      t.same([await answer('one'), await answer('two')], ['1', '2'], 'two in one chunk')
      for (const byte of Buffer.from(ask('three', 'ü🙂'))) client.input.write(Buffer.from([byte]))
      t.equal(await answer('three'), 'ü🙂', 'one in many chunks')
    }
  }
]

const cancel = (it: Subject, client: Peer, params: unknown) =>
  // In 2026-07-28 a notification over HTTP cancels nothing, but it must not hurt either.
  client.notify('notifications/cancelled', params, it.revision === '2026-07-28' ? { meta: {} } : {})

const cancellation: Audit[] = [
  {
    id: 'cancellation/errors-1',
    says: 'SHOULD ignore a cancellation of what is unknown or done, and one that is malformed',
    from: 'basic/utilities/cancellation § Error Handling (2026-07-28: basic/patterns/cancellation)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { id } = await client.call('echo', { text: 'x' })
      for (const params of [{ requestId: 999 }, { requestId: id }, { requestId: {} }, {}, undefined]) {
        const answer = await cancel(it, client, params)
        const statuses = it.revision === '2026-07-28' ? /^(202|4..)$/ : /^(20[024]|400)$/
        if (answer !== undefined) t.match(answer.status, statuses, JSON.stringify(params))
      }
      await alive(t, client)
    }
  }
]

const progress: Audit[] = [
  {
    id: 'progress/flow-1',
    says: 'progress MUST carry the very token of an active request, and comes before its answer',
    from: 'basic/utilities/progress § Behavior Requirements (2026-07-28: basic/patterns/progress)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      for (const progressToken of ['abc', '', 0, 7]) {
        const { notes, result } = await client.call('progress', { n: 3, delayMs: 5 }, { meta: { progressToken } })
        t.same(notes.filter(isProgress).map(m => m.params.progressToken), [progressToken, progressToken, progressToken])
        t.ok(result, 'then the answer')
      }
    }
  },
  {
    id: 'progress/flow-2',
    says: 'the value MUST grow with each notification',
    from: 'basic/utilities/progress § Progress Flow (2026-07-28: basic/patterns/progress)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { notes } = await client.call('uneven', undefined, { meta: { progressToken: 'up' } })
      t.same(notes.filter(isProgress).map(m => m.params.progress), [1, 2, 3])
    }
  },
  {
    id: 'progress/flow-3',
    says: 'progress has the total and, since 2025-03-26, a message',
    from: 'basic/utilities/progress § Progress Flow; schema ProgressNotification',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { notes } = await client.call('progress', { n: 1, total: 5 }, { meta: { progressToken: 't' } })
      const message = it.revision >= '2025-03-26' ? { message: 'step 1' } : {}
      t.same(notes.filter(isProgress).map(m => m.params), [{ progressToken: 't', progress: 1, total: 5, ...message }])
    }
  },
  {
    id: 'progress/behavior-1',
    says: 'progress MUST only be told of requests that brought a token',
    from: 'basic/utilities/progress § Behavior Requirements (2026-07-28: basic/patterns/progress)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const { notes, result } = await client.call('progress', { n: 3 })
      t.ok(result)
      t.same(notes, [])
    }
  },
  {
    id: 'progress/behavior-2',
    says: 'progress MUST stop after completion',
    from: 'basic/utilities/progress § Implementation Notes (2026-07-28: basic/patterns/progress)',
    over: both,
    async check (t, it) {
      const client = await it.connect()
      const streams = it.over === 'http' && it.revision === '2026-07-28' ? client.listen({ toolsListChanged: true }).inbox : await client.events()
      const call = client.start('tools/call', { name: 'uneven' }, { meta: { progressToken: 'late' } })
      t.ok((await call.reply).notes.some(isProgress), 'there was progress before')
      const rest = [...await streams.during(150), ...call.inbox.messages.slice(call.inbox.messages.findIndex(isResponse))]
      t.same(rest.filter(isProgress), [])
    }
  }
]

const pagination: Audit[] = [
  {
    id: 'pagination/format-1',
    says: 'a page has nextCursor if more follows, and the last page has none',
    from: 'server/utilities/pagination § Response Format, § Implementation Guidelines',
    over: both,
    server: { options: { pageSize: 3 } },
    async check (t, it) {
      const client = await it.connect()
      const names: string[] = []
      let cursor: string | undefined
      do {
        const { result } = await client.request('tools/list', cursor === undefined ? undefined : { cursor })
        t.ok(result.tools.length > 0 && result.tools.length <= 3, `${result.tools.length} on the page`)
        names.push(...result.tools.map((tool: any) => tool.name))
        if ('nextCursor' in result) t.type(result.nextCursor, 'string')
        cursor = result.nextCursor
      } while (cursor !== undefined && names.length < 100)
      t.equal(new Set(names).size, names.length, 'each tool once')
      for (const name of ['echo', 'slow', 'region_query']) t.ok(names.includes(name), name)
    }
  },
  {
    id: 'pagination/guidelines-1',
    says: 'SHOULD give cursors that are stable',
    from: 'server/utilities/pagination § Implementation Guidelines',
    over: both,
    server: { options: { pageSize: 3 } },
    async check (t, it) {
      const client = await it.connect()
      const page = async (cursor?: string) => (await client.request('tools/list', cursor === undefined ? undefined : { cursor })).result
      const first = await page()
      const second = await page(first.nextCursor)
      t.equal(second.tools.length, 3)
      t.not(second.tools[0].name, first.tools[0].name, 'goes on')
      t.same(await page(first.nextCursor), second, 'the same page again')
    }
  },
  {
    id: 'pagination/errors-1',
    says: 'SHOULD refuse an invalid cursor with -32602',
    from: 'server/utilities/pagination § Error Handling',
    over: both,
    server: { options: { pageSize: 3 } },
    async check (t, it) {
      const client = await it.connect()
      for (const cursor of ['bogus', '', 7, {}]) {
        t.match((await client.request('tools/list', { cursor })).error, { code: -32602, message: String }, JSON.stringify(cursor))
      }
    }
  }
]

export const features: Audit[] = [...messages, ...pipes, ...cancellation, ...progress, ...pagination]
