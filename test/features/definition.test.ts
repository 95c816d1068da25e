import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import ts from 'typescript'
import { inspect, shownProblem } from '../../lib/features/definition.js'
import { thrown } from '../support/thrown.js'

function appOf () {
  const warnings: string[] = []
  return { app: { log: { warn: (text: string) => warnings.push(text) } } as unknown as FastifyInstance, warnings }
}

t.test('a member of another type than clients take is an error that names it, what it must be and what it is', async t => {
  const rows: [object, RegExp][] = [
    [{ title: 3 }, /^\/title must be string, got number 3/],
    [{ description: 3 }, /^\/description must be string, got number 3/],
    [{ description: null }, /^\/description must be string, got null/],
    [{ mimeType: 3 }, /^\/mimeType must be string/],
    [{ size: 'x' }, /^\/size must be integer, got string "x"/],
    [{ size: -1 }, /^\/size must be >= 0/],
    [{ icons: 'x' }, /^\/icons must be array/],
    [{ icons: ['a.png'] }, /^\/icons\/0 must be object/],
    [{ icons: [{}] }, /^\/icons\/0\/src is required/],
    [{ icons: [{ src: 'a:b', sizes: '48x48' }] }, /^\/icons\/0\/sizes must be array/],
    [{ icons: [{ src: 'a:b', theme: 'blue' }] }, /^\/icons\/0\/theme must be one of "light", "dark"/],
    [{ annotations: 'x' }, /^\/annotations must be object/],
    [{ annotations: { readOnlyHint: 'yes' } }, /^\/annotations\/readOnlyHint must be boolean/],
    [{ annotations: { audience: 'user' } }, /^\/annotations\/audience must be array/],
    [{ annotations: { audience: ['model'] } }, /^\/annotations\/audience\/0 must be one of "user", "assistant"/],
    [{ annotations: { priority: 2 } }, /^\/annotations\/priority must be <= 1/],
    [{ annotations: { lastModified: 'yesterday' } }, /^\/annotations\/lastModified must match format "date-time"/],
    [{ _meta: 'x' }, /^\/_meta must be object/]
  ]
  const { app } = appOf()
  for (const [wrong, message] of rows) {
    t.match(thrown(() => inspect('Resource', 'a', wrong, app)), { message }, JSON.stringify(wrong))
    t.match(shownProblem(wrong), message)
  }
})

t.test('what clients take passes, and undefined is as good as absent', async t => {
  const { app, warnings } = appOf()
  inspect('Tool', 'a', { name: 'a', title: 'A', description: '', icons: [{ src: 'a:b', mimeType: 'a/b', sizes: ['any'], theme: 'dark' }], annotations: { title: 'A', readOnlyHint: true }, _meta: { x: 1 } }, app)
  inspect('Resource', 'a', { uri: 'a:b', size: 0, annotations: { audience: ['user'], priority: 0, lastModified: '2025-01-12T15:00:58Z' } }, app)
  inspect('Prompt', 'a', { title: undefined, description: undefined, icons: undefined, _meta: undefined, complete: undefined }, app)
  t.strictSame(warnings, [])
})

t.test('a member that nobody knows is warned of once, with those there are', async t => {
  const { app, warnings } = appOf()
  const tool = { name: 'a', descripton: 'x', annotations: { readonlyHint: true }, icons: [{ src: 'a:b', size: '1x1' }] }
  for (let i = 0; i < 3; i++) inspect('Tool', 'a', tool, app)
  t.match(warnings, [/^Tool "a": descripton .*misspelt.*\bdescription\b/, /annotations\.readonlyHint .*\breadOnlyHint\b/, /icons\[0\]\.size .*\bsizes\b/])
  t.equal(warnings.length, 3)
  inspect('Prompt', 'b', { inputSchema: {} }, app)
  inspect('Resource', 'c', { annotations: { readOnlyHint: true } }, app)
  t.match(warnings.slice(3), [/^Prompt "b": inputSchema .*\bargsSchema\b/, /^Resource "c": annotations\.readOnlyHint .*\baudience\b/])
})

t.test('every member that the types name is known', async t => {
  const membersOf = typesOf(['tool', 'resource', 'prompt'])
  for (const [kind, file] of [['Tool', 'tool'], ['Resource', 'resource'], ['Prompt', 'prompt']] as const) {
    const { app, warnings } = appOf()
    for (const name of membersOf(file, kind)) inspect(kind, 'a', { [name]: undefined }, app)
    t.strictSame(warnings, [], kind)
  }
})

/** One program for all files: that is what takes time. */
function typesOf (files: string[]) {
  const pathOf = (file: string) => fileURLToPath(new URL(`../../types/${file}.d.ts`, import.meta.url))
  const program = ts.createProgram(files.map(pathOf), { module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: [] })
  const checker = program.getTypeChecker()
  return (file: string, name: string): string[] => {
    const statement = program.getSourceFile(pathOf(file))?.statements.find(one => ts.isInterfaceDeclaration(one) && one.name.text === name)
    if (statement === undefined) throw new Error(`${file} has no ${name}`)
    return checker.getTypeAtLocation(statement).getProperties().map(one => one.name).filter(one => !one.startsWith('__@'))
  }
}
