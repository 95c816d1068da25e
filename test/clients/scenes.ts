// What each client is asked by the fixture, and the text that it gets in the end, the same for all of them.
import type { Test } from 'tap'
import { everything, fields, makes, Person, said, start, textOf, type Asker } from './askers.js'

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/

interface Scene { tool: string, args?: Record<string, unknown>, expected: string | ((t: Test, text: string) => void), asks: number, fields?: Record<string, unknown> }

const defaults = { name: 'John Doe', age: 30, score: 95.5, status: 'active', verified: true }
const scenes: Scene[] = [
  { tool: 'ask_name', expected: 'Hello, Ada!', asks: 1 },
  {
    tool: 'ask_twice',
    asks: 2,
    expected (t, text) {
      const [first, second, token] = text.split('/')
      t.strictSame([first, second], ['one', 'two'])
      t.match(token, uuid)
    }
  },
  { tool: 'ask_model', args: { prompt: 'Hi' }, expected: 'You said: Hi', asks: 1 },
  { tool: 'ask_roots', expected: '["file:///home/ada","file:///srv"]', asks: 1 },
  { tool: 'test_sampling', args: { prompt: 'Grüße' }, expected: 'The model says: You said: Grüße', asks: 1 },
  { tool: 'test_elicitation', args: { message: 'Who are you?' }, expected: 'accept: {"username":"ada","email":"ada@example.com"}', asks: 1 },
  { tool: 'test_elicitation_sep1034_defaults', expected: `accept: ${JSON.stringify(defaults)}`, asks: 1, fields: {} },
  { tool: 'test_elicitation_sep1330_enums', expected: 'accept: {"untitledSingle":"option2","titledSingle":"value1","legacyEnum":"option3","untitledMulti":["option1","option3"],"titledMulti":["value2"]}', asks: 1 },
  { tool: 'test_input_required_result_multi_round', expected: 'Ada red', asks: 2 },
  { tool: 'test_input_required_result_request_state', expected: 'state-ok', asks: 1 },
  {
    tool: 'test_input_required_result_multiple_inputs',
    asks: 3,
    expected: (t, text) => t.match(JSON.parse(text), { user_name: { action: 'accept', content: { name: 'Ada' } }, capital: said('You said: What is the capital of France?'), roots: [{ uri: 'file:///home/ada' }, {}] })
  },
  { tool: 'test_input_required_result_capabilities', expected: (t, text) => t.strictSame(Object.keys(JSON.parse(text)).sort(), ['capital', 'roots', 'user_name']), asks: 3 }
]

/** All scenes with each client that speaks over this transport. */
export async function playAll (t: Test, over: 'http' | 'stdio') {
  const served = await start(t, 'fixture/server.js')
  for (const [title, make] of makes.filter(([title]) => title.endsWith(over))) {
    await t.test(title, async t => {
      const person = new Person()
      const client = await make(t, served, everything, person.answer)
      for (const scene of scenes) await t.test(scene.tool, t => play(t, client, person, scene))

      await t.test('no, and no answer', async t => {
        for (const [action, text] of [['decline', 'declined'], ['cancel', 'cancelled']] as const) {
          person.now = () => ({ action })
          t.equal(textOf(await client.call('ask_name')), text)
        }
      })

      await t.test('somebody who refuses', async t => {
        person.now = () => { throw new Error('not today') }
        t.match(await client.call('ask_model', { prompt: 'Hi' }).then(textOf, error => String(error.message)), 'not today')
      })

      await t.test('a payment is made once', async t => {
        person.now = undefined
        const before = Number(textOf(await client.call('payments')))
        t.match(textOf(await client.call('pay', { amount: 5 })), /^paid 5 by /)
        t.equal(Number(textOf(await client.call('payments'))), before + 1)
      })

      await t.test('a client that cannot be asked', async t => {
        const client = await make(t, served, {}, () => t.fail('asked'))
        await refused(t, client, 'ask_name', 'elicitation')
        await refused(t, client, 'ask_roots', 'roots')
        t.match(textOf(await client.call('payments')), /^\d+$/, 'is served otherwise')
      })
    })
  }
}

async function play (t: Test, client: Asker, person: Person, { tool, args, expected, asks, fields: own = fields }: Scene) {
  Object.assign(person, { asked: [], fields: own })
  const result = await client.call(tool, args)
  t.notOk(result.isError, textOf(result))
  if (typeof expected === 'string') t.equal(textOf(result), expected)
  else expected(t, textOf(result))
  t.equal(person.asked.length, asks)
}

async function refused (t: Test, client: Asker, tool: string, capability: string) {
  if (client.rounds) return await t.rejects(client.call(tool), { code: -32021, data: { requiredCapabilities: { [capability]: Object } } })
  const result = await client.call(tool)
  t.equal(result.isError, true)
  t.match(textOf(result), capability)
}
