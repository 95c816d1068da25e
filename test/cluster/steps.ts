import { Type } from '@sinclair/typebox'
import { defineTool } from '../support/app.js'
import { wait } from '../support/time.js'

/** A call that tells how far it is. */
export const steps = defineTool({
  name: 'steps',
  inputSchema: Type.Object({ n: Type.Integer(), ms: Type.Integer(), bytes: Type.Optional(Type.Integer()) }),
  async handler ({ n, ms, bytes = 0 }, ctx) {
    for (let i = 1; i <= n; i++) {
      await ctx.progress(i, n, 'x'.repeat(bytes))
      await wait(ms)
    }
    return 'all done'
  }
})
