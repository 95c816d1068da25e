import t from 'tap'
import { Recovery } from '../../lib/cluster/recovery.js'
import { until, wait } from '../support/time.js'

/** Steps that fail as often as they are told to. */
function recoveryOf (...failures: number[]) {
  const done: number[] = []
  const recovery = new Recovery()
  failures.forEach((_, i) => recovery.add(async () => {
    done.push(i)
    if ((failures[i] as number)-- > 0) throw new Error('not yet')
  }))
  return { recovery, done }
}

t.test('one step comes after the other', async t => {
  const { recovery, done } = recoveryOf(0, 0, 0)
  await recovery.run()
  t.strictSame(done, [0, 1, 2])
  await recovery.run()
  t.strictSame(done, [0, 1, 2, 0, 1, 2])
})

t.test('one that fails is tried again until it succeeds, and those behind it wait', async t => {
  const { recovery, done } = recoveryOf(0, 2, 0)
  let over = false
  recovery.run().then(() => { over = true })
  await wait(150)
  t.strictSame(done, [0, 1], 'not at once')
  t.ok(await until(() => over, 5_000))
  t.strictSame(done, [0, 1, 1, 1, 2])
})

t.test('whoever asks while it waits begins it again, without waiting', async t => {
  const { recovery, done } = recoveryOf(0, 1, 0)
  recovery.run()
  await wait(20)
  await recovery.run()
  t.strictSame(done, [0, 1, 0, 1, 2])
})

t.test('and while it works, after what is under way', async t => {
  const recovery = new Recovery()
  const done: string[] = []
  let finish = () => {}
  recovery.add(async () => {
    done.push('begun')
    if (done.length === 1) await new Promise<void>(resolve => { finish = resolve })
    done.push('finished')
  })
  const both = [recovery.run(), recovery.run(), recovery.run()]
  await wait(5)
  t.strictSame(done, ['begun'])
  finish()
  await Promise.all(both)
  t.strictSame(done, ['begun', 'finished', 'begun', 'finished'])
})

t.test('what is closed tries nothing more', async t => {
  const { recovery, done } = recoveryOf(9)
  const running = recovery.run()
  await wait(5)
  recovery.close()
  await running
  await recovery.run()
  t.strictSame(done, [0])
})
