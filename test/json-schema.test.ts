import { Type } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import { isDraft07, prepareSchema } from '../lib/json-schema.js'
import { thrown } from './support/thrown.js'

const draft07 = 'http://json-schema.org/draft-07/schema#'
const draft2020 = 'https://json-schema.org/draft/2020-12/schema'
const of = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({ type: 'object', properties, ...more })
const circle: Record<string, unknown> = {}
circle.self = circle
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
/** Compiles with one instance whatever names come twice. Without `addUsedSchema` it would not find what `#` means. */
const compile = (schema: object) => ajv.removeSchema().compile(schema)
const endless: Record<string, unknown> = { type: 'object' }
endless.not = endless

t.test('a schema comes back as a plain copy of what it says', async t => {
  const source = Type.Object({ a: Type.Optional(Type.Union([Type.Literal(1), Type.Null()])), b: Type.Array(Type.String({ pattern: '^x' })) })
  const { schema, strange, named } = prepareSchema(source)
  t.strictSame(schema, JSON.parse(JSON.stringify(source)))
  t.not(schema, source)
  t.strictSame(Object.getOwnPropertySymbols(schema), [])
  t.strictSame({ strange, named }, { strange: [], named: false })
})

t.test('members that are undefined are not there', async t => {
  t.strictSame(prepareSchema({ type: 'object', title: undefined, properties: { a: { type: 'string', default: undefined } } }).schema, of({ a: { type: 'string' } }))
})

t.test('what the author changes later does not change the copy', async t => {
  const source = of({ a: { enum: ['x'], default: { deep: 1 } } })
  const { schema } = prepareSchema(source)
  ;(source.properties.a as any).enum.push('y')
  ;(source.properties.a as any).default.deep = 2
  t.strictSame(schema, of({ a: { enum: ['x'], default: { deep: 1 } } }))
})

t.test('tuples are written the way their dialect writes them', async t => {
  const tuple = Type.Tuple([Type.String(), Type.Number()])
  t.match(prepareSchema(of({ a: tuple })).schema.properties, { a: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, additionalItems: undefined } })
  t.match(prepareSchema(of({ a: { items: [{}], additionalItems: false } })).schema.properties, { a: { prefixItems: [{}], items: false } })
  t.match(prepareSchema(of({ a: { items: [{}] } }, { $schema: draft07 })).schema.properties, { a: { items: [{}], prefixItems: undefined } })
})

t.test('the dialect is 2020-12, or draft-07 where the schema says so', async t => {
  for (const $schema of [draft2020, draft2020 + '#', draft07, 'http://json-schema.org/draft-07/schema']) {
    t.equal(prepareSchema({ $schema }).schema.$schema, $schema)
    t.equal(isDraft07({ $schema }), $schema.includes('07'))
  }
  t.equal(isDraft07({}), false)
  for (const $schema of ['http://json-schema.org/draft-04/schema#', 'https://json-schema.org/draft/2019-09/schema', 'x', 7, null]) {
    t.match(thrown(() => prepareSchema({ $schema })).message, /^\/\$schema must be .*2020-12 or draft-07/)
  }
})

t.test('x-sensitive is true or false, and what is nearly that word is told', async t => {
  for (const value of ['true', 'yes', 1, null, 'here', {}]) t.match(thrown(() => prepareSchema(of({ a: { 'x-sensitive': value } }))).message, /^\/properties\/a\/x-sensitive must be true or false, got /, JSON.stringify(value))
  for (const value of [true, false]) t.match(prepareSchema(of({ a: { 'x-sensitive': value } })), { strange: [], schema: { properties: { a: { 'x-sensitive': value } } } })
  for (const word of ['x-sensitve', 'x-senstive', 'x-sensitiv', 'x-sensetive', 'x-sensative', 'x-ensitive']) t.match(prepareSchema(of({ a: { [word]: true } })).strange, [RegExp(`^/properties/a/${word} is not`)], word)
  for (const word of ['x-sensor', 'x-secret', 'x-enum-names', 'x-sense', 'x-sensitivity']) t.strictSame(prepareSchema(of({ a: { [word]: true } })).strange, [], word)
})

t.test('a keyword that nobody knows is told with its place, unless it begins with x-', async t => {
  const { strange, schema } = prepareSchema(of({ a: { type: 'string', minLenght: 3, 'x-mcp-header': 'A' } }, { requierd: ['a'] }))
  t.match(strange, [/^\/properties\/a\/minLenght is not a JSON Schema keyword/, /^\/requierd /])
  t.match(schema, { requierd: ['a'], properties: { a: { minLenght: 3, 'x-mcp-header': 'A' } } })
})

t.test('a property may have the name of a keyword', async t => {
  const properties = { type: { type: 'string' }, $ref: { type: 'number' }, $id: {}, $async: {}, required: true, constructor: {} }
  t.same(prepareSchema(of(properties)).schema.properties, properties)
  t.equal(prepareSchema(of({ $id: {} })).named, false)
})

t.test('a schema that names itself or a part is told apart', async t => {
  t.equal(prepareSchema({ $id: 'a', type: 'object' }).named, true)
  t.equal(prepareSchema(of({ a: { $id: 'b' } })).named, true)
})

t.test('a reference inside the schema is left as it is', async t => {
  const targets = ['#', '#/$defs/a', '#/properties/b', '#/$defs/x~1y', '#/$defs/p%20q', '#here', '#there']
  t.strictSame(prepareSchema(of({ r: { $ref: '' } })).schema, of({ r: { $ref: '#' } }), 'the whole, in no characters')
  for (const $ref of targets) {
    const source = of({ b: {}, r: { $ref } }, { $defs: { a: { type: 'string' }, 'x/y': {}, 'p q': {}, h: { $anchor: 'here' }, t: { $dynamicAnchor: 'there' } } })
    t.strictSame(prepareSchema(source).schema, source, $ref)
  }
})

t.test('a reference that leads nowhere is an error that says where it stands', async t => {
  const rows: [string, unknown][] = [
    ['to no member', of({ r: { $ref: '#/$defs/none' } })],
    ['to no anchor', of({ r: { $ref: '#none' } })],
    ['to what is no schema', of({ r: { $ref: '#/title' } }, { title: 'x' })],
    ['past a string', of({ r: { $ref: '#/title/x' } }, { title: 'x' })],
    ['past an inherited member', of({ r: { $ref: '#/constructor' } })],
    ['that is no URI', of({ r: { $ref: '#/%zz' } })],
    ['in a schema with a name', of({ r: { $ref: '#/$defs/none' } }, { $id: 'urn:example:named' })],
    ['to a schema elsewhere', of({ r: { $ref: 'https://example.com/schema.json' } })],
    ['to nowhere in a shared schema', of({ r: { $ref: 'shared#/$defs/none' } })]
  ]
  const shared = (id: string) => id === 'shared' ? { $id: 'shared', type: 'string' } : undefined
  for (const [what, source] of rows) t.match(thrown(() => prepareSchema(source, shared)).message, /^\/properties\/r(\/\$ref)? /, what)
})

t.test('nothing outside is fetched, and the error says so', async t => {
  t.match(thrown(() => prepareSchema(of({ r: { $ref: 'http://127.0.0.1:9/a.json' } }))).message, /addSchema.*never fetched/)
})

const address = { $id: 'address', type: 'object', properties: { zip: { type: 'string' } } }
const sharing = (...schemas: { $id: string }[]) => (id: string) => schemas.find(one => one.$id === id)
/** Compiled with Ajv, what does the schema say of a value? */
const admits = (schema: object, value: unknown) => compile(schema)(value)

t.test('a schema that the app shares is brought into $defs', async t => {
  const { schema, named } = prepareSchema(of({ home: { $ref: 'address#' }, zip: { $ref: 'address#/properties/zip' } }), sharing(address))
  t.strictSame(schema, of({ home: { $ref: '#/$defs/address' }, zip: { $ref: '#/$defs/address/properties/zip' } }, { $defs: { address: { type: 'object', properties: { zip: { type: 'string' } } } } }))
  t.equal(named, false)
})

t.test('shared schemas may refer to one another, and to themselves by name', async t => {
  const person = { $id: 'person', type: 'object', properties: { home: { $ref: 'address#' }, friend: { $ref: 'person#' } } }
  const { schema } = prepareSchema(of({ who: { $ref: 'person#' } }), sharing(address, person))
  t.equal(admits(schema, { who: { home: { zip: '1' }, friend: { friend: {} } } }), true)
  t.equal(admits(schema, { who: { friend: { home: { zip: 1 } } } }), false)
})

t.test('what is brought in means the same there as where it comes from', async t => {
  const rows: [string, object, { $id: string }[], unknown, unknown][] = [
    ['a reference to itself', of({ n: { $ref: 'node#' } }, { required: ['n'] }),
      [{ $id: 'node', type: 'object', properties: { next: { $ref: '#' } } } as any], { n: { next: { next: {} } } }, { n: { next: 5 } }],
    ['a reference of no characters to the whole', of({ n: { $ref: 'node#' } }, { required: ['n'] }),
      [{ $id: 'node', type: 'object', properties: { next: { $ref: '' } } } as any], { n: { next: { next: {} } } }, { n: { next: 5 } }],
    ['a reference to a part of itself', of({ n: { $ref: 'node#' } }),
      [{ $id: 'node', definitions: { zip: { type: 'string' } }, properties: { zip: { $ref: '#/definitions/zip' } } } as any], { n: { zip: '1' } }, { n: { zip: 1 } }],
    ['a name that the schema has in $defs itself', of({ own: { $ref: '#/$defs/address' }, home: { $ref: 'address#' } }, { $defs: { address: { type: 'number' } } }),
      [address], { own: 5, home: { zip: '1' } }, { own: {}, home: {} }],
    ['two names that differ in one sign', of({ a: { $ref: 'x/y#' }, b: { $ref: 'x_y#' } }),
      [{ $id: 'x/y', type: 'string' }, { $id: 'x_y', type: 'number' }] as any, { a: 's', b: 1 }, { a: 1, b: 's' }],
    ['an anchor of the shared schema', of({ a: { $ref: 'anchored#spot' } }),
      [{ $id: 'anchored', $defs: { s: { $anchor: 'spot', type: 'string' } } } as any], { a: 's' }, { a: 1 }]
  ]
  for (const [what, source, shared, good, bad] of rows) {
    t.doesNotThrow(() => {
      const { schema } = prepareSchema(source, sharing(...shared))
      t.strictSame({ good: admits(schema, good), bad: admits(schema, bad) }, { good: true, bad: false }, what)
    }, `${what} can be brought in`)
  }
})

t.test('an error says where and what belongs there', async t => {
  const rows: [unknown, RegExp][] = [
    [null, /^it must be an object, got null/],
    [[], /^it must be an object, got \[\]/],
    [true, /^it must be an object, got true/],
    [of({ a: 5 }), /^\/properties\/a must be a schema .*got 5/],
    [of({ a: { type: 'int' } }), /^\/properties\/a\/type must be one of .*integer.*got "int"/],
    [of({ a: { type: ['string', 'nul'] } }), /^\/properties\/a\/type must be one of/],
    [of({ a: { enum: 'x' } }), /^\/properties\/a\/enum must be an array/],
    [of({ a: { minimum: '1' } }), /^\/properties\/a\/minimum must be a number, got "1"/],
    [of({ a: { minimum: NaN } }), /^\/properties\/a\/minimum must be a number/],
    [of({ a: { multipleOf: 0 } }), /^\/properties\/a\/multipleOf must be a number above 0/],
    [of({ a: { minLength: -1 } }), /^\/properties\/a\/minLength must be an integer of 0 or more/],
    [of({ a: { uniqueItems: 'yes' } }), /^\/properties\/a\/uniqueItems must be true or false/],
    [of({ a: { title: 1 } }), /^\/properties\/a\/title must be a string/],
    [of({ a: { pattern: '(' } }), /^\/properties\/a\/pattern is not a regular expression/],
    [of({ a: { pattern: 1 } }), /^\/properties\/a\/pattern must be a string/],
    [of({}, { required: 'a' }), /^\/required must be an array of strings/],
    [of({}, { required: [1] }), /^\/required must be an array of strings/],
    [{ type: 'object', properties: [] }, /^\/properties must be an object of schemas/],
    [of({}, { allOf: {} }), /^\/allOf must be an array of schemas/],
    [of({}, { allOf: [{}, 3] }), /^\/allOf\/1 must be a schema/],
    [of({}, { $async: true }), /^\/ uses \$async/],
    [of({ a: { $async: true } }), /^\/properties\/a uses \$async/],
    [of({ a: { items: 'x' } }), /^\/properties\/a\/items must be a schema/],
    [of({ a: { title: 'x'.repeat(10), enum: 'y'.repeat(500) } }), /^\/properties\/a\/enum .{0,120}$/],
    [endless, /nested deeper than 100 levels/]
  ]
  for (const [source, message] of rows) {
    t.match(thrown(() => prepareSchema(source)).message, message, String(message))
  }
})

t.test('a format that nobody checks is told with its place and with those that are checked', async t => {
  const { strange } = prepareSchema(of({ a: { format: 'e-mail' }, b: { format: 'email' }, c: { format: 'uuid' } }))
  t.match(strange, [/^\/properties\/a\/format "e-mail" .*\bemail\b/])
  t.equal(strange.length, 1)
})

t.test('what a property depends on is names or a schema', async t => {
  const source = of({ a: {} }, { dependencies: { a: ['b'], b: { type: 'object', items: { title: undefined } } } })
  t.strictSame(prepareSchema(source).schema, of({ a: {} }, { dependencies: { a: ['b'], b: { type: 'object', items: {} } } }))
  t.match(thrown(() => prepareSchema(of({}, { dependencies: { a: { type: 'strin' } } }))).message, /^\/dependencies\/a\/type /)
  t.match(thrown(() => prepareSchema(of({}, { dependencies: { a: 'b' } }))).message, /^\/dependencies\/a /)
})

t.test('what Ajv or the meta-schema refuses is refused at once, not at the first call', async t => {
  const rows: [string, unknown, RegExp][] = [
    ['a type of nothing', of({ a: { type: [] } }), /^\/properties\/a\/type /],
    ['an enum of nothing', of({ a: { enum: [] } }), /^\/properties\/a\/enum /],
    ['any of nothing', of({ a: { anyOf: [] } }), /^\/properties\/a\/anyOf /],
    ['a name required twice', of({ a: {} }, { required: ['a', 'a'] }), /^\/required /],
    ['a pattern of names that is none', of({}, { patternProperties: { '(': {} } }), /^\/patternProperties\/\( /],
    ['nullable without a type', of({ a: { nullable: true } }), /^\/properties\/a(\/nullable)? /],
    ['a dynamic reference to elsewhere', of({ a: { $dynamicRef: 'other' } }), /^\/properties\/a(\/\$dynamicRef)? /],
    ['an anchor that is no name', of({ a: { $anchor: '#x' } }), /^\/properties\/a\/\$anchor /],
    ['an anchor that is there twice', of({ a: { $anchor: 'x' }, b: { $dynamicAnchor: 'x' } }), /^\/properties\/b .*"x"/],
    ['an anchor in a keyword of its own', of({}, { 'x-own': [{ $anchor: 'x' }] }), /^\/x-own .*\$anchor/],
    ['an anchor that is no text', of({ a: { $anchor: 5 } }), /^\/properties\/a\/\$anchor /],
    ['names to depend on that are no text', of({}, { dependencies: { a: [1] } }), /^\/dependencies\/a /],
    ['an $id with a fragment', of({ a: { $id: '#/x' } }), /^\/properties\/a\/\$id /]
  ]
  for (const [what, source, message] of rows) t.match(thrown(() => prepareSchema(source)).message, message, what)
})

t.test('a schema of another library is named as such', async t => {
  const zod = Object.create({ '~standard': { vendor: 'zod' } })
  t.match(thrown(() => prepareSchema(zod)).message, /^\/ is a schema of another library; convert it to JSON Schema first/)
  t.match(thrown(() => prepareSchema(of({ a: zod }))).message, /^\/properties\/a is a schema of another library/)
})

t.test('what JSON cannot carry is an error that says where', async t => {
  const rows: [string, unknown, RegExp][] = [
    ['a circle in a default', of({ a: { default: circle } }), /^\/properties\/a\/default /],
    ['a circle in a title', of({ a: { title: circle } }), /^\/properties\/a\/title /],
    ['a bigint in an enum', of({ a: { enum: [1n] } }), /^\/properties\/a\/enum /],
    ['a bigint as minimum', of({ a: { minimum: 1n } }), /^\/properties\/a\/minimum /]
  ]
  for (const [what, source, message] of rows) t.match(thrown(() => prepareSchema(source)).message, message, what)
})

const leaf = fc.oneof(fc.constantFrom<unknown>('string', 'object', [], {}, 1, -1, '', '(', null, true, undefined, '#', '#/a', '#/properties/a', '#/properties', '#here', 'here', '#/%zz', 'http://x', draft07), fc.jsonValue(), fc.bigInt())
const keyword = fc.constantFrom('type', 'properties', 'items', 'anyOf', 'not', 'enum', 'required', 'pattern', '$ref', '$id', '$schema', 'minimum', 'default', 'title', '$defs', '$anchor', 'allOf', 'dependencies', 'dependentSchemas', '$dynamicRef', '$dynamicAnchor', 'x-a', 'tpye')
const { schema: wild } = fc.letrec(tie => ({
  schema: fc.dictionary(keyword, fc.oneof({ depthSize: 'small' }, leaf, tie('schema'), fc.dictionary(fc.oneof(fc.constant('a'), fc.string()), tie('schema'), { maxKeys: 2 }), fc.array(tie('schema'), { maxLength: 2 })), { maxKeys: 4 })
}))

t.test('whatever is read as a schema, what is thrown is an Error that begins with the place', async t => {
  fc.assert(fc.property(fc.oneof(wild, fc.anything()), source => {
    try {
      prepareSchema(source)
      return true
    } catch (error) {
      return error instanceof Error && /^(\/|it must be an object)/.test(error.message)
    }
  }), { numRuns: 500 })
  t.pass('no counterexample')
})

t.test('whatever is taken is a schema by the rules of its dialect, and can be compiled and judge any value', async t => {
  fc.assert(fc.property(wild.filter(one => isDraft07(one) === false), fc.jsonValue(), (source, value) => {
    let schema
    try { ({ schema } = prepareSchema(source)) } catch { return true }
    return typeof compile(schema)(value) === 'boolean'
  }), { numRuns: 2_000 })
  t.pass('no counterexample')
})
