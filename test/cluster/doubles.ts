// Members of a cluster in one process, whose ways to each other can be cut.
import type { Test } from 'tap'
import { MemoryBroker } from '../../lib/brokers/memory.js'
import { Member } from '../../lib/cluster/member.js'
import { MemoryStore } from '../../lib/stores/memory.js'
import type { Broker, BrokerListener, LogReading, Store } from '../../types/index.js'

/** A broker that can be deaf for a while. */
export class Ear implements Broker {
  readonly air: MemoryBroker
  deaf = false
  private readonly listeners: BrokerListener[] = []

  constructor (air: MemoryBroker) { this.air = air }

  publish (channel: string, message: string): Promise<number> { return this.air.publish(channel, message) }
  async subscribe (channel: string, listener: BrokerListener): Promise<void> {
    this.listeners.push(listener)
    await this.air.subscribe(channel, { message: text => { if (!this.deaf) listener.message(text) }, renewed () {} })
  }

  close (): Promise<void> { return this.air.close() }

  hear (): void {
    this.deaf = false
    for (const one of this.listeners) one.renewed()
  }
}

/** A store that can be away, and counts what is read. */
export class Shelf implements Store {
  readonly store: Store
  away = false
  reads = 0
  /** The greatest number of entries that came in one piece. */
  widest = 0

  constructor (store: Store) { this.store = store }

  get: Store['get'] = (...args) => this.reached(() => this.store.get(...args))
  set: Store['set'] = (...args) => this.reached(() => this.store.set(...args))
  swap: Store['swap'] = (...args) => this.reached(() => this.store.swap(...args))
  delete: Store['delete'] = (...args) => this.reached(() => this.store.delete(...args))
  append: Store['append'] = (...args) => this.reached(() => this.store.append(...args))
  read: Store['read'] = (...args) => this.reached(async () => {
    this.reads++
    const reading: LogReading | undefined = await this.store.read(...args)
    this.widest = Math.max(this.widest, reading?.entries.length ?? 0)
    return reading
  })

  private async reached<T> (what: () => Promise<T>): Promise<T> {
    if (this.away) throw new Error('the store is away')
    return await what()
  }
}

export interface Place { member: Member, ear: Ear, shelf: Shelf, log: string[], air: MemoryBroker }

/** So many processes that share what they keep. */
export function members (t: Test, count: number, lifetime = 10_000): Place[] {
  const first = new MemoryBroker()
  const store = new MemoryStore(first)
  return Array.from({ length: count }, (_, i) => {
    const air = i === 0 ? first : new MemoryBroker(first)
    const [ear, shelf, log] = [new Ear(air), new Shelf(store), [] as string[]]
    const say = (...args: unknown[]) => { log.push(String(args.at(-1))) }
    const member = new Member({ store: shelf, broker: ear, lifetime, log: { info: say, warn: say, error: say, debug () {} } as never })
    t.teardown(() => member.close())
    return { member, ear, shelf, log, air }
  })
}
