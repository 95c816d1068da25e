import { createServer } from 'node:http'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { addEndpoint, endpointsOf } from '../lib/endpoints.js'
import type { Mcp } from '../types/index.js'

/** Scopes of one app share its HTTP server. */
const appOf = (server = createServer()) => ({ server }) as unknown as FastifyInstance
const mcpOf = () => ({}) as Mcp

t.test('an app without an endpoint has none', async t => t.equal(endpointsOf(appOf()).size, 0))

t.test('all scopes of an app see all its endpoints by path, in the order they came', async t => {
  const app = appOf()
  const child = Object.create(app) as FastifyInstance
  const [first, second] = [mcpOf(), mcpOf()]
  addEndpoint(child, '/b', first)
  addEndpoint(app, '/a', second)
  for (const scope of [app, child]) t.strictSame([...endpointsOf(scope).keys()], ['/b', '/a'])
  t.equal(endpointsOf(app).get('/b'), first)
  t.equal(endpointsOf(child).get('/a'), second)
})

t.test('the endpoints of another app are not seen', async t => {
  const app = appOf()
  addEndpoint(appOf(), '/mcp', mcpOf())
  t.equal(endpointsOf(app).size, 0)
})
