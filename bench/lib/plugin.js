import mcpPlugin from 'fastify-mcp-plugin'
import { tools } from './tools.js'
import { serverInfo } from './workloads.js'

export default async function serve (app) {
  await app.register(mcpPlugin, { serverInfo, tools })
}
