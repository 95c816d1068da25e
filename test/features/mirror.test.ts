import { Type } from '@sinclair/typebox'
import t from 'tap'
import { betraying, mirroredIn, mirrorsOf } from '../../lib/features/mirror.js'
import { thrown } from '../support/thrown.js'

const of = (properties: Record<string, unknown>, more: object = {}) => ({ type: 'object', properties, ...more })
const header = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name })

t.test('a schema without the annotation mirrors nothing', async t => {
  t.strictSame(mirrorsOf(of({ a: { type: 'string', enum: ['x-mcp-header'] }, b: true, c: { items: [{}, false] } })), [])
})

t.test('an annotated property is found by its way from the root, its header as it is written', async t => {
  const schema = Type.Object({
    region: Type.String({ 'x-mcp-header': 'Region' }),
    deep: Type.Object({ limit: Type.Integer({ 'x-mcp-header': 'Max-Limit' }), more: Type.Object({ dry: Type.Boolean({ 'x-mcp-header': 'Dry' }) }) })
  })
  t.strictSame(mirrorsOf(schema), [
    { header: 'Region', type: 'string', path: ['region'], quiet: false },
    { header: 'Max-Limit', type: 'integer', path: ['deep', 'limit'], quiet: false },
    { header: 'Dry', type: 'boolean', path: ['deep', 'more', 'dry'], quiet: false }
  ])
})

t.test('a property may be called like a keyword', async t => {
  t.strictSame(mirrorsOf(of({ properties: of({ items: header('A') }) })), [{ header: 'A', type: 'string', path: ['properties', 'items'], quiet: false }])
})

t.test('every sign of a header name is allowed', async t => {
  t.strictSame(mirrorsOf(of({ a: header("!#$%&'*+-.^_`|~09azAZ") })).length, 1)
})

t.test('what is data and no schema is not looked at', async t => {
  for (const keyword of ['default', 'const', 'example']) t.strictSame(mirrorsOf(of({ a: { [keyword]: header('A') } })), [], keyword)
  for (const keyword of ['enum', 'examples']) t.strictSame(mirrorsOf(of({ a: { [keyword]: [header('A')] } })), [], keyword)
})

t.test('an annotation that breaks a rule is an error that says where and which', async t => {
  const rows: [string, unknown, RegExp][] = [
    ['an empty name', of({ a: header('') }), /^\/properties\/a\/x-mcp-header must be a header name/],
    ['a space', of({ a: header('My Region') }), /must be a header name.*"My Region"/],
    ['a colon', of({ a: header('a:b') }), /must be a header name/],
    ['a line end', of({ a: header('a\nb') }), /must be a header name/],
    ['a letter outside ASCII', of({ a: header('Größe') }), /must be a header name/],
    ['no string', of({ a: header(5) }), /must be a header name.*got 5/],
    ['a number', of({ a: header('A', 'number') }), /must stand on a property of type string, integer, boolean, not "number"/],
    ['an object', of({ a: header('A', 'object') }), /must stand on a property of type/],
    ['several types', of({ a: header('A', ['string', 'null']) }), /must stand on a property of type/],
    ['no type', of({ a: { 'x-mcp-header': 'A' } }), /must stand on a property of type/],
    ['a name twice', of({ a: header('A'), b: header('A') }), /^\/properties\/b\/x-mcp-header names "A" a second time/],
    ['a name twice but for its case', of({ a: header('Region'), b: of({ c: header('REGION') }) }), /^\/properties\/b\/properties\/c\/x-mcp-header names/],
    ['the root', { ...of({}), ...header('A') }, /reached from the root/],
    ['the items of an array', of({ a: { type: 'array', items: header('A') } }), /^\/properties\/a\/items\/x-mcp-header must stand on a property that is reached/],
    ['a branch', of({}, { anyOf: [of({ a: header('A') })] }), /^\/anyOf\/0\/properties\/a\/x-mcp-header must stand/],
    ['a condition', of({}, { if: of({ a: header('A') }) }), /reached from the root/],
    ['a pattern of names', of({}, { patternProperties: { '^a': header('A') } }), /reached from the root/],
    ['any other property', of({}, { additionalProperties: header('A') }), /reached from the root/],
    ['a definition', of({}, { $defs: { a: header('A') } }), /reached from the root/],
    ['what is negated', of({ a: { not: header('A') } }), /reached from the root/]
  ]
  for (const [what, schema, message] of rows) t.match(thrown(() => mirrorsOf(schema as Record<string, unknown>)).message, message, what)
})

t.test('values are read at the exact place, and null counts as none', async t => {
  const mirrors = mirrorsOf(of({ a: header('A'), deep: of({ n: header('N', 'integer') }) }))
  const rows: [string, unknown, unknown[]][] = [
    ['both there', { a: 'x', deep: { n: 0 } }, ['x', 0]],
    ['none there', {}, [undefined, undefined]],
    ['null', { a: null, deep: { n: null } }, [undefined, undefined]],
    ['null on the way', { deep: null }, [undefined, undefined]],
    ['a string on the way', { deep: 'abc' }, [undefined, undefined]],
    ['an array on the way', { deep: [{ n: 1 }] }, [undefined, undefined]],
    ['the wrong type', { a: 5, deep: { n: 'x' } }, [5, 'x']],
    ['no arguments', undefined, [undefined, undefined]]
  ]
  for (const [what, args, values] of rows) t.strictSame(mirroredIn(mirrors, args).map(one => one.value), values, what)
  t.match(mirroredIn(mirrors, {}), [{ header: 'A', type: 'string' }, { header: 'N', type: 'integer' }])
})

t.test('what an object inherits is no argument', async t => {
  const mirrors = mirrorsOf(of({ constructor: header('A'), deep: of({ toString: header('B') }) }))
  t.strictSame(mirroredIn(mirrors, { deep: {} }).map(one => one.value), [undefined, undefined])
})

t.test('nothing is told of the headers of a tool that has anything to hide, and the author is told of those that repeat it', async t => {
  const secret = { 'x-sensitive': true }
  const plain = header('Plain')
  const rows: [string, Record<string, unknown>, string[]][] = [
    ['itself', of({ a: { ...header('A'), ...secret }, b: plain }), ['Mcp-Param-A']],
    ['what it stands in', of({ deep: of({ a: header('A') }, secret), b: plain }), ['Mcp-Param-A']],
    ['something else', of({ a: secret, b: plain }), []]
  ]
  for (const [what, schema, headers] of rows) {
    const mirrors = mirrorsOf(schema)
    t.strictSame(betraying(mirrors, schema), headers, what)
    t.ok(mirrors.length > 0 && mirrors.every(one => one.quiet), what)
    t.ok(mirroredIn(mirrors, {}).every(one => one.quiet), what)
  }
  const open = of({ b: plain })
  t.strictSame([betraying(mirrorsOf(open), open), mirrorsOf(open)[0]?.quiet], [[], false])
})
