import { Type } from '@sinclair/typebox'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { formOf } from '../lib/form.js'
import { checkAsking, checkQuestions, digestOf, elicit, elicitUrl, questionOf, roots, sample, type Question } from '../lib/question.js'
import type { SampleParams, Schema } from '../types/index.js'
import { thrown } from './support/thrown.js'
import { wait } from './support/time.js'
import { checkDefinition } from './support/wire.js'

const Form = Type.Object({
  name: Type.String({ minLength: 2 }),
  age: Type.Optional(Type.Integer({ minimum: 0 })),
  role: Type.Union([Type.Literal('user'), Type.Literal('admin')], { default: 'user' })
})
const asForm = (message = 'Who?', schema: unknown = Form) => elicit(message, schema as Schema) as unknown as Question
const asPage = (message = 'Pay', url = 'https://a.example/pay') => elicitUrl(message, url) as unknown as Question
const asModel = (params: SampleParams | string = 'Hi') => sample(params) as unknown as Question
const asRoots = () => roots() as unknown as Question
const accept = (content?: unknown) => ({ action: 'accept', ...(content === undefined ? {} : { content }) })
const right = (question: Question, answer: unknown) => question.check(answer) === undefined

t.test('each question in the words of the newest revision', async t => {
  t.match(asForm(), { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object', required: ['name', 'role'] } }, needs: { elicitation: { form: {} } } })
  t.strictSame(asPage().params, { mode: 'url', message: 'Pay', url: 'https://a.example/pay' })
  t.match(asPage(), { method: 'elicitation/create', needs: { elicitation: { url: {} } } })
  t.strictSame(asModel().params, { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 1000 })
  t.match(asModel(), { method: 'sampling/createMessage', needs: { sampling: {} } })
  t.match(asRoots(), { method: 'roots/list', params: {}, needs: { roots: {} } })
  for (const question of [asForm(), asPage(), asModel(), asRoots()]) {
    const { method, params } = question
    t.strictSame(checkDefinition('2026-07-28', 'InputRequests', { key: { method, params } }), [], method)
  }
})

t.test('a conversation for the model goes as it is', async t => {
  const params: SampleParams = {
    messages: [{ role: 'user', content: { type: 'text', text: 'a' } }, { role: 'assistant', content: { type: 'text', text: 'b' } }],
    maxTokens: 5,
    systemPrompt: 's',
    temperature: 0.5,
    stopSequences: ['x'],
    modelPreferences: { hints: [{ name: 'm' }], costPriority: 0.3 },
    metadata: { user: 'u' }
  }
  const question = asModel(params)
  t.strictSame(question.params, params)
  t.not(question.params, params, 'a copy')
})

t.test('tools in sampling need their own capability', async t => {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'a' } }]
  const tools = [{ name: 'x', inputSchema: { type: 'object' } }]
  t.strictSame(asModel({ messages, maxTokens: 5, tools }).needs, { sampling: { tools: {} } })
  t.strictSame(asModel({ messages, maxTokens: 5, tools, toolChoice: { mode: 'none' } }).needs, { sampling: { tools: {} } })
  t.strictSame(asModel({ messages, maxTokens: 5, tools: undefined }).needs, { sampling: {} })
})

t.test('so does a choice of tools (2025-11-25 schema, CreateMessageRequestParams)', async t => {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'a' } }]
  t.strictSame(asModel({ messages, maxTokens: 5, toolChoice: { mode: 'none' } }).needs, { sampling: { tools: {} } })
})

t.test('a page needs a valid URL, which is sent in its canonical form', async t => {
  t.equal(asPage('x', 'HTTPS://A.example').params.url, 'https://a.example/')
  for (const url of ['', 'nope', '/relative', 'https://']) t.match(thrown(() => asPage('x', url)), { code: 'MCP_ERR_INPUT', message: /absolute URL/ }, url)
})

t.test('an answer to a form must be an action, and what was filled in must fit', async t => {
  const question = asForm()
  const good = [accept({ name: 'Ada', role: 'admin' }), accept({ name: 'Ada', age: 0, role: 'user' }), { action: 'decline' }, { action: 'cancel' }, { action: 'decline', content: null }, { action: 'cancel', content: { name: 7 } }]
  for (const answer of good) t.equal(question.check(answer), undefined, JSON.stringify(answer))
  const bad = [undefined, null, 'accept', [], {}, { action: 'yes' }, { action: 'Accept' }, { content: { name: 'Ada', role: 'user' } }, accept({}), accept({ name: 'A', role: 'user' }), accept({ name: 7, role: 'user' }), accept({ name: 'Ada', age: '7', role: 'user' }), accept({ name: 'Ada', role: 'root' }), accept([]), accept('x'), accept(7)]
  for (const answer of bad) t.type(question.check(structuredClone(answer)), 'string', JSON.stringify(answer))
})

t.test('what is wrong with an answer is said with its place', async t => {
  const question = asForm()
  t.match(question.check({ action: 'maybe' }), /action must be one of accept, decline, cancel/)
  t.match(question.check(accept({ age: -1, role: 'x' })), /\/name is required/)
  t.match(question.check(accept({ name: 'Ada', age: -1, role: 'x' })), /\/age.*-1/)
  t.match(question.check(accept({ name: 'Ada', age: -1, role: 'x' })), /\/role.*"user", "admin"/)
})

t.test('nothing is coerced', async t => {
  const question = asForm('x', Type.Object({ yes: Type.Boolean(), n: Type.Number() }))
  for (const content of [{ yes: 'true', n: 1 }, { yes: 1, n: 1 }, { yes: true, n: '1' }, { yes: true, n: null }]) t.notOk(right(question, accept(content)), JSON.stringify(content))
})

t.test('the handler gets what was filled in, with the defaults of what was left out', async t => {
  const question = asForm()
  const answer = accept({ name: 'Ada' })
  t.equal(question.check(answer), undefined)
  t.strictSame(question.read(answer), { action: 'accept', content: { name: 'Ada', role: 'user' } })
  t.strictSame(question.read({ action: 'decline', content: { name: 'x' } }), { action: 'decline' }, 'and nothing of what was not agreed to')
  t.strictSame(question.read({ action: 'cancel' }), { action: 'cancel' })
})

t.test('an agreement without content is one to a form that needs none', async t => {
  const confirm = asForm('Sure?', Type.Object({}))
  t.equal(confirm.check(accept()), undefined)
  t.strictSame(confirm.read(accept()), { action: 'accept', content: {} })
  t.notOk(right(asForm(), accept()), 'else something is missing')
})

t.test('defaults are there when the client sends no content at all', async t => {
  const question = asForm('Sure?', Type.Object({ copies: Type.Integer({ default: 1 }) }))
  for (const answer of [accept(), accept(null)]) {
    t.equal(question.check(answer), undefined)
    t.strictSame(question.read(answer), { action: 'accept', content: { copies: 1 } })
  }
})

t.test('an answer to a page has an action alone', async t => {
  const question = asPage()
  for (const action of ['accept', 'decline', 'cancel']) {
    t.equal(question.check({ action }), undefined)
    t.strictSame(question.read({ action, content: { a: 1 } }), { action })
  }
  for (const answer of [undefined, null, {}, { action: 'opened' }]) t.notOk(right(question, answer))
})

t.test('an answer of a model', async t => {
  const question = asModel()
  const said = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm', stopReason: 'endTurn' }
  t.equal(question.check(said), undefined)
  t.equal(question.read(said), said)
  t.equal(question.check({ ...said, content: [{ type: 'tool_use', id: '1', name: 'x', input: {} }] }), undefined, 'of several blocks')
  const block = (one: object) => ({ ...said, content: one })
  const bad = [
    undefined, null, 'Paris', {}, { ...said, role: 1 }, { ...said, role: 'banana' }, { ...said, model: undefined }, { ...said, content: 'Paris' }, { ...said, content: null },
    block({}), block({ type: 'text' }), block({ type: 'text', text: 5 }), block({ type: 'video' }), block({ type: 'image', data: 'AA==' }), block([{ type: 'text' }])
  ]
  for (const answer of bad) t.type(question.check(answer), 'string', JSON.stringify(answer))
  for (const answer of [block({ type: 'image', data: 'AA==', mimeType: 'image/png', more: 1 }), block([])]) t.equal(question.check(answer), undefined)
})

t.test('an answer with roots', async t => {
  const question = asRoots()
  const list = [{ uri: 'file:///a', name: 'A' }, { uri: 'file:///b' }]
  t.equal(question.check({ roots: list }), undefined)
  t.strictSame(question.read({ roots: list }), list)
  t.equal(question.check({ roots: [] }), undefined)
  for (const answer of [undefined, null, list, {}, { roots: {} }, { roots: ['file:///a'] }, { roots: [null] }, { roots: [{ name: 'A' }] }, { roots: [{ uri: 'https://a.example' }] }, { roots: [{ uri: '' }] }, { roots: [{ uri: 'file:///a', name: 7 }] }]) {
    t.type(question.check(answer), 'string', JSON.stringify(answer))
  }
})

t.test('a question is known again by what it asks', async t => {
  const different = [
    asForm(), asForm('Whom?'), asForm('Who?', Type.Object({ name: Type.String() })), asForm('Who?', Type.Object({ name: Type.String({ title: 'T' }) })),
    asPage(), asPage('Pay', 'https://a.example/pay?x'), asPage('Pay!'), asModel(), asModel('Ho'), asModel({ messages: [], maxTokens: 1 }), asRoots()
  ]
  t.equal(new Set(different.map(digestOf)).size, different.length)
  t.equal(digestOf(asForm()), digestOf(asForm('Who?', structuredClone(Form))), 'whichever object it comes from')
  for (const one of different) t.match(digestOf(one), /^[\w-]{16}$/)
})

t.test('a question is made again of what was sent', async t => {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'a' } }]
  const choices = Type.Object({
    one: Type.Union([Type.Literal('a', { title: 'A' }), Type.Literal('b')]),
    some: Type.Array(Type.Union([Type.Literal('a', { title: 'A' }), Type.Literal('b', { title: 'B' })])),
    plain: Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')]), { default: ['a'] })
  })
  for (const question of [asForm(), asForm('x', choices), asForm('x', Type.Object({})), asPage(), asModel(), asModel({ messages, maxTokens: 5, tools: [{ name: 'x' }] }), asRoots()]) {
    const again = questionOf(question.method, JSON.parse(JSON.stringify(question.params)))
    t.equal(digestOf(again), digestOf(question), question.method)
    t.strictSame(again.needs, question.needs)
  }
  const again = questionOf('elicitation/create', asForm().params)
  t.notOk(right(again, accept({ name: 'A' })), 'and checks answers as before')
  t.ok(right(again, accept({ name: 'Ada' })))
})

t.test('a schema that no form can show is an error of the author', async t => {
  t.match(thrown(() => asForm('x', Type.Object({ a: Type.Object({}) }))), { code: 'MCP_ERR_INPUT_SCHEMA', message: /"a"/ })
})

t.test('forms that are made anew for each call, as they are where they stand in a handler, leave nothing behind', async t => {
  const made: Array<WeakRef<object>> = []
  for (let i = 0; i < 200; i++) {
    const schema = Type.Object({ [`name${i}`]: Type.String() })
    t.equal(asForm('Who?', schema).check(accept({ [`name${i}`]: 'Ada' })), undefined)
    made.push(new WeakRef(formOf(schema as Schema).validated))
  }
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 5; i++) {
    await wait(20)
    collect()
  }
  const left = made.filter(one => one.deref() !== undefined).length
  t.ok(left < made.length / 10, `${left} of ${made.length} compiled forms are still there`)
})

t.test('what is no question is refused before anybody is asked', async t => {
  const message = { role: 'user', content: { type: 'text', text: 'a' } }
  const rows: [() => unknown, RegExp][] = [
    [() => elicitUrl('Pay', 'nope'), /elicitUrl\(\) needs an absolute URL.*got "nope"/],
    [() => elicitUrl('Pay', undefined as never), /absolute URL/],
    [() => elicitUrl(5 as never, 'https://a.example'), /the message to the user must be a string, got number/],
    [() => elicit(undefined as never, Form), /the message to the user must be a string/],
    [() => sample({ messages: [] } as never), /sample\(\) needs maxTokens/],
    [() => sample({} as never), /sample\(\) needs messages/],
    [() => sample({ messages: 'x', maxTokens: 1 } as never), /sample\(\) needs messages/],
    [() => sample({ messages: [message] } as never), /sample\(\) needs maxTokens.*got undefined/],
    [() => sample({ messages: [message], maxTokens: 0 } as never), /maxTokens/],
    [() => checkQuestions({ a: roots(), b: 5 }), /"b" is no question; make it with elicit/],
    [() => checkQuestions({ a: { method: 'roots/list' } }), /"a" is no question/],
    [() => checkQuestions([roots()]), /object of questions/],
    [() => checkAsking({ singleuse: true }), /singleuse is not a known property of its options; known: singleUse$/]
  ]
  for (const [ask, sentence] of rows) t.match(thrown(ask), { code: 'MCP_ERR_INPUT', message: sentence })
  t.doesNotThrow(() => checkQuestions({ a: asForm(), b: asPage(), c: asModel(), d: asRoots() }))
  for (const options of [{}, { singleUse: undefined }, { singleUse: true }]) t.doesNotThrow(() => checkAsking(options))
})
