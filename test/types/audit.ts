// Hooks of calls.
import Fastify from 'fastify'
import type { FastifyRequest } from 'fastify'
import mcpPlugin from 'fastify-mcp-plugin'
import type { AuthInfo, CallEvent, ErrorEvent, JsonObject, ResultEvent } from 'fastify-mcp-plugin'
import { is } from './equal.js'

const app = Fastify()
app.register(mcpPlugin)
app.mcp.addHook('onCall', event => {
  is<CallEvent>()(event)
  is<JsonObject | undefined>()(event.arguments)
  is<AuthInfo | undefined>()(event.auth)
  is<FastifyRequest | undefined>()(event.request)
  // @ts-expect-error it is a copy, to be read
  event.name = 'other'
  // @ts-expect-error nothing has come of it yet
  String(event.outcome)
})
app.mcp.addHook('onResult', async event => {
  is<ResultEvent>()(event)
  is<'ok' | 'tool-error' | 'asked'>()(event.outcome)
})
app.mcp.addHook('onError', ({ outcome, errorId, duration }: ErrorEvent) => {
  is<'denied' | 'invalid' | 'timeout' | 'cancelled' | 'error'>()(outcome)
  is<string | undefined>()(errorId)
  is<number>()(duration)
})
// @ts-expect-error no such hook
app.mcp.addHook('onRequest', () => {})
// @ts-expect-error a hook is a function
app.mcp.addHook('onCall', 'x')
