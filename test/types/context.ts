// What a handler is given besides its arguments.
import { Type } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { defineTool } from 'fastify-mcp-plugin'
import type { AuthInfo, ClientCapabilities, Implementation, LoggingLevel, Context } from 'fastify-mcp-plugin'
import { expect, is } from './equal.js'
import type { Equal } from './equal.js'

expect<Equal<LoggingLevel, 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'>>()

defineTool({
  name: 'members',
  async handler (args, ctx) {
    is<Context>()(ctx)
    is<AbortSignal>()(ctx.signal)
    is<FastifyBaseLogger>()(ctx.log)
    is<FastifyRequest | undefined>()(ctx.request)
    is<FastifyInstance>()(ctx.app)
    is<AuthInfo | undefined>()(ctx.auth)
    is<Implementation | undefined>()(ctx.client)
    is<ClientCapabilities>()(ctx.capabilities)
    is<string | undefined>()(ctx.session?.id)
    is<unknown>()(ctx.meta['a.example/b'])
    is<string | undefined>()(ctx.request?.mcp?.endpoint)
    is<string | undefined>()(ctx.client?.title)

    ctx.log.info({ args }, 'called')
    is<void>()(await ctx.progress(1))
    await ctx.progress(1, 2)
    await ctx.progress(1, 2, 'half')
    is<void>()(await ctx.message('info', { a: 1 }))
    await ctx.message('emergency', 'text', 'tool')
    const meta: Record<string, unknown> = ctx.meta

    // @ts-expect-error no such level
    await ctx.message('warn', 'text')
    // @ts-expect-error progress is a number
    await ctx.progress('half')
    // @ts-expect-error there may be no request
    const ip = ctx.request.ip
    // @ts-expect-error there may be no session
    const id = ctx.session.id
    // @ts-expect-error members stay as they are
    ctx.meta = {}
    // @ts-expect-error no such member
    const revision = ctx.revision
    return String([ip, id, revision, meta, ctx.capabilities.elicitation?.form, ctx.capabilities.sampling?.tools, ctx.capabilities.roots?.listChanged])
  }
})

// `this` is the app, in both overloads and in every form that has one.
defineTool({ name: 'this', handler () { is<FastifyInstance>()(this); return this.prefix } })
defineTool({ name: 'this-async', async handler ({ a }) { is<FastifyInstance>()(this); return `${a}` } })
defineTool({ name: 'this-function', handler: function () { is<FastifyInstance>()(this); return this.prefix } })
defineTool({
  name: 'this-output',
  inputSchema: Type.Object({ a: Type.String() }),
  outputSchema: Type.Object({ a: Type.String() }),
  handler ({ a }) { is<FastifyInstance>()(this); return { a: a + this.prefix } }
})
function standing (this: FastifyInstance) { return this.prefix }
defineTool({ name: 'this-standing', handler: standing })
function other (this: { db: string }) { return this.db }
// @ts-expect-error no such decorator
defineTool({ name: 'this-other', handler: other })
