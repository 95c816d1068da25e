import type { FastifyPluginAsync } from 'fastify'
import type { Connection } from './connection.js'
import type { audio, embedded, image, resourceLink, result, text } from './content.js'
import type { McpError, ToolError } from './errors.js'
import type { elicit, elicitUrl, inputRequired, InputRejectedError, InputRequired, InputUnsupportedError, NoStreamError, roots, sample } from './input.js'
import type { Mcp } from './mcp.js'
import type { McpOptions } from './options.js'
import type { assistant, definePrompt, user } from './prompt.js'
import type { defineResource } from './resource.js'
import type { defineTool } from './tool.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The Model Context Protocol server of this scope. */
    mcp: Mcp
  }

  interface FastifyRequest {
    /** The connection that the request belongs to; `null` on routes that are not ours. */
    mcp: Connection | null
  }
}

/**
 * The plugin, with every other export as a property of it.
 *
 * A CommonJS file gets the function itself from `require`, as from every Fastify plugin, so whatever it imports by name has to be
 * found on the function.
 */
export interface McpPlugin extends FastifyPluginAsync<McpOptions> {
  /** The plugin itself. */
  readonly default: McpPlugin
  /** The plugin itself. */
  readonly mcpPlugin: McpPlugin
  /** Types a tool. */
  readonly defineTool: typeof defineTool
  /** Types a resource or a template of resources. */
  readonly defineResource: typeof defineResource
  /** Types a prompt. */
  readonly definePrompt: typeof definePrompt
  /** A message of the user. */
  readonly user: typeof user
  /** A message of the assistant. */
  readonly assistant: typeof assistant
  /** Text content. */
  readonly text: typeof text
  /** Image content. */
  readonly image: typeof image
  /** Sound content. */
  readonly audio: typeof audio
  /** A link to a resource. */
  readonly resourceLink: typeof resourceLink
  /** A resource with its contents. */
  readonly embedded: typeof embedded
  /** A full result. */
  readonly result: typeof result
  /** A form for the user. */
  readonly elicit: typeof elicit
  /** A result that asks. */
  readonly inputRequired: typeof inputRequired
  /** A page for the user. */
  readonly elicitUrl: typeof elicitUrl
  /** A question for the client's model. */
  readonly sample: typeof sample
  /** The directories of the client. */
  readonly roots: typeof roots
  /** The client has no such question. */
  readonly InputUnsupportedError: typeof InputUnsupportedError
  /** There is nowhere to ask. */
  readonly NoStreamError: typeof NoStreamError
  /** The client refused. */
  readonly InputRejectedError: typeof InputRejectedError
  /** The call starts again with the answer. */
  readonly InputRequired: typeof InputRequired
  /** An error for the model. */
  readonly ToolError: typeof ToolError
  /** A protocol error. */
  readonly McpError: typeof McpError
}

/**
 * The plugin. Decorates the scope that registers it with `app.mcp`, and requests with `request.mcp`.
 *
 * `await app.register(mcpPlugin, { tools: [weather] })` serves `POST`, `GET` and `DELETE` on `/mcp`.
 */
export const mcpPlugin: McpPlugin

export default mcpPlugin
export { mcpPlugin as 'module.exports' }

export { defineTool } from './tool.js'
export { defineResource } from './resource.js'
export { assistant, definePrompt, user } from './prompt.js'
export { audio, embedded, image, resourceLink, result, text } from './content.js'
export { McpError, ToolError } from './errors.js'
export { elicit, elicitUrl, inputRequired, InputRejectedError, InputRequired, InputUnsupportedError, NoStreamError, roots, sample } from './input.js'

export type * from './audit.js'
export type * from './auth.js'
export type * from './broker.js'
export type * from './completion.js'
export type * from './connection.js'
export type * from './content.js'
export type * from './context.js'
export type * from './errors.js'
export type * from './input.js'
export type * from './mcp.js'
export type * from './options.js'
export type * from './prompt.js'
export type * from './protocol.js'
export type * from './redis.js'
export type * from './resource.js'
export type * from './schema.js'
export type * from './store.js'
export type * from './tool.js'
