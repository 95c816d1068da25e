import t from 'tap'
import { certain } from '../lib/certain.js'
import { turn } from './support/time.js'

t.test('only true is true', t => {
  for (const said of [true, false, undefined, null, 1, 'true', {}, []]) t.equal(certain(() => said, () => {}, error => t.fail(String(error))), said === true, String(said))
  t.end()
})

t.test('what throws says no, and why is told each time', t => {
  const failed: unknown[] = []
  const author = () => { throw new Error('no table') }
  for (let i = 0; i < 2; i++) t.equal(certain(author, author, error => { failed.push(error) }), false)
  t.match(failed, [{ message: 'no table' }, { message: 'no table' }])
  t.end()
})

t.test('a promise says no, is told once for each function, and its rejection ends nothing', async t => {
  const unhandled: unknown[] = []
  const hear = (error: unknown) => { unhandled.push(error) }
  process.on('unhandledRejection', hear)
  const failed: unknown[] = []
  for (const author of [async () => true, async () => { throw new Error('late') }, () => ({ then: (_: unknown, no: (error: Error) => void) => no(new Error('odd')) })]) {
    for (let i = 0; i < 3; i++) t.equal(certain(author, author, error => { failed.push(error) }), false)
  }
  t.match(failed, Array(3).fill({ name: 'TypeError', message: /gave a promise/ }))
  t.equal(failed.length, 3)
  await turn()
  t.strictSame(unhandled, [])
  process.off('unhandledRejection', hear)
})
