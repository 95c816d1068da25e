/** What the plugin uses of an ioredis client or cluster. It works with Redis from 6.2 on and with Valkey. */
export interface RedisClient {
  readonly status: string
  call (command: string, ...args: (string | number)[]): Promise<unknown>
  /** Makes the connection for publish and subscribe; the plugin closes that one itself. */
  duplicate (...options: any[]): RedisSubscriber
  on (event: string, listener: (...args: any[]) => void): unknown
  off (event: string, listener: (...args: any[]) => void): unknown
}

export interface RedisSubscriber extends RedisClient {
  subscribe (...channels: string[]): Promise<unknown>
  ping (): Promise<unknown>
  disconnect (reconnect?: boolean): void
}
