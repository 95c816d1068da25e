import { Type } from '@sinclair/typebox'
import t from 'tap'
import { stringsOf } from '../../lib/features/strings.js'
import type { StringsOptions } from '../../lib/features/strings.js'
import { thrown } from '../support/thrown.js'
import { appOf, type Lines } from '../support/server.js'

const defaults: StringsOptions = { validator: undefined, started: false }

t.test('an object of strings is taken, whatever way it is written', async t => {
  const app = appOf(t)
  app.addSchema({ $id: 'tone', type: 'string', enum: ['a', 'b'] })
  const source = Type.Object({
    plain: Type.String(),
    maybe: Type.Optional(Type.String({ minLength: 2 })),
    literal: Type.Literal('x'),
    union: Type.Union([Type.Literal('x'), Type.Literal('y')]),
    choice: Type.Unsafe<string>({ enum: ['x', 'y'] }),
    only: Type.Unsafe<string>({ const: 'x' }),
    one: Type.Unsafe<string>({ oneOf: [{ const: 'x' }, { const: 'y' }] }),
    shared: Type.Unsafe<string>({ $ref: 'tone' }),
    filled: Type.String({ default: 'z' })
  })
  const { properties, required, check } = stringsOf(source, app, 'X', defaults)
  t.strictSame(Object.keys(properties), ['plain', 'maybe', 'literal', 'union', 'choice', 'only', 'one', 'shared', 'filled'])
  t.strictSame(required, ['plain', 'literal', 'union', 'choice', 'only', 'one', 'shared'], 'what has a default need not be there')
  const values: Record<string, string> = { plain: '', literal: 'x', union: 'y', choice: 'x', only: 'x', one: 'x', shared: 'b', extra: 'kept' }
  t.equal(check(values), undefined)
  t.match(values, { filled: 'z', extra: 'kept' })
  t.match(check({ ...values, shared: 'c' }), /shared/)
})

t.test('anything else than strings is refused, with its place', async t => {
  const app = appOf(t)
  const bad = [Type.Number(), Type.Object({}), Type.Array(Type.String()), Type.Null(), Type.Union([Type.String(), Type.Number()]), { enum: ['a', 1] }, { const: 1 }, {}, true, { type: ['string', 'null'] }, { $ref: '#/$defs/x' }]
  for (const member of bad) {
    const source = { type: 'object', $defs: { x: { type: 'number' } }, properties: { a: member } }
    t.match(thrown(() => stringsOf(source, app, 'X', defaults)).message, '/properties/a must be a string', JSON.stringify(member))
  }
  for (const source of [Type.String(), {}, { type: 'array' }]) t.match(thrown(() => stringsOf(source, app, 'X', defaults)).message, /type must be "object"/)
  for (const source of ['x', null, 7, { type: 'object', properties: [] }]) t.match(thrown(() => stringsOf(source, app, 'X', defaults)), Error, JSON.stringify(source))
  t.strictSame(stringsOf({ type: 'object' }, app, 'X', defaults).properties, {}, 'it may be empty')
})

t.test('a list is an array of strings', async t => {
  const app = appOf(t)
  const isList = (name: string) => name === 'tags'
  const { check } = stringsOf(Type.Object({ id: Type.String(), tags: Type.Array(Type.String(), { maxItems: 1 }) }), app, 'X', defaults, isList)
  t.equal(check({ id: 'a', tags: ['b'] }), undefined)
  t.match(check({ id: 'a', tags: ['b', 'c'] }), /tags/)
  for (const tags of [Type.String(), Type.Array(Type.Number()), { type: 'array' }, true]) {
    t.match(thrown(() => stringsOf({ type: 'object', properties: { tags } }, app, 'X', defaults, isList)).message, '/properties/tags must be an array of strings')
  }
})

t.test('a keyword that nobody knows is warned of, once for each schema', async t => {
  const log: Lines = []
  const app = appOf(t, log)
  const source = { type: 'object', properties: { a: { type: 'string', minLenght: 1, 'x-own': 1 } } }
  stringsOf(source, app, 'Prompt "p"', defaults)
  stringsOf(source, app, 'Prompt "p"', defaults)
  t.strictSame(log.filter(line => line.level === 40).map(line => line.msg), ['Prompt "p": /properties/a/minLenght is not a JSON Schema keyword (your own begin with x-); is it misspelt?'])
})

t.test('schemas that the app shares are those of the app', async t => {
  const source = { type: 'object', properties: { tone: { $ref: 'tone' } } }
  for (const value of ['a', 'b']) {
    const app = appOf(t)
    app.addSchema({ $id: 'tone', type: 'string', const: value })
    t.equal(stringsOf(source, app, 'X', defaults).check({ tone: value }), undefined, value)
  }
})

t.test('the validator of the options is asked', async t => {
  const app = appOf(t)
  const asked: unknown[] = []
  const validator = { compile: (_: unknown, options: unknown) => { asked.push(options); return () => [{ path: '/a', message: 'no' }] } }
  t.equal(stringsOf({ type: 'object' }, app, 'X', { ...defaults, validator }).check({}), '/a no')
  t.strictSame(asked, [{ useDefaults: true }])
})
