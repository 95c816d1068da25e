// Resources, templates and what is known of their variables.
import { createReadStream } from 'node:fs'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { defineResource, inputRequired } from 'fastify-mcp-plugin'
import type { Completer, Context, McpOptions, Resource, ResourceReturn, TemplateVariables, Variables } from 'fastify-mcp-plugin'
import { expect, is } from './equal.js'
import type { Equal } from './equal.js'

const full = defineResource({
  uri: 'mem://full',
  name: 'full',
  title: 'Full',
  description: 'Has everything.',
  mimeType: 'text/plain',
  size: 1,
  annotations: { audience: ['user'], priority: 1, lastModified: '2026-01-01T00:00:00Z' },
  icons: [{ src: 'https://a.example/i.png' }],
  _meta: { 'a.example/b': 1 },
  cache: { ttlMs: 1000, cacheScope: 'public' },
  read (variables, ctx) {
    is<FastifyInstance>()(this)
    is<Record<string, never>>()(variables)
    is<Context>()(ctx)
    return 'ok'
  }
})
is<Resource>()(full)

// Variables from the template itself.
expect<Equal<TemplateVariables<'mem://a'>, {}>>()
expect<Equal<TemplateVariables<'mem://{id}'>, { id: string }>>()
expect<Equal<TemplateVariables<'mem://{a}/{b}'>, { a: string, b: string }>>()
expect<Equal<TemplateVariables<'mem://{a,b}'>, { a: string, b: string }>>()
expect<Equal<TemplateVariables<'mem://{+path}'>, { path: string }>>()
expect<Equal<TemplateVariables<'mem://{#part}'>, { part: string }>>()
expect<Equal<TemplateVariables<'mem://x{.ext}'>, { ext: string }>>()
expect<Equal<TemplateVariables<'mem://x{/path*}'>, { path: string[] }>>()
expect<Equal<TemplateVariables<'mem://x{?q}'>, { q?: string | undefined }>>()
expect<Equal<TemplateVariables<'mem://{id}{?q,tags*}{&r}'>, { id: string, tags: string[], q?: string | undefined, r?: string | undefined }>>()
expect<Equal<TemplateVariables<'mem://x{;v}'>, { v?: string | undefined }>>()
expect<Equal<TemplateVariables<string>, { [name: string]: string | string[] | undefined }>>()

// Or from a schema.
const schema = Type.Object({ id: Type.String(), sort: Type.Union([Type.Literal('up'), Type.Literal('down')]) })
expect<Equal<Variables<'mem://{id}{?sort}', typeof schema>, { id: string, sort: 'up' | 'down' }>>()

const item = defineResource({
  uriTemplate: 'mem://{owner}/{+path}{?rev}',
  name: 'item',
  complete: { owner: ['a', 'b'], rev: (value, { arguments: args, ctx }) => { is<string>()(value); is<{ readonly [name: string]: string }>()(args); is<Context>()(ctx); return [args.owner ?? value] } },
  list (ctx) {
    is<FastifyInstance>()(this)
    is<Context>()(ctx)
    return [{ name: 'one', uri: 'mem://a/b' }, { name: 'two', size: 1, variables: { owner: 'a', path: 'b/c' } }]
  },
  read ({ owner, path, rev }, ctx) {
    is<FastifyInstance>()(this)
    is<string>()(owner)
    is<string>()(path)
    is<string | undefined>()(rev)
    is<Context>()(ctx)
    return { owner, path }
  }
})
is<Resource>()(item)
defineResource({ uriTemplate: 'mem://{id}{?sort}', name: 'schema', variables: schema, read: async ({ id, sort }) => { is<string>()(id); is<'up' | 'down'>()(sort); return id } })
defineResource({ uriTemplate: 'mem://{id}', name: 'plain', variables: { type: 'object', properties: { id: { type: 'string', pattern: '^a' } } }, read: ({ id }) => { is<string>()(id); return id } })
declare const template: string
defineResource({ uriTemplate: template, name: 'unknown', read: ({ id }) => { is<string | string[] | undefined>()(id); return String(id) } })
defineResource({ uriTemplate: 'mem://{id}', name: 'later', list: async () => [{ name: 'a', variables: { id: '1' } }], complete: { id: async value => ({ values: [value], total: 1, hasMore: false }) }, read: ({ id }) => id })

// @ts-expect-error no such variable
defineResource({ uriTemplate: 'mem://{id}', name: 'x', read: ({ nope }) => String(nope) })
// @ts-expect-error it may be missing
defineResource({ uriTemplate: 'mem://x{?q}', name: 'x', read: ({ q }) => q.length })
// @ts-expect-error no variables
defineResource({ uri: 'mem://x', name: 'x', read: ({ id }) => id.length })
// @ts-expect-error no such variable to complete
defineResource({ uriTemplate: 'mem://{id}', name: 'x', complete: { nope: [] }, read: () => 'ok' })
// @ts-expect-error strings alone
defineResource({ uriTemplate: 'mem://{id}', name: 'x', complete: { id: [1] }, read: () => 'ok' })
// @ts-expect-error the variable is needed
defineResource({ uriTemplate: 'mem://{id}', name: 'x', list: () => [{ name: 'a', variables: {} }], read: () => 'ok' })
// @ts-expect-error a URI or variables
defineResource({ uriTemplate: 'mem://{id}', name: 'x', list: () => [{ name: 'a' }], read: () => 'ok' })
// @ts-expect-error a list is for templates
defineResource({ uri: 'mem://x', name: 'x', list: () => [], read: () => 'ok' })
// @ts-expect-error either
defineResource({ uri: 'mem://x', uriTemplate: 'mem://{x}', name: 'x', read: () => 'ok' })
// @ts-expect-error one of them
defineResource({ name: 'x', read: () => 'ok' })
// @ts-expect-error a name is needed
defineResource({ uri: 'mem://x', read: () => 'ok' })
// @ts-expect-error read is needed
defineResource({ uri: 'mem://x', name: 'x' })
// @ts-expect-error no such member
defineResource({ uri: 'mem://x', name: 'x', mimetype: 'a/b', read: () => 'ok' })
// @ts-expect-error no such scope
defineResource({ uri: 'mem://x', name: 'x', cache: { cacheScope: 'shared' }, read: () => 'ok' })

// Every way to answer.
interface Row { a: number }
declare const row: Row
const returns: ResourceReturn[] = [
  'text', Buffer.from(''), new Uint8Array(), createReadStream('a'), { any: ['object'] }, row, undefined, null,
  [{ text: 'a' }, { uri: 'a:b', mimeType: 'a/b', blob: Buffer.from(''), _meta: {} }, { blob: 'aGk=' }],
  { contents: [{ text: 'a' }], ttlMs: 1, cacheScope: 'public', _meta: {} },
  inputRequired({ questions: {} })
]
// @ts-expect-error an array is one of parts
const array: ResourceReturn = [1]
// @ts-expect-error text or bytes, not both
const both: ResourceReturn = [{ text: 'a', blob: 'b' }]
// @ts-expect-error no number
const number: ResourceReturn = 1

const resources: Resource[] = [full, item]
const options: McpOptions = { resources, limits: { resource: 1 } }
// @ts-expect-error only defineResource makes a resource
const made: Resource = { uri: 'mem://x', name: 'x', read: () => 'ok' }

const app = Fastify()
is<void>()(app.mcp.resources.add(full))
app.mcp.resources.add({ uri: 'mem://x', name: 'x', read: () => 'ok' })
app.mcp.resources.add({ uriTemplate: 'mem://{id}', name: 'x', read ({ id }) { is<string>()(id); is<FastifyInstance>()(this); return id } })
app.mcp.resources.add({ uriTemplate: 'mem://{id}', name: 'x', variables: Type.Object({ id: Type.Literal('a') }), read: ({ id }) => { is<'a'>()(id); return id } })
// @ts-expect-error no such variable
app.mcp.resources.add({ uriTemplate: 'mem://{id}', name: 'x', read: ({ nope }) => String(nope) })
// @ts-expect-error no promise within
app.mcp.resources.add({ uri: 'mem://x', name: 'x', read: () => [Promise.resolve('ok')] })
is<boolean>()(app.mcp.resources.remove('a'))
is<boolean>()(app.mcp.resources.enable('a'))
is<boolean>()(app.mcp.resources.disable('a'))
is<boolean>()(app.mcp.resources.has('a'))
is<void>()(app.mcp.resources.updated('a'))
expect<Equal<keyof FastifyInstance['mcp']['resources'], 'add' | 'remove' | 'enable' | 'disable' | 'has' | 'updated'>>()

const completers: Completer[] = [['a'], () => ['a'], async value => [value], (value, { arguments: args }) => ({ values: [value, args.other ?? ''] })]
// @ts-expect-error strings alone
const wrong: Completer = () => [1]

export { array, both, completers, made, number, options, returns, wrong }
