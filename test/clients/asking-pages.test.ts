// Round trips with a server that has what the fixture has not: pages to open, and questions that a handler returns.
import t from 'tap'
import { everything, makes, Person, start, textOf } from './askers.js'

t.test('every client', async t => {
  const served = await start(t, 'asking/server.js')
  for (const [title, make] of makes) {
    await t.test(title, async t => {
      const person = new Person()
      person.fields = { name: '42' }
      const client = await make(t, served, everything, person.answer)
      t.equal(textOf(await client.call('page')), 'accept')
      t.match(person.asked, [{ params: { mode: 'url', url: 'https://a.example/pay', message: 'Pay' } }])
      t.equal(person.asked[0]?.params.elicitationId === undefined, client.rounds, 'with an id in the revision that wants one')
      t.equal(textOf(await client.call('returned')), '42, step 1')
      t.equal(textOf(await client.call('by_elicit')), '42')
    })
  }
})
