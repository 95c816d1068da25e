// What a schema marks is for the handler alone, however wrongly a client sends it.
import { Type } from '@sinclair/typebox'
import t from 'tap'
import mcpPlugin from '../../lib/index.js'
import { build, defineTool } from '../support/app.js'
import { legacy, modern } from '../support/http.js'
import { stdio } from '../support/stdio.js'

const { definePrompt } = mcpPlugin
const marked = { 'x-sensitive': true }
const tools = [
  defineTool({
    name: 'login',
    inputSchema: Type.Object({
      user: Type.String({ maxLength: 5 }),
      password: Type.String({ minLength: 20, ...marked }),
      keys: Type.Optional(Type.Array(Type.String(marked))),
      deep: Type.Optional(Type.Object({ pin: Type.String(marked) }, { additionalProperties: false }))
    }, { additionalProperties: false }),
    handler: () => 'in'
  }),
  defineTool({ name: 'route', inputSchema: Type.Object({ region: Type.Optional(Type.String({ 'x-mcp-header': 'Region', ...marked })) }), handler: () => 'there' })
]
const prompts = [definePrompt({ name: 'unlock', argsSchema: Type.Object({ code: Type.String({ maxLength: 3, ...marked }) }), complete: { code: ['a'] }, handler: () => 'open' })]

const wrong: [string, Record<string, unknown>][] = [
  ['tools/call', { name: 'login', arguments: '{"password":"hunter2"}' }],
  ['tools/call', { name: 'login', arguments: ['hunter2'] }],
  ['tools/call', { name: 'login', arguments: { user: 'ada', password: 'hunter2' } }],
  ['tools/call', { name: 'login', arguments: { user: 'hunter2', password: ['hunter2'], keys: 'hunter2', deep: { P: 'hunter2' } } }],
  ['tools/call', { name: 'login', arguments: { user: 'ada', deep: { hunter2: 1 }, hunter2: 1 } }],
  ['prompts/get', { name: 'unlock', arguments: 'hunter2' }],
  ['prompts/get', { name: 'unlock', arguments: ['hunter2'] }],
  ['prompts/get', { name: 'unlock', arguments: { code: 'hunter2' } }],
  ['prompts/get', { name: 'unlock', arguments: { code: ['hunter2'] } }],
  ['prompts/get', { name: 'unlock', arguments: { code: 'abc', hunter2: 1 } }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'unlock' }, argument: { name: 'code', value: ['hunter2'] } }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'unlock' }, argument: 'hunter2' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'unlock' }, argument: { name: { hunter2: 1 }, value: 'a' } }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'unlock' }, argument: { name: 'code', value: 'a' }, context: 'hunter2' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'unlock' }, argument: { name: 'code', value: 'a' }, context: { arguments: { hunter2: ['hunter2'] } } }]
]

t.test('no answer, no hook and no line of the log repeats it', async t => {
  const { app, url, log } = await build(t, { bare: true, options: { tools, prompts } })
  const heard: unknown[] = []
  for (const name of ['onCall', 'onResult', 'onError'] as const) app.mcp.addHook(name, (({ request, ...event }: { request?: unknown }) => { heard.push(event) }) as never)
  const clients = [...await Promise.all((['2025-03-26', '2025-06-18', '2025-11-25'] as const).map(version => legacy(url, version, { t }))), modern(url, { t }), await stdio(app, '2025-11-25', { t })]
  for (const client of clients) {
    for (const [method, params] of wrong) {
      const { result, error } = await client.request(method, params)
      const title = `${client.dialect.revision} ${method} ${JSON.stringify(params.arguments ?? params)}`
      t.ok(error !== undefined || result?.isError === true, title)
      t.notMatch(JSON.stringify(result ?? error), 'hunter2', title)
      t.match(error?.message ?? result.content[0].text, /must|known property|required/, `${title}: it says what is wrong`)
    }
  }
  t.ok(heard.length >= clients.length * 10)
  t.notMatch(JSON.stringify(heard), 'hunter2')
  t.notMatch(JSON.stringify(log), 'hunter2')
})

t.test('nor does that of a header which repeats an argument', async t => {
  const { url, log } = await build(t, { bare: true, options: { tools } })
  t.match(log.filter(({ level }) => level === 40), [{ msg: /"route": the header Mcp-Param-Region repeats what x-sensitive marks/ }])
  const client = modern(url, { t })
  const rows: [unknown, string | undefined, RegExp][] = [
    ['hunter2', 'hunter3', /: Mcp-Param-Region is not what the body says$/],
    ['hunter2', undefined, /: Mcp-Param-Region is missing; the body has a value for it$/],
    [undefined, 'hunter3', /: Mcp-Param-Region is there, but the body has no such value$/]
  ]
  for (const [region, header, message] of rows) {
    const { error } = await client.request('tools/call', { name: 'route', arguments: { region } }, { headers: header === undefined ? {} : { 'Mcp-Param-Region': header } })
    t.match(error, { code: -32020, message })
  }
})
