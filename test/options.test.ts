import { readFileSync } from 'node:fs'
import t from 'tap'
import { settle } from '../lib/options.js'
import type { McpOptions } from '../types/index.js'
import { thrown } from './support/thrown.js'

const MIB = 1_048_576
const settled = (options: McpOptions = {}) => settle(options, MIB)
const versions = (options?: McpOptions) => settled(options).revisions.map(one => one.version)

t.test('with no options everything has a value', async t => {
  const { revisions, serverInfo, ...others } = settled()
  const { name, version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  t.strictSame(serverInfo, { name, version }, 'the server is called like the package')
  t.strictSame(others, {
    instructions: undefined,
    path: '/mcp',
    tools: [],
    resources: [],
    prompts: [],
    sessions: { idle: 1_800_000, max: 10_000, maxPerCaller: 1_000 },
    httpSse: true,
    sse: { keepAlive: 15_000, after: 1_000, maxBuffered: MIB, replay: { events: 10_000, size: 2 * MIB, ttl: 300_000 } },
    auth: undefined,
    hosts: [],
    origins: [],
    pageSize: 1_000,
    cache: { ttlMs: 60_000, cacheScope: 'public' },
    limits: { body: MIB, batch: 100, streams: 10_000, calls: 1_000, questions: 100, toolTimeout: 300_000, resource: 16 * MIB },
    requestState: { keys: [], ttl: 600_000 },
    closeTimeout: 1_000,
    shared: undefined,
    validator: undefined
  })
})

t.test('an option given as undefined has its default', async t => {
  const names = ['serverInfo', 'instructions', 'path', 'revisions', 'tools', 'sessions', 'httpSse', 'sse', 'resources', 'prompts', 'requestState', 'auth', 'hosts', 'origins', 'pageSize', 'cache', 'limits', 'closeTimeout', 'redis', 'store', 'broker', 'validator']
  t.strictSame(settled(Object.fromEntries(names.map(name => [name, undefined]))), settled())
})

t.test('a part of a group leaves the rest of it as it is', async t => {
  const rows: [McpOptions, object][] = [
    [{ sessions: { max: 5, maxPerCaller: 2 } }, { sessions: { idle: 1_800_000, max: 5, maxPerCaller: 2 } }],
    [{ sessions: { idle: 1 } }, { sessions: { idle: 1, max: 10_000, maxPerCaller: 1_000 } }],
    [{ sse: { after: 0 } }, { sse: { keepAlive: 15_000, after: 0, maxBuffered: MIB, replay: { events: 10_000, size: 2 * MIB, ttl: 300_000 } } }],
    [{ cache: { ttlMs: 0 } }, { cache: { ttlMs: 0, cacheScope: 'public' } }],
    [{ cache: { cacheScope: 'private' } }, { cache: { ttlMs: 60_000, cacheScope: 'private' } }],
    [{ limits: { toolTimeout: 0, body: 10 } }, { limits: { body: 10, batch: 100, toolTimeout: 0 } }]
  ]
  for (const [options, expected] of rows) t.match(settled(options), expected, JSON.stringify(options))
})

t.test('what is given is what is used', async t => {
  const validator = { compile: () => () => true as const }
  const options: McpOptions = { instructions: 'how', path: '/a/b', hosts: '*', origins: ['https://a.example'], pageSize: 1, closeTimeout: 0, validator, serverInfo: { name: 'n', version: 'v', title: 't', websiteUrl: 'https://a.example' } }
  const { serverInfo, ...others } = options
  t.match(settled(options), others)
  t.equal(settled(options).serverInfo, serverInfo)
  t.equal(settled({ path: '/' }).path, '/')
})

t.test('keys have 32 bytes, as bytes or as base64', async t => {
  const key = Buffer.alloc(32, 7)
  const { keys } = settled({ requestState: { keys: [key.toString('base64'), key, new Uint8Array(key)] } }).requestState
  for (const one of keys) t.ok(key.equals(one))
  t.equal(keys.length, 3)
})

t.test('HTTP+SSE is off without sessions unless it is asked for', async t => {
  const rows: [McpOptions, boolean][] = [
    [{}, true],
    [{ sessions: {} }, true],
    [{ sessions: false }, false],
    [{ sessions: false, httpSse: true }, true],
    [{ httpSse: false }, false]
  ]
  for (const [options, on] of rows) t.equal(settled(options).httpSse, on, JSON.stringify(options))
  t.equal(settled({ sessions: false }).sessions, false)
})

t.test('revisions are served oldest first, whatever their order, and each once', async t => {
  t.strictSame(versions(), ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])
  t.strictSame(versions({ revisions: ['2026-07-28', '2025-03-26', '2026-07-28'] }), ['2025-03-26', '2026-07-28'])
})

t.test('a wrong option is an error with a code, the name of the option and what belongs there', async t => {
  const rows: [unknown, RegExp][] = [
    [{ pth: '/mcp' }, /option \/pth is not a known property; known: .*path/],
    ...['mcp', '/mcp/*', '/:team/mcp', '/mcp?a', '/mcp#a', '/m cp', ''].map((path): [unknown, RegExp] => [{ path }, RegExp(`option /path must begin with / and be the same for all requests.*got string "${path.replace(/[*?]/g, '\\$&')}"`)]),
    [{ path: 5 }, /option \/path must be string, got number 5/],
    [{ sessions: { idel: 3 } }, /option \/sessions\/idel is not a known property; known: idle, max, maxPerCaller$/],
    [{ sessions: true }, /option \/sessions must be false or object, got boolean true$/],
    [{ hosts: 'app.example' }, /option \/hosts must be "\*" or array, got string "app\.example"$/],
    [{ origins: [5] }, /option \/origins\/0 must be string, got number 5$/],
    [{ sessions: { idle: Infinity } }, /option \/sessions\/idle must be number, got number Infinity$/],
    [{ requestState: { keys: [Buffer.alloc(32), Buffer.alloc(31)] } }, /option \/requestState\/keys\/1 must have 32 bytes.*it has 31$/],
    [{ requestState: { keys: [5] } }, /option \/requestState\/keys\/0 .*; got number$/],
    [{ serverInfo: { name: 'a', version: '1', icons: 'x' } }, /option \/serverInfo\/icons must be array/],
    [{ serverInfo: { name: 'a', version: '1', icons: [{}] } }, /option \/serverInfo\/icons\/0\/src is required/],
    [{ serverInfo: { name: 'a', version: '1', descripton: 'x' } }, /option \/serverInfo\/descripton is not a known property; known: .*description/],
    [{ serverInfo: {} }, /option \/serverInfo\/name is required/],
    [{ serverInfo: { name: '', version: '1' } }, /option \/serverInfo\/name/],
    [{ revisions: [] }, /option \/revisions/],
    [{ revisions: ['2025-11-25', '2024-01-01'] }, /option \/revisions\/1 must be one of "2024-11-05".*got string "2024-01-01"/],
    [{ revisions: '2025-11-25' }, /option \/revisions must be array/],
    [{ tools: {} }, /option \/tools must be array/],
    [{ tools: ['echo'] }, /option \/tools\/0 must be object/],
    [{ sessions: true }, /option \/sessions/],
    [{ sessions: { idle: -1 } }, /option .*\/sessions\/idle must be >= 1/],
    [{ sessions: { idle: 0 } }, /option \/sessions\/idle must be >= 1, got number 0$/],
    [{ sessions: { max: 0 } }, /option \/sessions\/max must be >= 1, got number 0; for none there is sessions: false$/],
    [{ requestState: { keys: 'c2VjcmV0' } }, /option \/requestState\/keys must be array, got string; give an array of keys, even of one$/],
    ...[{ sse: { keepAlive: 2 ** 31 } }, { closeTimeout: 2 ** 31 }].map((options): [unknown, RegExp] => [options, /option \/(sse\/keepAlive|closeTimeout) must be <= 2147483647, got number 2147483648$/]),
    [{ sessions: { maxx: 1 } }, /option .*\/sessions\/maxx is not a known property/],
    [{ httpSse: 'yes' }, /option \/httpSse must be boolean/],
    [{ sse: { keepAlive: 0 } }, /option \/sse\/keepAlive must be >= 1/],
    [{ sse: { maxBuffered: 0.5 } }, /option \/sse\/maxBuffered/],
    [{ hosts: 'a.example' }, /option .*\/hosts/],
    [{ origins: [''] }, /option .*\/origins\/0/],
    [{ pageSize: 0 }, /option \/pageSize must be >= 1/],
    [{ pageSize: '10' }, /option \/pageSize must be integer, got string "10"/],
    [{ cache: { cacheScope: 'shared' } }, /option \/cache\/cacheScope must be one of "public", "private"/],
    [{ limits: { body: NaN } }, /option \/limits\/body/],
    [{ limits: { toolTimeout: null } }, /option \/limits\/toolTimeout must be number, got null/],
    [{ closeTimeout: '1s' }, /option \/closeTimeout must be number/],
    [{ requestState: { keys: [] } }, /option \/requestState\/keys/],
    [{ requestState: { keys: ['c2hvcnQ='] } }, /option \/requestState\/keys\/0 must have 32 bytes/],
    [{ requestState: { ttl: 0 } }, /option \/requestState\/ttl/],
    [{ validator: {} }, /option \/validator\/compile must be a function, got nothing/],
    [{ validator: { compile: 5 } }, /option \/validator\/compile must be a function, got number 5/],
    [null, /option \/ must be object/]
  ]
  for (const [options, message] of rows) t.match(thrown(() => settle(options as McpOptions, MIB)), { code: 'MCP_ERR_OPTION', message }, JSON.stringify(options))
})

t.test('what Fastify puts among the options of a plugin is no mistake', async t => {
  for (const options of [{ prefix: '/v1' }, { logLevel: 'warn' }, { logSerializers: {} }]) t.doesNotThrow(() => settle(options as McpOptions, MIB), JSON.stringify(options))
})

t.test('the options of the caller are left alone', async t => {
  const options: McpOptions = Object.freeze({ sessions: Object.freeze({}), limits: Object.freeze({}), sse: Object.freeze({}) })
  t.doesNotThrow(() => settled(options))
})

t.test('no error shows what is secret, wherever it stands', async t => {
  const one = 'c2VjcmV0'
  const within = (name: string, of: (value: unknown) => object) => [one, 5_252, [one], { a: one }, null, [[one]], { keys: one }].map((value): [string, object] => [name, of(value)])
  const introspection = { endpoint: 'https://i.example/x', clientId: 'a', issuer: 'https://i.example', audience: 'x' }
  const jwt = { issuer: 'https://i.example', audience: 'x' }
  const rows = [
    ...within('auth', auth => ({ auth })), ...within('auth.jwt', jwt => ({ auth: { jwt } })), ...within('jwks', jwks => ({ auth: { jwt: { ...jwt, jwks } } })), ...within('keys of jwks', keys => ({ auth: { jwt: { ...jwt, jwks: { keys } } } })),
    ...within('a member of a key', d => ({ auth: { jwt: { ...jwt, jwks: { keys: [{ kty: 'RSA', d }, { kty: 'oct', k: d }] } } } })), ...within('introspection', introspection => ({ auth: { introspection } })),
    ...within('clientSecret', clientSecret => ({ auth: { introspection: { ...introspection, clientSecret, timeout: 0 } } })), ...within('stdio', stdio => ({ auth: { authenticate () {}, stdio } })), ...within('subject of stdio', subject => ({ auth: { authenticate () {}, stdio: { subject: [subject], scopes: [] } } })),
    ...within('requestState', requestState => ({ requestState })), ...within('keys', keys => ({ requestState: { keys, ttl: 0 } })), ...within('key', key => ({ requestState: { keys: [key] } })),
    ...within('redis', redis => ({ redis })), ...within('client', client => ({ redis: { client } })), ...within('store', store => ({ store, broker: {} })), ...within('broker', broker => ({ broker })),
    ...['jwksUri', 'endpoint', 'authorizationServers', 'resource'].flatMap(name => [`https://u:${one}@i.example/x`, `http://u:${one}@i.example`, `ftp://i.example/?key=${one}`, `//u@x:${one}@h`].map((url): [string, object] => [name, {
      auth: name === 'endpoint' ? { introspection: { ...introspection, clientSecret: one, endpoint: url } } : { jwt: { ...jwt, jwksUri: 'https://i.example/jwks', ...(name === 'jwksUri' && { jwksUri: url }) }, ...(name === 'resource' && { resource: url }), ...(name === 'authorizationServers' && { authorizationServers: [url] }) }
    }]))
  ]
  for (const [name, options] of rows) {
    const error = thrown(() => settled(options as McpOptions))
    t.equal(error.code, 'MCP_ERR_OPTION', `${name} ${JSON.stringify(options)}`)
    t.notMatch(error.message, /c2VjcmV0|5252/, name)
  }
})

t.test('a time that the clock is compared with may be as long as one likes', async t => {
  const most = Number.MAX_VALUE
  t.match(settled({ sessions: { idle: most }, sse: { after: most, replay: { ttl: most } }, limits: { toolTimeout: most }, requestState: { ttl: most } }), { sessions: { idle: most }, limits: { toolTimeout: most } })
  t.match(settled({ sse: { keepAlive: 2 ** 31 - 1 }, closeTimeout: 2 ** 31 - 1 }), { sse: { keepAlive: 2 ** 31 - 1 }, closeTimeout: 2 ** 31 - 1 })
})
