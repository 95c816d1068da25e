import { Type } from '@sinclair/typebox'
import t from 'tap'
import { user } from '../../lib/content.js'
import { entryOf, resultOf } from '../../lib/features/prompt.js'
import type { Prompt } from '../../types/index.js'
import { appOf } from '../support/server.js'
import { thrown } from '../support/thrown.js'

const options = { validator: undefined, started: false }
const handler = () => 'ok'
const definition = (more: object = {}): Prompt => ({ name: 'p', handler, ...more }) as unknown as Prompt

t.test('what a list shows is what the author said, and the arguments of the schema', async t => {
  const app = appOf(t)
  const said = { title: 'P', description: 'd', icons: [{ src: 'a:b' }], _meta: { x: 1 } }
  const argsSchema = Type.Object({
    who: Type.String({ title: 'Who', description: 'Who is greeted' }),
    tone: Type.Optional(Type.String()),
    lang: Type.String({ default: 'en' })
  })
  const entry = entryOf(definition({ ...said, argsSchema, complete: { tone: ['a'] } }), app, options)
  t.strictSame(entry.listed, {
    name: 'p',
    ...said,
    arguments: [{ name: 'who', title: 'Who', description: 'Who is greeted', required: true }, { name: 'tone', required: false }, { name: 'lang', required: false }]
  })
  t.match(entry, { name: 'p', app, handler, description: 'd' })
  t.strictSame([...entry.complete], [['tone', ['a']]])
  t.match(entry.check?.({}), /\/who is required/)
  const bare = entryOf(definition({ complete: { any: [] } }), app, options)
  t.strictSame(bare.listed, { name: 'p' })
  t.strictSame([bare.check({ any: 'x' }), bare.check({ any: 'x', other: 7 })], [undefined, '/other must be string'])
})

t.test('a definition that cannot work is refused, with the reason', async t => {
  const app = appOf(t)
  const rows: [Prompt, string, RegExp][] = [
    [definition({ name: '' }), 'MCP_ERR_PROMPT_NAME', /""/],
    [definition({ name: 7 }), 'MCP_ERR_PROMPT_NAME', /7/],
    [definition({ name: undefined }), 'MCP_ERR_PROMPT_NAME', /nothing/],
    [null as unknown as Prompt, 'MCP_ERR_PROMPT_DEFINITION', /"null": it must be an object, as definePrompt makes it/],
    [definition({ description: 3 }), 'MCP_ERR_PROMPT_DEFINITION', /"p": \/description must be string, got number 3/],
    [definition({ icons: [{ src: 3 }] }), 'MCP_ERR_PROMPT_DEFINITION', /"p": \/icons\/0\/src must be string/],
    [definition({ _meta: { big: 1n } }), 'MCP_ERR_PROMPT_DEFINITION', /BigInt/],
    [definition({ handler: undefined }), 'MCP_ERR_PROMPT_DEFINITION', /"p": handler must be a function, got undefined/],
    [definition({ argsSchema: Type.Object({ n: Type.Number() }) }), 'MCP_ERR_PROMPT_SCHEMA', /"p".*\/properties\/n must be a string/],
    [definition({ argsSchema: 'x' }), 'MCP_ERR_PROMPT_SCHEMA', /it must be an object/],
    [definition({ argsSchema: Type.Object({}), complete: { a: [] } }), 'MCP_ERR_PROMPT_DEFINITION', /nothing to complete/],
    [definition({ complete: { a: 7 } }), 'MCP_ERR_PROMPT_DEFINITION', /complete\.a must be/]
  ]
  for (const [one, code, message] of rows) t.match(thrown(() => entryOf(one, app, options)), { code, message })
})

t.test('each form that a handler may give becomes messages', async t => {
  const entry = entryOf(definition({ description: 'd' }), appOf(t), options)
  const hello = user('hello')
  const answer = { role: 'assistant', content: { type: 'image', data: '', mimeType: 'image/png' } }
  t.strictSame(resultOf(entry, 'hello'), { description: 'd', messages: [hello] })
  t.strictSame(resultOf(entry, ''), { description: 'd', messages: [user('')] })
  t.strictSame(resultOf(entry, answer), { description: 'd', messages: [answer] })
  t.strictSame(resultOf(entry, [hello, answer]), { description: 'd', messages: [hello, answer] })
  t.strictSame(resultOf(entry, []), { description: 'd', messages: [] })
  t.strictSame(resultOf(entry, { messages: [hello], description: 'own', _meta: { x: 1 } }), { description: 'own', messages: [hello], _meta: { x: 1 } })
  t.match(resultOf(entry, { messages: [hello] }), { description: 'd', _meta: undefined })
})

t.test('anything else is an error that says what it should have been', async t => {
  const entry = entryOf(definition(), appOf(t), options)
  const bad = [undefined, null, 7, {}, ['hello'], [null], { role: 'system', content: { type: 'text' } }, { role: 'user', content: 'hello' }, { role: 'user', content: {} }, { role: 'user' }, { messages: ['hello'] }, { messages: 'hello' }]
  for (const value of bad) t.match(thrown(() => resultOf(entry, value)), { name: 'TypeError', message: /prompt "p" must return a string, a message/ }, JSON.stringify(value))
})

t.test('what no client could read is an error that names the place', async t => {
  const entry = entryOf(definition(), appOf(t), options)
  const rows: [unknown, RegExp][] = [
    [{ role: 'user', content: { type: 'img' } }, /content\.type must be one of text/],
    [{ role: 'user', content: { type: 'text' } }, /content\.text must be a string, got nothing/],
    [{ messages: [], description: 5 }, /\/description must be string/],
    [{ messages: [], _meta: 5 }, /\/_meta must be object/]
  ]
  for (const [value, message] of rows) t.match(thrown(() => resultOf(entry, value)), { name: 'TypeError', message: RegExp(`prompt "p" returned what no client could read: ${message.source}`) }, JSON.stringify(value))
})

t.test('arguments that are marked can be hidden', async t => {
  const app = appOf(t)
  const argsSchema = Type.Object({ who: Type.String(), key: Type.String({ 'x-sensitive': true }) })
  t.strictSame(entryOf(definition({ argsSchema }), app, options).redact?.({ who: 'ada', key: 'hunter2' }), { who: 'ada', key: '[redacted]' })
  t.strictSame([entryOf(definition(), app, options).redact, entryOf(definition({ argsSchema: Type.Object({ who: Type.String() }) }), app, options).redact], [undefined, undefined])
  t.match(thrown(() => entryOf(definition({ argsSchema: Type.Object({ key: Type.String({ 'x-sensitive': 1 }) }) }), app, options)), { code: 'MCP_ERR_PROMPT_SCHEMA', message: /x-sensitive must be true or false, got 1/ })
})
