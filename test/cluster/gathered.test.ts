import t from 'tap'
import { Gathered } from '../../lib/cluster/gathered.js'

/** Each step ends when it is told to. */
function steps () {
  const taken: string[][] = []
  const ends: Array<(error?: Error) => void> = []
  const gathered = new Gathered<string>(all => new Promise((resolve, reject) => {
    taken.push(all)
    ends.push(error => error === undefined ? resolve() : reject(error))
  }))
  return { gathered, taken, ends }
}
const turn = () => new Promise(resolve => setImmediate(resolve))

t.test('what comes during a step goes together into the next', async t => {
  const { gathered, taken, ends } = steps()
  const first = gathered.add('a')
  await turn()
  const rest = [gathered.add('b'), gathered.add('c')]
  await turn()
  t.strictSame(taken, [['a']], 'one step at a time')
  ends[0]?.()
  await first
  await turn()
  t.strictSame(taken, [['a'], ['b', 'c']])
  ends[1]?.()
  await Promise.all(rest)
  const last = gathered.add('d')
  await turn()
  ends[2]?.()
  await last
  t.strictSame(taken.at(-1), ['d'])
})

t.test('what comes at once is one step', async t => {
  const { gathered, taken, ends } = steps()
  const all = ['a', 'b', 'c'].map(one => gathered.add(one))
  await turn()
  ends[0]?.()
  await Promise.all(all)
  t.strictSame(taken, [['a', 'b', 'c']])
})

t.test('a step that fails fails for those that are in it alone', async t => {
  const { gathered, ends } = steps()
  const first = t.rejects(gathered.add('a'), { message: 'away' })
  await turn()
  const second = gathered.add('b')
  ends[0]?.(new Error('away'))
  await first
  await turn()
  ends[1]?.()
  await second
})
