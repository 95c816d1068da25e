import t from 'tap'
import { dispatch } from '../../lib/dispatch.js'
import { discover } from '../../lib/features/discover.js'
import { endpointOf, exchangeOf, servedOf } from '../support/doubles.js'

t.test('server/discover says what is spoken, what can be done, and how long that holds', async t => {
  const feature = discover({
    serverInfo: { name: 'unit', version: '1' },
    instructions: undefined,
    capabilities: hears => ({ tools: { listChanged: hears } }),
    versions: ['2026-07-28', '2025-11-25'],
    cache: { ttlMs: 5, cacheScope: 'private' }
  })
  const { exchange, channel } = exchangeOf(endpointOf().endpoint, 'server/discover', { served: servedOf('2026-07-28', feature.methods) })
  dispatch(exchange)
  t.strictSame(channel.answer.result, {
    resultType: 'complete',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'unit', version: '1' } },
    supportedVersions: ['2026-07-28', '2025-11-25'],
    capabilities: { tools: { listChanged: true } },
    ttlMs: 5,
    cacheScope: 'private'
  })
})
