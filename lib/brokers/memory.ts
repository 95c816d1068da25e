import type { Broker, BrokerListener } from '../../types/index.js'

/** Brings messages to listeners of this process; several brokers, each with listeners of its own, may share the air. */
export class MemoryBroker implements Broker {
  private readonly air: Set<MemoryBroker>
  private readonly listeners = new Map<string, BrokerListener>()

  /** @param other a broker whose messages this one hears, and the other way round */
  constructor (other?: MemoryBroker) { this.air = (other?.air ?? new Set<MemoryBroker>()).add(this) }

  async publish (channel: string, message: string): Promise<number> {
    const listeners = [...this.air].map(one => one.listeners.get(channel)).filter(one => one !== undefined)
    queueMicrotask(() => { for (const listener of listeners) listener.message(message) })
    return listeners.length
  }

  async subscribe (channel: string, listener: BrokerListener): Promise<void> { this.listeners.set(channel, listener) }

  async close (): Promise<void> {
    this.listeners.clear()
    this.air.delete(this)
  }
}
