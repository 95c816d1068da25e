// The official clients, two generations of them, behind one face: the same scenarios drive both.
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import type { ClientOptions, Transport as TransportV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import { LoggingMessageNotificationSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

export interface CallOptions { signal?: AbortSignal, onprogress?: (progress: { progress: number, total?: number | undefined, message?: string | undefined }) => void }
export interface CallResult { content?: any, structuredContent?: any, isError?: any }
export interface ToolInfo { name: string }
export interface LogMessage { level: string, data: unknown, logger?: string | undefined }

export interface Driver {
  connect (): Promise<void>
  /** What the client knows of the server after connecting. */
  known (): { name: string | undefined, revision: string | undefined, tools: unknown, instructions: string | undefined }
  listTools (): Promise<ToolInfo[]>
  call (name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallResult>
  onToolsChanged (listener: () => void): void
  /** Asks for log messages of this level and above, and hands them on. */
  hearMessages (level: 'debug' | 'info' | 'error', listener: (message: LogMessage) => void): Promise<void>
  /** Opens what changes arrive on, where the client does not do that by itself. */
  listen (): Promise<void>
  close (): Promise<void>
}

const identity = { name: 'test client', version: '1.0.0' }

/** @param transport makes a transport; sessions are ended by `terminate`, which not every transport has */
export function v1 (transport: () => TransportV1, terminate = async (_: TransportV1) => {}): Driver {
  const client = new ClientV1(identity, { capabilities: {} })
  const made = transport()
  let revision: string | undefined
  return {
    async connect () {
      const tell = made.setProtocolVersion?.bind(made)
      made.setProtocolVersion = version => {
        revision = version
        tell?.(version)
      }
      await client.connect(made)
    },
    known: () => ({ name: client.getServerVersion()?.name, revision, tools: client.getServerCapabilities()?.tools, instructions: client.getInstructions() }),
    async listTools () {
      const tools: ToolInfo[] = []
      let cursor: string | undefined
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor })
        tools.push(...page.tools)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return tools
    },
    call: async (name, args, options) => await client.callTool({ name, ...(args && { arguments: args }) }, undefined, options as {}) as CallResult,
    onToolsChanged: listener => client.setNotificationHandler(ToolListChangedNotificationSchema, listener),
    async hearMessages (level, listener) {
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => listener(params))
      await client.setLoggingLevel(level)
    },
    async listen () {},
    async close () {
      await terminate(made)
      await client.close()
    }
  }
}

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

export function v2 (transport: () => TransportV2, versionNegotiation: ClientOptions['versionNegotiation'], terminate = async (_: TransportV2) => {}): Driver {
  const client = new ClientV2(identity, { capabilities: {}, ...(versionNegotiation && { versionNegotiation }) })
  const made = transport()
  const stateless = () => client.getProtocolEra() === 'modern'
  let meta: Record<string, unknown> | undefined
  return {
    connect: () => client.connect(made),
    known: () => ({
      name: client.getServerVersion()?.name,
      revision: client.getNegotiatedProtocolVersion(),
      tools: client.getServerCapabilities()?.tools,
      instructions: client.getInstructions()
    }),
    // Without a cursor this client walks all pages by itself.
    listTools: async () => (await client.listTools(undefined, { cacheMode: 'bypass' })).tools,
    call: (name, args, options) => client.callTool({ name, ...(args && { arguments: args }), ...(meta && { _meta: meta }) }, options as {}),
    onToolsChanged: listener => client.setNotificationHandler('notifications/tools/list_changed', listener),
    async hearMessages (level, listener) {
      client.setNotificationHandler('notifications/message', ({ params }) => listener(params))
      if (stateless()) meta = { [LOG_LEVEL]: level }
      else await client.setLoggingLevel(level)
    },
    async listen () {
      if (stateless()) await client.listen({ toolsListChanged: true })
    },
    async close () {
      await terminate(made)
      await client.close()
    }
  }
}
