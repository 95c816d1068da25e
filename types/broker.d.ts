export interface BrokerListener {
  message (text: string): void
  /** Messages may have been lost; from now on they arrive again. */
  renewed (): void
}

/** Brings messages from one process to others, in the order they were published, while they are connected. */
export interface Broker {
  /** How many listeners heard it, as far as the broker knows. */
  publish (channel: string, message: string): Promise<number>
  /** Resolves when every message from now on is heard, until `close`. One listener a channel. */
  subscribe (channel: string, listener: BrokerListener): Promise<void>
  close (): Promise<void>
}
