import { EventEmitter } from 'node:events'
import t from 'tap'
import { drained } from '../../lib/transports/drain.js'

class Output extends EventEmitter {
  destroyed = false
  writableNeedDrain = true
}

for (const event of ['drain', 'close']) {
  t.test(`who waits is told by ${event}, together, and no listener is left`, async t => {
    const output = new Output()
    for (let i = 0; i < 20; i++) {
      const [one, two] = [drained(output), drained(output)]
      t.equal(one, two)
      t.strictSame([output.listenerCount('drain'), output.listenerCount('close')], [1, 1])
      output.emit(event)
      await one
      t.strictSame([output.listenerCount('drain'), output.listenerCount('close')], [0, 0])
    }
  })
}

t.test('nobody waits where nothing does, or nobody reads', async t => {
  t.equal(drained(Object.assign(new Output(), { writableNeedDrain: false })), undefined)
  t.equal(drained(Object.assign(new Output(), { destroyed: true })), undefined)
})
