import t from 'tap'
import { completersOf } from '../../lib/features/completers.js'
import { thrown } from '../support/thrown.js'

t.test('completers are arrays of strings or functions, each of an argument that is there', async t => {
  const complete = () => []
  t.strictSame([...completersOf({ a: ['x'], b: complete, c: undefined }, ['a', 'b'])], [['a', ['x']], ['b', complete]])
  t.equal(completersOf(undefined, []).size, 0)
  t.equal(completersOf({ any: [] }, undefined).size, 1, 'where any argument may be')
  t.match(thrown(() => completersOf({ x: [] }, ['a', 'b'])).message, 'complete has "x", but there is only a, b')
  t.match(thrown(() => completersOf({ x: [] }, [])).message, 'complete has "x", but there is nothing to complete')
  for (const bad of ['a', 7, null, {}, [1]]) t.match(thrown(() => completersOf({ a: bad }, ['a'])).message, /^complete\.a must be an array of strings or a function, got /, JSON.stringify(bad))
  for (const bad of ['a', 7, null, [1]]) t.match(thrown(() => completersOf(bad, ['a'])).message, /^complete must be an object of completers .*, got /, JSON.stringify(bad))
})
