import t from 'tap'
import { settle } from '../../lib/options.js'
import type { McpOptions } from '../../types/index.js'
import { thrown } from '../support/thrown.js'

const settled = (options: McpOptions) => settle(options, 1_048_576)

t.test('what processes share is Redis, or a store and a broker', async t => {
  const nothing = () => {}
  // A client of ioredis has a command of that name, too.
  const client = { status: 'ready', client: nothing, call: nothing, duplicate: nothing, on: nothing, off: nothing } as never
  const store = Object.fromEntries(['get', 'set', 'swap', 'delete', 'append', 'read'].map(name => [name, nothing])) as never
  const broker = Object.fromEntries(['publish', 'subscribe', 'close'].map(name => [name, nothing])) as never
  t.strictSame(settled({ redis: client }).shared, { client, prefix: undefined, timeout: 2_000 })
  t.strictSame(settled({ redis: { client, prefix: 'p:', timeout: 100 } }).shared, { client, prefix: 'p:', timeout: 100 })
  t.strictSame(settled({ store, broker }).shared, { store, broker })
  const wrong: [McpOptions, RegExp][] = [
    [{ redis: {} as never }, /option \/redis must be a client.*got an object without the methods call, duplicate, on, off$/], [{ redis: { host: 'h', password: 'p' } as never }, /got an object without the methods/], [{ redis: null as never }, /got null$/], [{ redis: { client: {} as never } }, /option \/redis\/client must be a client or a cluster of ioredis, got an object without/], [{ redis: { client: 5 as never } }, /\/redis\/client .*got number$/], [{ redis: { call: nothing } as never }, /ioredis.*without the methods duplicate, on, off$/], [{ redis: { client, prefix: '{x}' } }, /prefix/],
    ...[0, 0.5, NaN, Infinity, '5', 2 ** 31].map((timeout): [McpOptions, RegExp] => [{ redis: { client, timeout: timeout as never } }, /option \/redis\/timeout must be a number of ms from 1 to 2147483647, got (number|string)/]), [{ redis: client, store, broker }, /store/], [{ redis: 'redis://x' as never }, /a client or a cluster of ioredis, or \{ client, prefix, timeout \}, got string/], [{ redis: { client, pre: 'x' } as never }, /\/redis\/pre is not a known property; known: client, prefix, timeout/], [{ redis: { client, prefix: '' } }, /prefix/], [{ redis: { client, prefix: 5 as never } }, /prefix.*got number 5/], [{ store }, /options \/store and \/broker go together, got \/store alone$/], [{ broker }, /got \/broker alone$/], [{ store: 'x' as never, broker }, /option \/store must be a Store, got string$/], [{ store, broker: { publish: nothing, close: nothing } as never }, /option \/broker must be a Broker, got an object without the method subscribe$/], [{ store: {} as never, broker }, /append/]
  ]
  for (const [options, message] of wrong) t.match(thrown(() => settled(options)), { code: 'MCP_ERR_OPTION', message })
})
