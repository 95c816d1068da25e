import t from 'tap'
import type { FastifyRequest } from 'fastify'
import { Access } from '../../lib/auth/access.js'
import { Place } from '../../lib/auth/place.js'

const caller = (...scopes: string[]) => ({ subject: 'ada', scopes })
const place = new Place('/mcp', 'https://mcp.example.test/mcp')

t.test('a caller needs every scope', async t => {
  const access = new Access({}, place)
  const rows: Array<[string[], string[], boolean]> = [[[], [], true], [['a'], [], true], [['a', 'b'], ['b', 'a'], true], [['a'], ['a', 'b'], false], [[], ['a'], false], [['A'], ['a'], false], [['a:b'], ['a'], false]]
  for (const [granted, needed, allowed] of rows) t.equal(access.covers(caller(...granted), needed), allowed, `${granted.join()} for ${needed.join()}`)
  t.equal(access.covers(undefined, []), true)
  t.equal(access.covers(undefined, ['a']), false, 'who is nobody has none')
  t.equal(access.shows, true)
})

t.test('one scope may hold others', async t => {
  const access = new Access({ implies: (granted, needed) => granted.endsWith(':*') && needed.startsWith(granted.slice(0, -1)), denied: 'hide' }, place)
  t.equal(access.covers(caller('files:*'), ['files:read', 'files:write']), true)
  t.equal(access.covers(caller('files:*'), ['files:read', 'mail:read']), false)
  t.equal(access.covers(undefined, ['files:read']), false)
  const late = new Access({ implies: (async () => false) as never }, place)
  t.equal(late.covers(caller('a'), ['b']), false, 'a promise is no yes')
  t.equal(access.shows, false)
})

t.test('what is missing is named whole, with where to read on', async t => {
  const error = new Access({}, place).insufficient(['files:read', 'files:write'], {} as FastifyRequest)
  t.match(error, { code: -32600, status: 403, message: /files:read files:write/ })
  t.match(error.headers?.['www-authenticate'], /^Bearer error="insufficient_scope", .*scope="files:read files:write", resource_metadata="https:\/\/mcp.example.test\/.well-known\/oauth-protected-resource\/mcp"$/)
  const always = new Access({ scopes: ['mcp', 'files:read'] }, place).insufficient(['files:read', 'files:write'], {} as FastifyRequest)
  t.match(always.headers?.['www-authenticate'], / scope="mcp files:read files:write", /, 'with what every request needs, and nothing twice')
  t.match(always, { message: /mcp files:read files:write/ })
  t.equal(new Access({}, undefined).insufficient(['a'], {} as FastifyRequest).headers, undefined, 'where there are no tokens none is asked for')
  t.equal(new Access({}, place).insufficient(['a'], undefined).headers, undefined, 'nor on stdio')
})

t.test('what implies throws or promises is no yes, and is told', async t => {
  const failed: unknown[] = []
  const of = (implies: unknown) => new Access({ implies: implies as never }, place, error => { failed.push(error) })
  t.equal(of(() => { throw new Error('no table') }).covers(caller('a'), ['b']), false)
  const late = of(async () => { throw new Error('late') })
  for (let i = 0; i < 2; i++) t.equal(late.covers(caller('a', 'c'), ['b']), false)
  t.match(failed, [{ message: 'no table' }, { message: /gave a promise/ }])
  t.equal(failed.length, 2)
  t.equal(new Access({ implies: () => { throw new Error('x') } }, place).covers(caller('a'), ['a']), true, 'what is granted itself is not asked about')
})
