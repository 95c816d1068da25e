import t, { type Test } from 'tap'
import { EventEmitter } from 'node:events'
import { Commands, script } from '../../lib/stores/commands.js'
import type { RedisHealth } from '../../lib/stores/commands.js'
import { wait } from '../support/time.js'

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

t.test('one without an answer ends in time, and those after it at once, but for one now and then', async t => {
  const { commands, client, told } = commandsOf(t)
  client.answer = never
  const from = Date.now()
  await Promise.all([1, 2, 3].map(() => t.rejects(commands.run('GET', 'k'), { message: /60 ms/ })))
  t.ok(Date.now() - from < 1_000)
  t.match(told, [{ ok: false, error: /60 ms/ }])
  t.equal(told.length, 1, 'told once')
  const probe = t.rejects(commands.run('GET', 'probe'))
  await t.rejects(commands.run('GET', 'k'), { message: /does not answer/ })
  await probe
  t.strictSame(client.called.map(one => one[1]), ['k', 'k', 'k', 'probe'])
  client.answer = async () => 'back'
  await wait(260)
  t.equal(await commands.run('GET', 'k'), 'back')
  t.match(told.at(-1), { ok: true, error: undefined })
  t.equal(await commands.run('GET', 'k'), 'back')
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

t.test('what Redis refuses is an error, and no trouble with the connection', async t => {
  const { commands, client, told } = commandsOf(t)
  client.answer = async () => { throw refusal('OOM command not allowed') }
  await t.rejects(commands.run('SET', 'k', 'v'), { message: /OOM/ })
  t.strictSame(told, [])
  client.answer = async () => { throw new Error('Connection is closed.') }
  await t.rejects(commands.run('SET', 'k', 'v'), { message: /closed/ })
  t.match(told, [{ ok: false, error: /closed/ }])
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
