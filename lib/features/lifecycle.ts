import type { ClientCapabilities, Implementation } from '../../types/index.js'
import { rpcError } from '../errors.js'
import type { Feature } from '../method.js'
import { InitializeParams, NoParams } from '../schemas/params.js'

/** A session keeps what the client says of itself; this is how much that may be, as JSON. */
const MAX_INTRODUCTION = 16_384

export interface Introduction {
  serverInfo: Implementation
  instructions: string | undefined
  capabilities (hears: boolean): Record<string, unknown>
}

/** The handshake of 2024-11-05 to 2025-11-25 (basic/lifecycle), and `ping`. */
export function lifecycle (server: Introduction): Feature {
  return {
    methods: [
      {
        name: 'initialize',
        brief: true,
        params: InitializeParams,
        call (params, exchange) {
          const client = params.clientInfo as Implementation | undefined
          const capabilities = (params.capabilities ?? {}) as ClientCapabilities
          if (JSON.stringify([client, capabilities]).length > MAX_INTRODUCTION) throw rpcError('InvalidParams', `clientInfo and capabilities may have ${MAX_INTRODUCTION} characters together`)
          const opening = exchange.channel.open(exchange.served, client, capabilities)
          const result = {
            protocolVersion: exchange.served.revision.version,
            capabilities: server.capabilities(exchange.channel.hears),
            serverInfo: server.serverInfo,
            instructions: server.instructions
          }
          return opening === undefined ? result : opening.then(() => result)
        }
      },
      { name: 'ping', params: NoParams, call: () => ({}) }
    ],
    notifications: [{ name: 'notifications/initialized', receive () {} }]
  }
}
