// ToolError and McpError.
import { McpError, text, ToolError } from 'fastify-mcp-plugin'
import { is } from './equal.js'
import type { ContentBlock } from 'fastify-mcp-plugin'

const error: Error = new ToolError('no such city', { content: [text('no such city')] })
is<readonly ContentBlock[] | undefined>()(new ToolError('no').content)
const caused = new ToolError('no', { cause: error })
const protocol: Error = new McpError(-32602, 'Invalid params', { name: 'city' })
is<number>()(new McpError(-32602, 'Invalid params').code)
is<unknown>()(new McpError(-32602, 'Invalid params').data)
is<string>()(caused.message)

function tell (error: unknown): string {
  if (error instanceof ToolError) return error.message
  if (error instanceof McpError) return `${error.code}`
  return String(protocol)
}
tell(caused)

// @ts-expect-error a message is needed
new ToolError() // eslint-disable-line no-new
// @ts-expect-error content is an array
new ToolError('no', { content: text('no') }) // eslint-disable-line no-new
// @ts-expect-error no such option
new ToolError('no', { structuredContent: {} }) // eslint-disable-line no-new
// @ts-expect-error the code comes first
new McpError('no') // eslint-disable-line no-new
// @ts-expect-error code and data stay as they are
new McpError(-32602, 'no').code = 1
