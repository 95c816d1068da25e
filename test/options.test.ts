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
    sse: { keepAlive: 15_000, after: 1_000, maxBuffered: 4 * MIB, replay: { events: 1_000, size: MIB, ttl: 300_000 } },
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
    [{ sessions: { idle: 0 } }, { sessions: { idle: 0, max: 10_000, maxPerCaller: 1_000 } }],
    [{ sse: { after: 0 } }, { sse: { keepAlive: 15_000, after: 0, maxBuffered: 4 * MIB, replay: { events: 1_000, size: MIB, ttl: 300_000 } } }],
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
    ...['mcp', '/mcp/*', '/:team/mcp', '/mcp?a', '/mcp#a', '/m cp', ''].map((path): [unknown, RegExp] => [{ path }, RegExp(`option /path must begin with / and be the same for all requests.*got "${path.replace(/[*?]/g, '\\$&')}"`)]),
    [{ path: 5 }, /option \/path must be string, got number 5/],
    [{ sessions: { idel: 3 } }, /option \/sessions\/idel is not a known property; known: idle, max, maxPerCaller$/],
    [{ sessions: true }, /option \/sessions must be false or object, got boolean true$/],
    [{ hosts: 'app.example' }, /option \/hosts must be "\*" or array, got string "app\.example"$/],
    [{ origins: [5] }, /option \/origins\/0 must be string, got number 5$/],
    [{ sessions: { idle: Infinity } }, /option \/sessions\/idle must be number, got number Infinity$/],
    [{ requestState: { keys: [Buffer.alloc(32), Buffer.alloc(31)] } }, /option \/requestState\/keys\/1 must have 32 bytes.*it has 31$/],
    [{ requestState: { keys: [5] } }, /option \/requestState\/keys\/0 .*it is a value of type number$/],
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
    [{ sessions: { idle: -1 } }, /option .*\/sessions\/idle must be >= 0/],
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
    [{ validator: {} }, /option \/validator\/compile is required/],
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

t.test('who may use the endpoint is said in one way, and safely', async t => {
  const jwt = { issuer: 'https://i.example', audience: 'x', jwksUri: 'https://i.example/jwks' }
  const introspection = { endpoint: 'https://i.example/x', clientId: 'a', clientSecret: 'b', issuer: 'https://i.example', audience: ['x', 'y'] }
  const good: Array<McpOptions['auth']> = [{ jwt }, { introspection }, { authenticate: () => undefined }, { jwt: { issuer: 'i', audience: 'x', jwks: { keys: [{}] } } }, { jwt: { ...jwt, jwksUri: 'http://127.0.0.1:1/jwks' } }, { jwt, resource: 'https://a.example/mcp', stdio: () => ({ subject: 'a', scopes: [] }) }]
  for (const auth of good) t.equal(settled({ auth }).auth, auth)
  t.equal(settled({ auth: { jwt } }).cache.cacheScope, 'private', 'what is for callers is for no shared cache')
  const bad: Array<[unknown, RegExp]> = [
    [{}, /one of jwt, introspection and authenticate, it has 0/], [{ jwt, introspection }, /it has 2/], [{ jwt: { ...jwt, audience: undefined } }, /\/auth\/jwt\/audience is required/], [{ jwt: { ...jwt, issuer: '' } }, /\/auth\/jwt\/issuer/],
    [{ jwt: { ...jwt, algorithms: ['HS256'] } }, /\/auth\/jwt\/algorithms/], [{ jwt: { ...jwt, algorithms: ['none'] } }, /\/auth\/jwt\/algorithms/], [{ jwt: { issuer: 'i', audience: 'x' } }, /one of jwksUri and jwks/], [{ jwt: { ...jwt, jwks: { keys: [{}] } } }, /one of jwksUri and jwks/],
    [{ jwt: { ...jwt, jwksUri: 'http://i.example/jwks' } }, /\/auth\/jwt\/jwksUri must be a URL of https/], [{ introspection: { ...introspection, endpoint: 'x' } }, /\/auth\/introspection\/endpoint must be a URL of https/],
    [{ jwt, resource: '/mcp' }, /\/auth\/resource must be the absolute URL/], [{ jwt, resource: 'https://a.example/#x' }, /without a fragment/], [{ authenticate: 'x' }, /\/auth\/authenticate must be a function/], [{ jwt, implies: 1 }, /\/auth\/implies must be a function/], [{ jwt, realm: 'x' }, /realm is not a known property/],
    [{ jwt: { issuer: 'i', audience: 'x', jwks: { keys: [] } } }, /\/auth\/jwt\/jwks\/keys/], [{ jwt, scopes: ['a b'] }, /\/auth\/scopes\/0/], [{ jwt, authorizationServers: ['foo'] }, /\/auth\/authorizationServers\/0 must be a URL of https/],
    [{ authenticate: () => undefined, dpop: 'require' }, /\/auth\/dpop/], [{ jwt, stdio: 'x' }, /\/auth\/stdio: .*got x/], [{ jwt, stdio: { subject: 'a' } }, /\/auth\/stdio: scopes/]
  ]
  for (const [auth, message] of bad) t.throws(() => settled({ auth } as McpOptions), { code: 'MCP_ERR_OPTION', message }, JSON.stringify(auth))
})

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
    [{ redis: {} as never }, /redis/], [{ redis: { client: {} as never } }, /ioredis/], [{ redis: { call: nothing } as never }, /ioredis/], [{ redis: { client, prefix: '{x}' } }, /prefix/],
    [{ redis: { client, timeout: 0 } }, /timeout/], [{ redis: client, store, broker }, /store/], [{ redis: 'redis://x' as never }, /a client or a cluster of ioredis, or \{ client, prefix, timeout \}, got string/], [{ redis: { client, pre: 'x' } as never }, /\/redis\/pre is not a known property; known: client, prefix, timeout/], [{ redis: { client, prefix: '' } }, /prefix/], [{ redis: { client, prefix: 5 as never } }, /prefix.*got 5/], [{ store }, /broker/], [{ store: {} as never, broker }, /append/]
  ]
  for (const [options, message] of wrong) t.match(thrown(() => settled(options)), { code: 'MCP_ERR_OPTION', message })
})
