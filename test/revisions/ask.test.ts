import { Type, type TSchema } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { elicit, elicitUrl, roots, sample, type Question } from '../../lib/question.js'
import { asked } from '../../lib/revisions/ask.js'
import type { Revision as Version, SampleParams, Schema } from '../../types/index.js'
import { revisionOf } from '../support/doubles.js'
import { checkDefinition, checkWire } from '../support/wire.js'

const handshakes: Version[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const all: Version[] = [...handshakes, '2026-07-28']
const from = (version: Version) => all.filter(one => one >= version)
const before = (version: Version) => all.filter(one => one < version)

const form = (properties: Record<string, TSchema>) => elicit('Who?', Type.Object(properties) as Schema) as unknown as Question
const page = elicitUrl('Pay', 'https://a.example/pay') as unknown as Question
const model = (params: SampleParams | string) => sample(params) as unknown as Question
const where = roots() as unknown as Question
const says = (...content: any[]): SampleParams => ({ messages: content.map(one => ({ role: 'user', content: one })), maxTokens: 5 })
const raw = (schema: object) => Type.Unsafe(schema as never)

const put = (version: Version, { method, params }: Question) => asked(revisionOf(version).ask, method, params, 'call-1')

/** What goes out; it must be valid by the schema of the revision. */
function sent (t: Test, version: Version, question: Question): any {
  const before = JSON.stringify(question.params)
  const params = put(version, question)
  if (typeof params === 'string') return t.fail(`${version}: ${params}`)
  const { method } = question
  if (version === '2026-07-28') t.strictSame(checkDefinition(version, 'InputRequests', { key: { method, params } }), [], version)
  else t.strictSame(checkWire(version, { jsonrpc: '2.0', id: 'a', method, params }), [], version)
  t.equal(JSON.stringify(question.params), before, 'the question itself is not changed')
  return params
}

function refused (t: Test, version: Version, question: Question, why: RegExp) {
  const said = put(version, question)
  t.type(said, 'string', version)
  t.match(said, why, version)
}

t.test('questions are requests of our own up to 2025-11-25, and results from then on', async t => {
  t.strictSame(all.map(version => revisionOf(version).ask.as), ['request', 'request', 'request', 'request', 'result'])
})

t.test('roots can be asked for in all of them', async t => {
  for (const version of all) t.strictSame(sent(t, version, where), {})
})

t.test('so can a model, with text', async t => {
  for (const version of all) {
    t.strictSame(sent(t, version, model('Hi')), { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 1000 })
    const more: SampleParams = { ...says({ type: 'text', text: 'a' }), systemPrompt: 's', temperature: 0, stopSequences: ['x'], modelPreferences: { speedPriority: 1 }, metadata: {} }
    t.strictSame(sent(t, version, model(more)), more)
  }
})

const picture = { type: 'image', data: 'aa==', mimeType: 'image/png' }
const sound = { type: 'audio', data: 'aa==', mimeType: 'audio/wav' }

t.test('a picture goes to all, sound from 2025-03-26 on', async t => {
  for (const version of all) sent(t, version, model(says(picture)))
  for (const version of from('2025-03-26')) sent(t, version, model(says(sound, picture)))
  for (const version of before('2025-03-26')) refused(t, version, model(says({ type: 'text', text: 'a' }, sound)), /no audio/)
})

t.test('several blocks in a message, and tools, from 2025-11-25 on', async t => {
  const blocks = model(says([{ type: 'text', text: 'a' }, picture]))
  const text = { type: 'text', text: 'a' }
  const tools = model({ ...says(text), tools: [{ name: 'x', inputSchema: { type: 'object' } }], toolChoice: { mode: 'auto' } })
  const use = model(says({ type: 'tool_use', id: '1', name: 'x', input: {} }, { type: 'tool_result', toolUseId: '1', content: [text] }))
  for (const version of from('2025-11-25')) for (const question of [blocks, tools, use]) sent(t, version, question)
  for (const version of before('2025-11-25')) {
    refused(t, version, blocks, /one block/)
    refused(t, version, tools, /no tools/)
    refused(t, version, model({ ...says(text), toolChoice: { mode: 'none' } }), /no tools/)
    refused(t, version, use, /no tool_use/)
  }
})

t.test('forms came with 2025-06-18', async t => {
  for (const version of from('2025-06-18')) {
    const params = sent(t, version, form({ name: Type.String({ title: 'N', minLength: 1, maxLength: 9, format: 'email' }), age: Type.Optional(Type.Integer({ minimum: 0 })), ok: Type.Boolean({ default: true }) }))
    t.strictSame(params, {
      message: 'Who?',
      requestedSchema: {
        type: 'object',
        properties: { name: { type: 'string', title: 'N', minLength: 1, maxLength: 9, format: 'email' }, age: { type: 'integer', minimum: 0 }, ok: { type: 'boolean', default: true } },
        required: ['name', 'ok']
      }
    })
    t.strictSame(sent(t, version, form({})).requestedSchema, { type: 'object', properties: {} })
  }
  for (const version of before('2025-06-18')) refused(t, version, form({ name: Type.String() }), /no elicitation.*2025-06-18/)
})

const field = (t: Test, version: Version, schema: TSchema) => sent(t, version, form({ field: schema })).requestedSchema.properties.field

t.test('defaults of all fields from 2025-11-25 on; before, those of booleans', async t => {
  const fields: Array<[TSchema, object]> = [
    [Type.String({ default: 'x' }), { type: 'string' }],
    [Type.Integer({ default: 1 }), { type: 'integer' }],
    [Type.Number({ default: 0 }), { type: 'number' }],
    [raw({ type: 'string', enum: ['a'], default: 'a' }), { type: 'string', enum: ['a'] }]
  ]
  for (const [schema, plain] of fields) {
    t.strictSame(field(t, '2025-06-18', schema), plain)
    for (const version of from('2025-11-25')) t.strictSame(field(t, version, schema), { ...plain, default: schema.default })
  }
  for (const version of from('2025-06-18')) t.strictSame(field(t, version, Type.Boolean({ default: false })), { type: 'boolean', default: false })
})

t.test('a choice of one, with and without titles', async t => {
  const plain = Type.Union([Type.Literal('a'), Type.Literal('b')])
  const titled = Type.Union([Type.Literal('a', { title: 'A' }), Type.Literal('b', { title: 'B' })], { title: 'T', description: 'D' })
  const old = raw({ type: 'string', enum: ['a'], enumNames: ['A'] })
  for (const version of from('2025-06-18')) {
    t.strictSame(field(t, version, plain), { type: 'string', enum: ['a', 'b'] })
    t.strictSame(field(t, version, old), { type: 'string', enum: ['a'], enumNames: ['A'] })
  }
  t.strictSame(field(t, '2025-06-18', titled), { type: 'string', title: 'T', description: 'D', enum: ['a', 'b'], enumNames: ['A', 'B'] })
  for (const version of from('2025-11-25')) {
    t.strictSame(field(t, version, titled), { type: 'string', title: 'T', description: 'D', oneOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] })
  }
})

t.test('a choice whose values have no titles is an enumeration by the schema of each revision', async t => {
  for (const version of from('2025-06-18')) {
    const shown = JSON.parse(JSON.stringify(field(t, version, raw({ type: 'string', oneOf: [{ const: 'a' }, { const: 'b' }] }))))
    t.strictSame(checkDefinition(version, 'EnumSchema', shown), [], version)
  }
})

t.test('a choice of several came with 2025-11-25', async t => {
  const plain = Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')]), { minItems: 1, default: ['a'] })
  const titled = Type.Array(Type.Union([Type.Literal('a', { title: 'A' }), Type.Literal('b', { title: 'B' })]))
  for (const version of from('2025-11-25')) {
    t.strictSame(field(t, version, plain), { type: 'array', minItems: 1, default: ['a'], items: { type: 'string', enum: ['a', 'b'] } })
    t.strictSame(field(t, version, titled), { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] } })
  }
  refused(t, '2025-06-18', form({ fine: Type.String(), tags: plain }), /choice of several.*"tags"/)
})

t.test('pages came with 2025-11-25, and have an id in that one alone', async t => {
  t.strictSame(sent(t, '2025-11-25', page), { mode: 'url', message: 'Pay', url: 'https://a.example/pay', elicitationId: 'call-1' })
  t.strictSame(sent(t, '2026-07-28', page), { mode: 'url', message: 'Pay', url: 'https://a.example/pay' })
  for (const version of before('2025-11-25')) refused(t, version, page, /no pages.*2025-11-25/)
})
