// A way to a server that can be cut.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

export class Proxy {
  readonly port: number
  private readonly sockets: Set<Socket>
  private readonly state: { open: boolean }

  constructor (port: number, sockets: Set<Socket>, state: { open: boolean }) {
    this.port = port
    this.sockets = sockets
    this.state = state
  }

  cut (): void {
    this.state.open = false
    for (const one of this.sockets) one.destroy()
    this.sockets.clear()
  }

  mend (): void { this.state.open = true }
}

export async function proxyTo (t: Test, port: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const state = { open: true }
  const server = createServer(near => {
    if (!state.open) return near.destroy()
    const far = connect(port, '127.0.0.1')
    for (const [one, other] of [[near, far], [far, near]] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = new Proxy((server.address() as AddressInfo).port, sockets, state)
  t.teardown(() => {
    proxy.cut()
    server.close()
  })
  return proxy
}
