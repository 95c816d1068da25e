/** What the plugin uses of an ioredis client or cluster. It works with Redis from 6.2 on and with Valkey. */
export interface RedisClient {
  readonly status: string
  call (command: string, ...args: (string | number)[]): Promise<unknown>
  /** Makes the connection for publish and subscribe; the plugin closes that one itself. */
  duplicate (...options: any[]): RedisSubscriber
  on (event: string, listener: (...args: any[]) => void): unknown
  off (event: string, listener: (...args: any[]) => void): unknown
}

/** The option `redis`, where a client alone does not say everything. */
export interface RedisOptions {
  /** A client or a cluster of ioredis. It stays the app's: the plugin does not close it. */
  client: RedisClient
  /** What every key and channel begins with. Endpoints and apps that are to share nothing need one each. Default: `mcp:` and the path of the endpoint. */
  prefix?: string | undefined
  /** How long a command may take, in milliseconds, 1 to 2 147 483 647. Default: 2 000. */
  timeout?: number | undefined
}

export interface RedisSubscriber extends RedisClient {
  subscribe (...channels: string[]): Promise<unknown>
  ping (): Promise<unknown>
  disconnect (reconnect?: boolean): void
}
