import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Server } from 'node:net'
import t from 'tap'
import { begun, read, Sockets } from '../../lib/transports/sockets.js'
import { until } from '../support/time.js'

let port = 0

class FakeSocket extends EventEmitter {
  destroyed = false
  remoteAddress = '127.0.0.1'
  remotePort = ++port
  bytesRead: number
  parser: object | null | undefined
  _httpMessage: object | null | undefined

  constructor (bytesRead = 0) {
    super()
    this.bytesRead = bytesRead
  }

  destroy () {
    this.destroyed = true
    this.emit('close')
  }
}

/** One on which a request is under way, to the plugin or to another route. */
function asking ({ ours = true, complete = true } = {}) {
  const socket = new FakeSocket(100)
  const request = { complete, socket: socket as unknown, httpVersionMajor: 1 } as IncomingMessage
  if (ours) begun(request)
  return Object.assign(socket, { parser: {}, _httpMessage: {}, request })
}

const serverOf = (secure = false) => Object.assign(new EventEmitter(), secure ? { setSecureContext () {} } : {})
const gone = (sockets: FakeSocket[]) => sockets.map(one => one.destroyed)

t.test('connections on which no request is under way are let go, the others are not', async t => {
  const server = serverOf()
  const sockets = new Sockets(server as Server)
  const between = Object.assign(new FakeSocket(100), { parser: {}, _httpMessage: null })
  const begun = Object.assign(new FakeSocket(5), { parser: {} })
  const upgraded = Object.assign(new FakeSocket(100), { parser: null, _httpMessage: null })
  const left = new FakeSocket()
  const all = [new FakeSocket(), between, begun, asking(), asking({ ours: false }), asking({ ours: false, complete: false }), upgraded, new FakeSocket(500), left]
  for (const socket of all) server.emit('connection', socket)
  left.destroy()
  left.destroyed = false
  sockets.release()
  t.strictSame(gone(all), [true, true, true, false, false, false, false, false, false], 'and what was gone before is not touched')
  for (const socket of all) socket.destroy()
})

t.test('also as they become such', async t => {
  const server = serverOf()
  const sockets = new Sockets(server as Server)
  const [answered, half, longer] = [asking({ ours: false }), asking({ ours: false, complete: false }), asking()]
  for (const socket of [answered, half, longer]) server.emit('connection', socket)
  sockets.release()
  Object.assign(answered, { _httpMessage: null })
  begun(half.request)
  t.ok(await until(() => answered.destroyed && half.destroyed))
  t.equal(longer.destroyed, false)
  longer.destroy()
})

t.test('a request that was read or refused is on its way no more', async t => {
  const server = serverOf()
  const sockets = new Sockets(server as Server)
  const [done, next, refused] = [asking({ complete: false }), asking({ complete: false }), Object.assign(asking({ complete: false }), { _httpMessage: null })]
  read(done.request)
  const earlier = { httpVersionMajor: 1, socket: next as unknown } as IncomingMessage
  read(earlier)
  for (const socket of [done, refused]) server.emit('connection', socket)
  const from = Date.now()
  await sockets.arrived(5000)
  t.ok(Date.now() - from < 1000)
  server.emit('connection', next)
  await sockets.arrived(50)
  t.equal(next.destroyed, true, 'the next that has begun meanwhile is')
  const other = { httpVersionMajor: 2, get socket () { return t.fail('HTTP/2 has many requests on a connection, and may have none any more') } } as unknown as IncomingMessage
  begun(other)
  read(other)
})

t.test('nor is one kept that comes after that', async t => {
  for (const [event, secure] of [['connection', false], ['connection', true], ['secureConnection', true]] as const) {
    const server = serverOf(secure)
    const sockets = new Sockets(server as Server)
    sockets.release()
    const late = new FakeSocket()
    server.emit(event, late)
    t.ok(late.destroyed, event)
  }
})

t.test('below TLS there is a connection for each; one that has come no further than that is let go', async t => {
  const server = serverOf(true)
  const sockets = new Sockets(server as Server)
  const [below, above, greeting] = [new FakeSocket(900), asking(), new FakeSocket(50)]
  below.remotePort = above.remotePort
  for (const socket of [below, greeting]) server.emit('connection', socket)
  server.emit('secureConnection', above)
  sockets.release()
  t.strictSame(gone([below, above, greeting]), [false, false, true])
  above.destroy()
})

t.test('what is asked of the plugin has some time to come in full', async t => {
  const server = serverOf()
  const sockets = new Sockets(server as Server)
  const [quick, never, other] = [asking({ complete: false }), asking({ complete: false }), asking({ ours: false, complete: false })]
  for (const socket of [quick, other]) server.emit('connection', socket)
  const from = Date.now()
  setTimeout(() => Object.assign(quick.request, { complete: true }), 50)
  await sockets.arrived(5000)
  t.ok(Date.now() - from < 1000)
  server.emit('connection', never)
  const again = Date.now()
  await sockets.arrived(100)
  t.ok(Date.now() - again >= 95)
  t.strictSame(gone([quick, never, other]), [false, true, false])
  const last = Date.now()
  await sockets.arrived(5000)
  t.ok(Date.now() - last < 1000, 'there is nothing more to wait for')
})
