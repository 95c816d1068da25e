import t from 'tap'
import { kindOf, preview } from '../lib/preview.js'

t.test('a value is shown by its kind and as much of it as helps', async t => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const rows: [unknown, string][] = [
    [undefined, 'nothing'], [null, 'null'], [5, 'number 5'], [NaN, 'number NaN'], ['a', 'string "a"'], [true, 'boolean true'], [[1, 'a'], '[1,"a"]'], [{ a: { b: { c: 1 } } }, '{"a":{"b":{}}}'], [[[[1]]], '[[[]]]'],
    ['x'.repeat(100), `string "${'x'.repeat(56)}…`], [{ a: Infinity }, '{"a":"Infinity"}'], [() => 5, 'function'], [circle, '{"self":{"self":{}}}'], [5n, 'bigint'], [new Date(0), '"1970-01-01T00:00:00.000Z"'], [{ a: 5n }, 'object']
  ]
  for (const [value, shown] of rows) t.equal(preview(value), shown)
  t.equal(preview(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [i, i]))).length, 58)
})

t.test('of what nobody shall read its kind alone is said', async t => {
  const rows: [unknown, string][] = [[undefined, 'nothing'], [null, 'null'], ['secret', 'string'], [['secret'], 'array'], [{ a: 'secret' }, 'object'], [5, 'number'], [() => 5, 'function']]
  for (const [value, kind] of rows) t.equal(kindOf(value), kind)
})
