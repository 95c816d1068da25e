import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import t from 'tap'
import { Sockets } from '../../lib/transports/sockets.js'

class FakeSocket extends EventEmitter {
  destroyed = false
  bytesRead: number
  constructor (bytesRead = 0) {
    super()
    this.bytesRead = bytesRead
  }

  destroy () {
    this.destroyed = true
    this.emit('close')
  }
}

t.test('connections on which nothing has come are let go, the others are not', async t => {
  const server = new EventEmitter()
  const sockets = new Sockets(server as Server)
  const [silent, asking, secure, raw, left] = [new FakeSocket(), new FakeSocket(), new FakeSocket(), new FakeSocket(500), new FakeSocket()]
  for (const socket of [silent, asking, raw, left]) server.emit('connection', socket)
  server.emit('secureConnection', secure)
  asking.bytesRead = 100
  left.destroy()
  left.destroyed = false
  sockets.release()
  t.strictSame([silent, asking, secure, raw, left].map(one => one.destroyed), [true, false, true, false, false], 'and what was gone before is not touched')
})

t.test('nor is one kept that comes after that', async t => {
  const server = new EventEmitter()
  const sockets = new Sockets(server as Server)
  sockets.release()
  const late = new FakeSocket()
  server.emit('connection', late)
  t.ok(late.destroyed)
})
