import t from 'tap'
import { both, run, type Audit } from '../support/audit.js'
import { features } from './features.js'
import { handshake } from './handshake.js'
import { sessions } from './sessions.js'
import { streamable } from './streamable.js'
import { tools } from './tools.js'

const own: Audit[] = [
  {
    id: 'lifecycle/operation-3',
    says: 'MUST only use what was negotiated: no tasks, which were not declared',
    from: 'basic/lifecycle § Operation; basic/utilities/tasks § Capabilities',
    over: both,
    async check (t, it) {
      const client = await it.connect({ handshake: false })
      t.notOk('tasks' in (await client.initialize()).result.capabilities)
      await client.initialized()
      for (const method of ['tasks/get', 'tasks/list', 'tasks/result', 'tasks/cancel']) {
        t.equal((await client.request(method, { taskId: 'x' })).error?.code, -32601, method)
      }
      const { tools } = (await client.request('tools/list')).result
      t.same(tools.filter((tool: any) => ![undefined, 'forbidden'].includes(tool.execution?.taskSupport)), [])
    }
  },
  {
    id: 'lifecycle/initialization-6',
    says: 'MUST NOT speak 2026-07-28 after initialize: a handshake selects a revision with a handshake',
    from: '2026-07-28 basic/versioning § Backward Compatibility with Initialization-Based Versions',
    over: both,
    async check (t, it) {
      const { result } = await (await it.connect({ handshake: false })).initialize({ protocolVersion: '2026-07-28' })
      t.equal(result.protocolVersion, '2025-11-25')
    }
  }
]

await run(t, '2025-11-25', [...handshake, ...features, ...tools, ...streamable, ...sessions, ...own])
