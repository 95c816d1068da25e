// What the contract does not say: a connection that comes and goes.
import t from 'tap'
import { RedisBroker } from '../../lib/brokers/redis.js'
import { Commands } from '../../lib/stores/commands.js'
import { clientOf, startRedis, withoutRedis } from '../support/redis.js'
import { until } from '../support/time.js'

const skip = withoutRedis()

t.test('listening goes on after Redis was away, and says that there was a gap', skip === false ? {} : { skip }, async t => {
  const server = await startRedis(t)
  const client = clientOf(t, server)
  const commands = new Commands(client, 500, () => {})
  const broker = new RedisBroker(client, commands, { prefix: 'p:', timeout: 500 })
  t.teardown(async () => { await broker.close(); commands.close() })
  const heard: string[] = []
  let renewed = 0
  const listener = { message: (text: string) => { heard.push(text) }, renewed () { renewed++ } }
  await broker.subscribe('one', listener)
  await broker.subscribe('two', listener)
  t.equal(broker.connected, true)
  await broker.publish('one', 'before')
  t.ok(await until(() => heard.length === 1))
  await server.kill()
  t.ok(await until(() => !broker.connected))
  await t.rejects(broker.publish('one', 'lost'))
  t.equal(renewed, 0)
  await server.start()
  t.ok(await until(() => broker.connected && renewed === 2, 5_000), 'each channel is told')
  t.ok(await until(() => commands.health.ok || (commands.run('PING').catch(() => {}), false), 5_000))
  t.equal(await broker.publish('two', 'after'), 1)
  t.ok(await until(() => heard.length === 2))
  t.strictSame(heard, ['before', 'after'])
})

t.test('a broker that starts before Redis waits for it', skip === false ? {} : { skip }, async t => {
  const server = await startRedis(t)
  await server.kill()
  const client = clientOf(t, server)
  const commands = new Commands(client, 500, () => {})
  const broker = new RedisBroker(client, commands, { prefix: 'p:', timeout: 500 })
  t.teardown(async () => { await broker.close(); commands.close() })
  let listening = false
  broker.subscribe('one', { message () {}, renewed () {} }).then(() => { listening = true })
  t.notOk(await until(() => listening, 200))
  await server.start()
  t.ok(await until(() => listening, 5_000))
})
