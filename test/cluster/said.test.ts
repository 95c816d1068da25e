import t from 'tap'
import { Said } from '../../lib/cluster/said.js'

t.test('a change is news once, and late when it is not heard in time', async t => {
  const said = new Said()
  let now = 0
  t.intercept(Date, 'now', { value: () => now })
  const [first, second] = [said.say({ kind: 'tools' }), said.say({ kind: 'resource', uri: 'mem://a' })]
  t.not(first, second)
  t.strictSame([said.heard(first), said.heard(first), said.heard(99)], [true, false, false])
  now = 4_000
  const third = said.say({ kind: 'prompts' })
  t.strictSame(said.late(), [])
  now = 5_000
  t.strictSame(said.late(), [{ kind: 'resource', uri: 'mem://a' }])
  t.strictSame([said.late(), said.heard(second), said.heard(third)], [[], false, true], 'what was given up is no news')
})
