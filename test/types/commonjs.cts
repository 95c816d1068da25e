// The package in a CommonJS file: the plugin itself, with every other export as a property.
import mcpPlugin, { defineTool, ToolError } from 'fastify-mcp-plugin'
import required = require('fastify-mcp-plugin')
import * as namespace from 'fastify-mcp-plugin'
import type { Tool } from 'fastify-mcp-plugin'
import { Type } from '@sinclair/typebox'
import Fastify = require('fastify')
import { is } from './equal.js'

const app = Fastify()
const inputSchema = Type.Object({ a: Type.String(), b: Type.Optional(Type.Integer()) })
const outputSchema = Type.Object({ sky: Type.Union([Type.Literal('clear'), Type.Literal('rain')]) })

const imported = defineTool({ name: 'a', inputSchema, outputSchema, handler ({ a, b }) { is<string>()(a); is<number | undefined>()(b); return { sky: 'clear' } } })
const property = required.defineTool({ name: 'b', inputSchema, handler ({ a, b }, ctx) { is<string>()(a); is<number | undefined>()(b); is<AbortSignal>()(ctx.signal); throw new required.ToolError(a) } })
const member = namespace.defineTool({ name: 'c', handler: () => { throw new ToolError('no') } })
const tools: Tool[] = [imported, property, member]

app.register(mcpPlugin, { tools })
app.register(required, { tools })
app.register(required.default, { tools })
app.register(required.mcpPlugin, { tools })
app.register(namespace.default, { tools })
app.mcp.tools.add(imported)

// @ts-expect-error no such option
app.register(required, { tool: tools })
// @ts-expect-error no such literal
required.defineTool({ name: 'd', outputSchema, handler: () => ({ sky: 'snow' }) })
// @ts-expect-error no such export
required.nothing() // eslint-disable-line
