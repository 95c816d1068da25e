import t from 'tap'
import type { FastifyRequest } from 'fastify'
import { Place } from '../../lib/auth/place.js'

const request = (url: string, protocol = 'http', host = '127.0.0.1:3000') => ({ url, protocol, host }) as FastifyRequest

t.test('unless it is told, the endpoint is where the request came to', async t => {
  const place = new Place('/api/mcp', undefined)
  const one = request('/api/mcp?x=1')
  t.equal(place.resource(one), 'http://127.0.0.1:3000/api/mcp')
  t.equal(place.metadata(one), 'http://127.0.0.1:3000/.well-known/oauth-protected-resource/api/mcp')
  t.equal(place.url(one), 'http://127.0.0.1:3000/api/mcp')
  t.equal(place.url(request('/api/mcp/messages?sessionId=1', 'https', 'a.example')), 'https://a.example/api/mcp/messages')
  t.strictSame(place.documents, ['/.well-known/oauth-protected-resource/api/mcp'])
})

t.test('what it is told holds, whatever the request says', async t => {
  const place = new Place('/mcp', 'https://mcp.example.test/tenant/a')
  const one = request('/mcp/messages')
  t.equal(place.resource(one), 'https://mcp.example.test/tenant/a')
  t.equal(place.metadata(one), 'https://mcp.example.test/.well-known/oauth-protected-resource/tenant/a')
  t.equal(place.url(one), 'https://mcp.example.test/tenant/a/messages', 'a path below it as well')
  t.strictSame(place.documents, ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource/tenant/a'], 'as clients see it, and as this server does')
})

t.test('a target in absolute form says where the request came to', async t => {
  const place = new Place('/mcp', undefined)
  const one = request('http://a.example/mcp/messages?x=1', 'http', 'b.example')
  t.equal(place.resource(one), 'http://a.example/mcp')
  t.equal(place.url(one), 'http://a.example/mcp/messages')
})

t.test('an endpoint at the root', async t => {
  const place = new Place('/', undefined)
  t.equal(place.resource(request('/')), 'http://127.0.0.1:3000')
  t.equal(place.metadata(request('/')), 'http://127.0.0.1:3000/.well-known/oauth-protected-resource')
  t.strictSame(place.documents, ['/.well-known/oauth-protected-resource'])
  t.equal(new Place('/', 'https://mcp.example.test').resource(request('/')), 'https://mcp.example.test', 'to the letter')
})
