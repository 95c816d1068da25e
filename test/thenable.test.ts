import t from 'tap'
import { isThenable } from '../lib/thenable.js'

t.test('whatever has a then to call is awaited', async t => {
  const then = () => {}
  for (const value of [Promise.resolve(), { then }, Object.assign(() => {}, { then })]) t.equal(isThenable(value), true)
  for (const value of [undefined, null, 0, '', 'then', true, {}, [], () => {}, { then: 1 }]) t.equal(isThenable(value), false, String(value))
})
