import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { hostsOf, originsOf } from '../../lib/allowed.js'
import { guard } from '../../lib/transports/guard.js'
import { FakeReply } from '../support/reply.js'

interface Visit {
  url?: string
  host?: string | undefined
  origin?: string | undefined
  /** What the server is bound to; null where it is bound to no address. */
  bound?: string | null
  port?: number
  hosts?: string[] | '*'
  origins?: string[] | '*'
}

/** Sends a request past the guard and says whether it came through. */
function visit ({ url = '/mcp', host, origin, bound = '127.0.0.1', port = 3000, hosts = [], origins = [] }: Visit) {
  const warned: unknown[][] = []
  const address = bound === null ? '/run/app.sock' : { address: bound, port }
  const socket = { localAddress: bound ?? '127.0.0.1', localPort: port, server: { address: () => address } }
  const request = { raw: { socket }, url, host, headers: { host, origin }, log: { warn: (...what: unknown[]) => warned.push(what) } }
  const reply = new FakeReply()
  let passed = 0
  guard({ hosts: hostsOf(hosts), origins: originsOf(origins) }).call({} as never, request as unknown as FastifyRequest, reply.reply, () => { passed++ })
  return { passed, reply, warned, socket }
}

function rowsPass (t: Test, rows: [string, Visit, boolean][]) {
  for (const [what, one, passes] of rows) {
    const { passed, reply } = visit(one)
    t.equal(passed, passes ? 1 : 0, what)
    t.equal(reply.sent.length, passes ? 0 : 1, `${what}: the reply`)
  }
}

t.test('a server on loopback is asked for by a name of loopback and its own port', async t => {
  rowsPass(t, [
    ['localhost', { host: 'localhost:3000' }, true],
    ['in capitals', { host: 'LOCALHOST:3000' }, true],
    ['127.0.0.1', { host: '127.0.0.1:3000' }, true],
    ['another address of loopback', { host: '127.8.9.10:3000' }, true],
    ['IPv6', { host: '[::1]:3000', bound: '::1' }, true],
    ['IPv4 in IPv6', { host: 'localhost:3000', bound: '::ffff:127.0.0.1' }, true],
    ['no port on port 80', { host: 'localhost', port: 80 }, true],
    ['no port on another', { host: 'localhost' }, false],
    ['another port', { host: 'localhost:3001' }, false],
    ['a name that is rebound', { host: 'evil.example:3000' }, false],
    ['a name that begins alike', { host: 'localhost.evil.example:3000' }, false],
    ['an address that begins alike', { host: '127.0.0.1.evil.example:3000' }, false],
    ['something that is no host', { host: 'localhost:port' }, false],
    ['nothing', { host: '' }, false],
    ['no header', { host: undefined }, false]
  ])
})

t.test('a server elsewhere is asked for by any name until the option says by which', async t => {
  rowsPass(t, [
    ['any name', { bound: '0.0.0.0', host: 'app.example' }, true],
    ['any name over IPv6', { bound: '::', host: 'app.example' }, true],
    ['a name that is listed', { bound: '0.0.0.0', host: 'app.example', hosts: ['app.example'] }, true],
    ['a name that is not', { bound: '0.0.0.0', host: 'evil.example', hosts: ['app.example'] }, false]
  ])
})

t.test('the option hosts lets more names in', async t => {
  rowsPass(t, [
    ['a name', { host: 'app.example:8080', hosts: ['app.example'] }, true],
    ['in other letters', { host: 'App.Example', hosts: ['app.EXAMPLE'] }, true],
    ['with its port', { host: 'app.example:8080', hosts: ['app.example:8080'] }, true],
    ['with another port', { host: 'app.example:8081', hosts: ['app.example:8080'] }, false],
    ['an IPv6 address', { host: '[2001:db8::1]:3000', hosts: ['[2001:db8::1]'] }, true],
    ['with the port of its scheme, which browsers leave out', { host: 'app.example', hosts: ['app.example:443'] }, true],
    ['with another port than that', { host: 'app.example', hosts: ['app.example:8443'] }, false],
    ['a name that is not ASCII', { host: 'xn--mnchen-3ya.example', hosts: ['münchen.example'] }, true],
    ['a part of a name', { host: 'evil-app.example', hosts: ['app.example'] }, false],
    ['loopback stays', { host: 'localhost:3000', hosts: ['app.example'] }, true],
    ['all', { host: 'evil.example', hosts: '*' }, true]
  ])
})

t.test('a page on loopback may ask a server on loopback, others may not', async t => {
  const local = { host: 'localhost:3000' }
  rowsPass(t, [
    ['no page at all', local, true],
    ['a page of localhost', { ...local, origin: 'http://localhost:5173' }, true],
    ['a page of 127.0.0.1', { ...local, origin: 'https://127.0.0.1' }, true],
    ['a page of IPv6', { ...local, origin: 'http://[::1]:3000' }, true],
    ['a page elsewhere', { ...local, origin: 'https://evil.example' }, false],
    ['a page that begins alike', { ...local, origin: 'http://localhost.evil.example' }, false],
    ['a page with a user in it', { ...local, origin: 'http://localhost@evil.example' }, false],
    ['a page without an origin', { ...local, origin: 'null' }, false],
    ['an empty origin', { ...local, origin: '' }, false],
    ['a file', { ...local, origin: 'file://' }, false],
    ['an extension', { ...local, origin: 'chrome-extension://abc' }, false],
    ['another scheme', { ...local, origin: 'ftp://localhost' }, false]
  ])
})

t.test('a page elsewhere may ask its own server', async t => {
  const there = { bound: '0.0.0.0', host: 'app.example' }
  rowsPass(t, [
    ['the same host', { ...there, origin: 'https://app.example' }, true],
    ['the same host and port', { ...there, host: 'app.example:8443', origin: 'https://app.example:8443' }, true],
    ['the port of its scheme', { ...there, origin: 'https://app.example:443' }, true],
    ['another port', { ...there, origin: 'https://app.example:8443' }, false],
    ['another host', { ...there, origin: 'https://evil.example' }, false],
    ['localhost', { ...there, origin: 'http://localhost' }, false]
  ])
})

t.test('a page of the name that a proxy on the same machine has may ask the server behind it', async t => {
  const behind = { hosts: ['app.example'], host: 'app.example' }
  rowsPass(t, [
    ['its own host', { ...behind, origin: 'https://app.example' }, true],
    ['with a port', { ...behind, host: 'app.example:8443', origin: 'https://app.example:8443' }, true],
    ['with the port of its scheme', { ...behind, host: 'app.example:443', origin: 'https://app.example' }, true],
    ['in other letters', { ...behind, host: 'APP.example', origin: 'https://app.example' }, true],
    ['a page of localhost', { ...behind, origin: 'http://localhost:5173' }, true],
    ['another port', { ...behind, origin: 'https://app.example:8443' }, false],
    ['another page, by a host that is listed', { ...behind, origin: 'https://evil.example' }, false],
    ['another page, by a name of loopback', { ...behind, host: 'localhost:3000', origin: 'https://app.example' }, false],
    ['a page whose name is rebound', { ...behind, host: 'evil.example:3000', origin: 'http://evil.example:3000' }, false],
    ['a page whose name is rebound, and no name given', { host: 'evil.example:3000', origin: 'http://evil.example:3000' }, false],
    ['a page whose name is rebound, where all hosts are let in', { host: 'evil.example:3000', origin: 'http://evil.example:3000', hosts: '*' }, false],
    ['a page of another listed host', { host: 'a.example', origin: 'https://b.example', hosts: ['a.example', 'b.example'] }, false],
    ['no host', { ...behind, host: '', origin: 'https://app.example' }, false]
  ])
})

t.test('the option origins lets more pages in', async t => {
  const local = { host: 'localhost:3000' }
  rowsPass(t, [
    ['one that is listed', { ...local, origin: 'https://app.example', origins: ['https://app.example'] }, true],
    ['one that is not', { ...local, origin: 'https://evil.example', origins: ['https://app.example'] }, false],
    ['loopback stays', { ...local, origin: 'http://localhost:1', origins: ['https://app.example'] }, true],
    ['one that is no URL, to the letter', { ...local, origin: 'null', origins: ['null'] }, true],
    ['all', { ...local, origin: 'null', origins: '*' }, true],
    ['all pages, but no other host', { host: 'evil.example', origin: 'http://evil.example', origins: '*' }, false]
  ])
})

t.test('a target in absolute form says which host is asked, whatever the header says', async t => {
  rowsPass(t, [
    ['another than the header', { url: 'http://evil.example/mcp', host: 'localhost:3000' }, false],
    ['the same as the header', { url: 'http://localhost:3000/mcp', host: 'localhost:3000' }, true],
    ['the header is another', { url: 'HTTP://localhost:3000?x=/', host: 'evil.example' }, true],
    ['with a user in it', { url: 'http://localhost:3000@evil.example/mcp', host: 'localhost:3000' }, false],
    ['a page of that host', { url: 'https://app.example/mcp', host: 'evil.example', bound: '0.0.0.0', origin: 'https://app.example' }, true],
    ['a page of the host in the header', { url: 'https://app.example/mcp', host: 'evil.example', bound: '0.0.0.0', origin: 'https://evil.example' }, false],
    ['a host in the query', { url: '/mcp?to=http://evil.example/', host: 'localhost:3000' }, true]
  ])
})

t.test('of what is refused the log has the beginning', async t => {
  const long = `http://${'e'.repeat(12_000)}`
  for (const one of [{ host: long }, { host: 'localhost:3000', origin: long }]) {
    const { warned } = visit(one)
    t.match(warned[0]?.[0], { value: long.slice(0, 100) })
  }
})

t.test('what is refused is 403 without an id; the log, not the body, names the option', async t => {
  const rows: [string, string, Visit][] = [
    ['Host', 'hosts', { host: 'evil.example' }],
    ['Origin', 'origins', { host: 'localhost:3000', origin: 'https://evil.example' }]
  ]
  for (const [header, option, one] of rows) {
    const { reply, warned } = visit(one)
    t.equal(reply.status, 403)
    t.match(reply.json, { jsonrpc: '2.0', id: undefined, error: { code: -32600, message: RegExp(header) } })
    t.notMatch(reply.sent[0], option)
    t.match(warned, [[{ option, value: /evil\.example/ }, RegExp(`${header} ".*evil\\.example.*"${option}"`)]])
  }
  const { warned } = visit({ host: 'e'.repeat(5_000) })
  t.match(warned, [[{ value: 'e'.repeat(100) }, /"e{100}"/]], 'what is refused may be long')
})

t.test('a request that came through no socket, or through a file, is not checked', async t => {
  const reply = new FakeReply()
  let passed = 0
  guard({ hosts: [], origins: [] }).call({} as never, { raw: { socket: {} }, host: 'evil.example', headers: {} } as FastifyRequest, reply.reply, () => { passed++ })
  t.equal(passed, 1)
})

t.test('where the server listens is looked up once for each connection', async t => {
  const { socket } = visit({ host: 'localhost:3000' })
  let looked = 0
  const again = Object.assign(socket, { server: { address () { looked++; return null } } })
  const request = { raw: { socket: again }, url: '/mcp', host: 'localhost:3000', headers: {} } as unknown as FastifyRequest
  for (let i = 0; i < 3; i++) guard({ hosts: [], origins: [] }).call({} as never, request, new FakeReply().reply, () => {})
  t.equal(looked, 0, 'it was looked up before')
})

t.test('a server that does not say where it listens is judged by the socket', async t => {
  t.equal(visit({ bound: null, host: 'localhost:3000' }).passed, 1)
  t.equal(visit({ bound: null, host: 'evil.example' }).passed, 0)
})

t.test('what was let in before opens nothing else', async t => {
  const guarded = guard({ hosts: [], origins: [] })
  const passes = (host: string | undefined, bound: string, port: number) => {
    const socket = { localAddress: bound, localPort: port, server: { address: () => ({ address: bound, port }) } }
    const request = { raw: { socket }, url: '/mcp', host, headers: { host }, log: { warn () {} } }
    let passed = false
    guarded.call({} as never, request as unknown as FastifyRequest, new FakeReply().reply, () => { passed = true })
    return passed
  }
  const rows: [string, string | undefined, string, number, boolean][] = [
    ['a name of a server for all', 'app.example', '0.0.0.0', 3000, true],
    ['the same again', 'app.example', '0.0.0.0', 3000, true],
    ['the same name on loopback', 'app.example', '127.0.0.1', 3000, false],
    ['loopback with its port', 'localhost:3000', '127.0.0.1', 3000, true],
    ['another name after it', 'evil.example:3000', '127.0.0.1', 3000, false],
    ['that name again', 'evil.example:3000', '127.0.0.1', 3000, false],
    ['none after it', undefined, '127.0.0.1', 3000, false],
    ['loopback once more', 'localhost:3000', '127.0.0.1', 3000, true],
    ['that port on a server of another', 'localhost:3000', '127.0.0.1', 3001, false]
  ]
  for (const [what, host, bound, port, expected] of rows) t.equal(passes(host, bound, port), expected, what)
})
