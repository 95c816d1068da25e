import t, { type Test } from 'tap'
import { EventEmitter } from 'node:events'
import { Commands, script } from '../../lib/stores/commands.js'
import type { RedisHealth } from '../../lib/stores/commands.js'
import { until, wait } from '../support/time.js'

class Client extends EventEmitter {
  status = 'ready'
  readonly called: (string | number)[][] = []
  answer: (command: string) => Promise<unknown> = async () => 'OK'
  call (command: string, ...args: (string | number)[]): Promise<unknown> {
    this.called.push([command, ...args])
    return this.answer(command)
  }

  duplicate (): never { throw new Error('no second connection is needed for commands') }
}

function commandsOf (t: Test, timeout = 60) {
  const client = new Client()
  const told: RedisHealth[] = []
  const commands = new Commands(client, timeout, health => told.push(health))
  t.teardown(() => commands.close())
  return { client, commands, told }
}

const never = () => new Promise<never>(() => {})
const refusal = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' })

t.test('a client that connects is waited for, but not for longer than a command may take', async t => {
  const { commands, client } = commandsOf(t, 100)
  await commands.ready()
  client.status = 'end'
  await commands.ready()
  t.strictSame(client.called, [], 'there is nothing to wait for')
  client.status = 'connecting'
  let done = false
  const ready = commands.ready().then(() => { done = true })
  await wait(20)
  t.equal(done, false)
  client.emit('ready')
  await ready
  t.strictSame(client.called, [])
  client.status = 'wait'
  client.answer = async () => { throw new Error('not writable yet') }
  const from = Date.now()
  await commands.ready()
  t.ok(Date.now() - from >= 90, 'in vain')
  t.strictSame(client.called, [['PING']], 'one that connects with its first command gets one')
  t.equal(commands.health.ok, true)
  t.equal(client.listenerCount('ready'), 0)
})

t.test('a command is answered', async t => {
  const { commands, client, told } = commandsOf(t)
  t.equal(await commands.run('SET', 'k', 1), 'OK')
  t.strictSame(client.called, [['SET', 'k', 1]])
  t.strictSame(told, [])
  t.equal(commands.health.ok, true)
})

t.test('one without an answer ends in time, and those after it at once: nobody has to wait to find out', async t => {
  const { commands, client, told } = commandsOf(t)
  client.answer = never
  const from = Date.now()
  await Promise.all([1, 2, 3].map(() => t.rejects(commands.run('GET', 'k'), { message: /60 ms/ })))
  t.ok(Date.now() - from < 1_000)
  t.match(told, [{ ok: false, error: /60 ms/ }])
  t.equal(told.length, 1, 'told once')
  for (let i = 0; i < 20; i++) {
    const since = Date.now()
    await t.rejects(commands.run('GET', 'k'), { message: /does not answer/ })
    t.ok(Date.now() - since < 50, 'at once')
    await wait(20)
  }
  t.strictSame(client.called.map(([name]) => name), ['GET', 'GET', 'GET', 'PING'], 'one question at a time')
})

t.test('Redis is asked whether it is back', async t => {
  const { commands, client, told } = commandsOf(t)
  client.answer = async () => { throw new Error('Connection is closed.') }
  await t.rejects(commands.run('GET', 'k'))
  await wait(550)
  t.strictSame(client.called.map(([name]) => name), ['GET', 'PING', 'PING'])
  for (const answer of [async () => 'PONG', async () => { throw refusal('NOPERM this user has no permissions') }]) {
    client.answer = async () => { throw new Error('Connection is closed.') }
    await t.rejects(commands.run('GET', 'k'))
    t.equal(told.at(-1)?.ok, false)
    client.answer = answer
    t.ok(await until(() => told.at(-1)?.ok === true), 'a refusal is an answer')
  }
  client.answer = async () => 'back'
  t.equal(await commands.run('GET', 'k'), 'back')
  const { length } = client.called
  await wait(300)
  t.equal(client.called.length, length, 'and then no more')
})

t.test('a connection that is lost may be back before a command is given up', async t => {
  const { commands, client } = commandsOf(t, 200)
  client.emit('error', new Error('ECONNRESET'))
  const sent: ((value: unknown) => void)[] = []
  client.answer = () => new Promise(resolve => sent.push(resolve))
  const command = commands.run('GET', 'k')
  await wait(20)
  sent[0]?.('back')
  t.equal(await command, 'back')
  t.equal(commands.health.ok, true)
  client.emit('error', new Error('ECONNRESET'))
  const from = Date.now()
  await wait(100)
  await t.rejects(commands.run('GET', 'k'), { message: /not answered/ })
  t.ok(Date.now() - from < 290, 'all of them together have the time that one may take')
  await t.rejects(commands.run('GET', 'k'), { message: /ECONNRESET/ })
})

t.test('an answer that comes late says that the connection is back', async t => {
  const { commands, client } = commandsOf(t)
  let answer = (_: unknown) => {}
  client.answer = () => new Promise(resolve => { answer = resolve })
  await t.rejects(commands.run('GET', 'k'))
  t.equal(commands.health.ok, false)
  answer('late')
  await wait(1)
  t.equal(commands.health.ok, true)
})

t.test('what Redis refuses is an error and trouble, until it takes the like again', async t => {
  const { commands, client, told } = commandsOf(t)
  const refusing = (...names: string[]) => { client.answer = async command => { if (names.includes(command)) throw refusal('OOM command not allowed') } }
  refusing('SET', 'EVALSHA')
  await t.rejects(commands.run('SET', 'k', 'v'), { message: /OOM/ })
  t.match(told, [{ ok: false, error: 'refused: OOM command not allowed' }])
  await commands.run('GET', 'k')
  t.equal(commands.health.ok, false, 'reading says nothing of writing')
  await t.rejects(commands.script(script('return 1'), [], []), { message: /OOM/ })
  refusing()
  await commands.run('SET', 'k', 'v')
  t.match(told, [{ ok: false }, { ok: true, error: undefined }], 'told once each')
  client.answer = async () => { throw new Error('Connection is closed.') }
  await t.rejects(commands.run('SET', 'k', 'v'), { message: /closed/ })
  t.match(told.at(-1), { ok: false, error: /closed/ })
})

t.test('a command that may not be used is trouble until it may', async t => {
  const { commands, client, told } = commandsOf(t)
  client.answer = async command => { if (command === 'PUBLISH') throw refusal('NOPERM this user has no permissions') }
  await t.rejects(commands.run('PUBLISH', 'c', 'm'))
  await commands.run('SET', 'k', 'v')
  t.match(commands.health, { ok: false, error: /NOPERM/ })
  client.answer = async () => 1
  await commands.run('PUBLISH', 'c', 'm')
  t.strictSame(told.map(one => one.ok), [false, true])
})

t.test('no error has the command in it, nor what users said', async t => {
  const { commands, client } = commandsOf(t)
  const command = { name: 'EVALSHA', args: ['secret'] }
  client.answer = async () => { throw Object.assign(refusal("ERR unknown command 'GETEX', with args beginning with: 'secret' "), { command, code: 'ERR', previousErrors: ['secret'] }) }
  const error = await commands.run('GETEX', 'secret').catch((error: Error) => error) as Error & { cause?: unknown }
  t.equal(error.message, "ERR unknown command 'GETEX'")
  t.strictSame(Object.keys(error).sort(), ['code', 'name'])
  t.equal(error.cause, undefined)
  t.notMatch(`${error.stack}${commands.health.error}`, /secret/)
})

t.test('errors of the connection end no process', async t => {
  const { client, told, commands } = commandsOf(t)
  client.emit('error', new Error('ECONNREFUSED'))
  client.emit('error', Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' }))
  t.match(told, [{ ok: false, error: 'ECONNREFUSED' }])
  t.equal(told.length, 1)
  commands.close()
  t.equal(client.listenerCount('error'), 0, 'the client is given back as it was')
})

t.test('a script is sent once and called by its digest', async t => {
  const { commands, client } = commandsOf(t)
  const one = script('return 1')
  client.answer = async command => {
    if (command === 'EVALSHA') throw refusal('NOSCRIPT No matching script')
    return 1
  }
  t.equal(await commands.script(one, ['k'], ['a']), 1)
  t.strictSame(client.called, [['EVALSHA', one.sha, 1, 'k', 'a'], ['EVAL', 'return 1', 1, 'k', 'a']])
  client.answer = async () => { throw refusal('ERR other') }
  await t.rejects(commands.script(one, [], []), { message: 'ERR other' })
})

t.test('closing ends what waits', async t => {
  const { commands, client } = commandsOf(t, 60_000)
  client.answer = never
  const waiting = t.rejects(commands.run('GET', 'k'))
  commands.close()
  await waiting
})
