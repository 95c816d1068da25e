// Section 12: what may be written on standard output, and read from standard input.
import { PassThrough } from 'node:stream'
import t from 'tap'
import { build } from '../support/app.js'
import { until } from '../support/audit.js'
import { sleep } from '../support/stdio.js'
import { has, start } from './child.js'
import { callBody, initializeBody, PATIENCE, pingBody } from './host.js'

for (const name of ['app.mcp.stdio()', 'fastify-mcp stdio']) {
  t.test(`BB-075 ${name}: standard output carries messages alone`, async t => {
    const child = start(t, name)
    child.write(initializeBody(1))
    child.write({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const tools = ['log', 'console', 'stdout', 'boom', 'lines']
    tools.forEach((tool, i) => child.write(callBody(tool, {}, i + 2)))
    t.ok(await until(() => has(child, tools.length + 1), PATIENCE))
    child.process.stdin?.end()
    t.equal(await child.closed, 0)
    const out = child.out()
    t.ok(out.endsWith('\n'), 'the last line is whole')
    for (const line of out.split('\n').slice(0, -1)) {
      t.match(JSON.parse(line), { jsonrpc: '2.0' }, line.slice(0, 60))
      t.notMatch(line, /[\r\n]/, 'in one line')
    }
    const byId = Object.fromEntries(child.messages().map(message => [message.id, message]))
    t.equal(byId[tools.indexOf('lines') + 2]?.result.content[0].text, 'a\nb\rc\u2028d\u2029e', 'line ends inside come through')
    t.match(byId[tools.indexOf('boom') + 2]?.result, { isError: true })
    for (const said of ['by the logger', 'by console.log', 'by process.stdout', 'boom inside', 'at the start']) t.match(child.err(), said, `${said}: on standard error`)
  })
}

t.test('BB-077 a bad line is no end', async t => {
  const child = start(t, 'app.mcp.stdio()')
  const ping = (id: unknown) => JSON.stringify(pingBody(id))
  const lines: Array<string | Buffer> = [
    '\ufeff' + JSON.stringify(initializeBody('first')) + '\n',
    '{oops\n',
    '\n',
    '   \n',
    ping('crlf') + '\r\n',
    '[]\n',
    Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"utf8","method":"ping","params":{"x":"'), Buffer.from([0xff]), Buffer.from('"}}\n')]),
    JSON.stringify(callBody('size', { text: 'x'.repeat(3_000_000) }, 'large')) + '\n',
    ping('two') + '\n' + ping('three') + '\n',
    'null\n', '7\n', '{"jsonrpc":"2.0"}\n', '{"jsonrpc":"2.0","id":null,"method":"ping"}\n',
    '{"jsonrpc":"2.0","id":5,"result":{}}\n',
    ping(0) + '\n'
  ]
  for (const line of lines) child.write(line)
  const pieces = Buffer.from(JSON.stringify(callBody('size', { text: 'größe 世界'.repeat(20) }, 'pieces')) + '\n')
  for (let i = 0; i < pieces.length; i += Math.ceil(pieces.length / 100)) {
    child.write(pieces.subarray(i, i + Math.ceil(pieces.length / 100)))
    if (i % 10 === 0) await sleep(1)
  }
  t.ok(await until(() => has(child, 'pieces'), PATIENCE))
  child.write(ping('last') + '\n')
  t.ok(await until(() => has(child, 'last'), PATIENCE), 'later lines are served')
  child.process.stdin?.end()
  t.equal(await child.closed, 0)
  const messages = child.messages()
  for (const id of ['first', 'crlf', 'two', 'three', 0, 'last']) t.match(messages.find(message => message.id === id), { result: {} }, `${id} is answered`)
  t.match(messages.find(message => message.id === 'large'), { result: { content: [{ text: '3000000' }] } })
  t.match(messages.find(message => message.id === 'pieces'), { result: { content: [{ text: `${'größe 世界'.length * 20}` }] } })
  const errors = messages.filter(message => message.error !== undefined && (message.id === undefined || message.id === null))
  t.ok(errors.length <= 6, `at most one error for each bad line: ${errors.length}`)
  t.ok(errors.every(message => [-32700, -32600].includes(message.error.code)))
})

t.test('BB-077 a line has an end', async t => {
  const { app } = await build(t, { listen: false })
  const [input, output] = [new PassThrough(), new PassThrough()]
  let out = ''
  output.on('data', chunk => { out += chunk })
  const done = app.mcp.stdio({ input, output, lineLimit: 1000 })
  for (let i = 0; i < 100; i++) input.write('x'.repeat(1000))
  await sleep(20)
  t.equal(input.readableLength, 0, 'nothing is kept of it')
  input.write('\n' + JSON.stringify(pingBody(1)) + '\n')
  input.end()
  await done
  const messages = out.trim().split('\n').map(line => JSON.parse(line)).filter(message => message.method === undefined)
  t.match(messages, [{ error: { code: -32600 } }, { id: 1, result: {} }])
})
