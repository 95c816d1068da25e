// The plugin as one implementation among others of a benchmark that compares MCP servers side by side.
// The benchmark loads this file to read what it can do, and once more in a process of its own to start it.

const HIDDEN = 'hidden'

/** The benchmark's tools are plain definitions; one with an outputSchema answers with a full result. */
function definitionOf ({ handler, ...tool }, result) {
  return { ...tool, handler: tool.outputSchema === undefined ? handler : (args, ctx) => result(handler(args, ctx)) }
}

async function build ({ tools, workload }) {
  const [{ default: Fastify }, { default: mcpPlugin, result }] = await Promise.all([import('fastify'), import('../dist/index.js')])
  const app = Fastify()
  await app.register(mcpPlugin, {
    serverInfo: { name: 'bench', version: '1.0.0' },
    tools: tools.map(tool => definitionOf(tool, result))
  })
  if (workload === 'W6') {
    app.mcp.tools.add({ name: HIDDEN, description: 'Comes and goes', handler: () => 'ok' })
    app.mcp.tools.disable(HIDDEN)
  }
  return app
}

export default {
  name: 'project',
  title: 'fastify-mcp-plugin, all revisions, sessions in 2025-11-25',
  eras: ['2025-11-25', '2026-07-28'],
  session: true,
  streams: ['get', 'listen'],
  workloads: ['W1', 'W2', 'W3', 'W4', 'W5', 'W6', 'W7a', 'W7b', 'W8', 'W9', 'W10'],

  async start ({ port, host, tools, workload }) {
    const app = await build({ tools, workload })
    await app.listen({ port, host })
    let shown = false
    return {
      path: '/mcp',
      /** One change, so one tools/list_changed to every stream. */
      broadcast () {
        shown = !shown
        if (shown) app.mcp.tools.enable(HIDDEN)
        else app.mcp.tools.disable(HIDDEN)
      }
    }
  },

  async stdio ({ tools, workload }) {
    const app = await build({ tools, workload })
    await app.mcp.stdio()
  }
}
