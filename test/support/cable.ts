// A connection between one process and its Redis that can be cut, while others keep theirs.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

export class Cable {
  readonly port: number
  private readonly sockets: Set<Socket>
  private whole = true

  private constructor (port: number, sockets: Set<Socket>) {
    this.port = port
    this.sockets = sockets
  }

  static async to (t: Test, port: number): Promise<Cable> {
    const sockets = new Set<Socket>()
    const server = createServer(near => {
      if (!cable.whole) return near.destroy()
      const far = connect(port, '127.0.0.1')
      for (const [one, other] of [[near, far], [far, near]] as const) {
        sockets.add(one)
        one.pipe(other)
        one.on('error', () => {})
        one.on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
      }
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const cable = new Cable((server.address() as AddressInfo).port, sockets)
    t.teardown(() => {
      cable.cut()
      server.close()
    })
    return cable
  }

  cut (): void {
    this.whole = false
    for (const one of this.sockets) one.destroy()
  }

  mend (): void { this.whole = true }
}
