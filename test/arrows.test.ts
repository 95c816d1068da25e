// What may import what. A room is a file at the top of lib, or a folder of it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const words = (text: string) => text.split(/[\s,]+/).filter(word => word !== '')
const table = (rows: Record<string, string>) => new Map(Object.entries(rows).map(([room, names]) => [room, new Set(words(names))]))

/** At run time. The first block is the road that a message takes; below it stand the rooms that serve it. */
const arrows = table({
  bin: 'endpoints',
  index: 'options server transports auth sessions subscriptions stores brokers cluster connection content endpoints errors preview question',
  transports: 'dispatch revisions session subscriptions cluster jsonrpc errors exchange connection schemas target',
  dispatch: 'content context validate telemetry jsonrpc errors method',
  exchange: 'auth context input rounds schemas jsonrpc errors',
  context: 'input question schemas jsonrpc errors',
  input: 'request-state schemas validate jsonrpc errors',
  rounds: 'input question errors',
  server: 'audit auth dispatch features extensions validate errors calls served request-state revisions sessions subscriptions',
  audit: 'errors jsonrpc thenable',
  features: 'certain preview thenable validate page uri-template schemas errors jsonrpc json-schema schema-refs content changes method registry',
  extensions: 'validate page uri-template schemas errors jsonrpc json-schema content changes method registry',
  auth: 'certain errors preview target thenable',
  revisions: 'schemas errors jsonrpc',
  sessions: 'session errors replay session-limits',
  session: 'asks errors jsonrpc replay changes session-limits',
  'session-limits': 'replay',
  asks: 'errors jsonrpc',
  subscriptions: 'errors changes',
  cluster: 'stores brokers session sessions replay changes jsonrpc errors',
  stores: '',
  brokers: '',
  telemetry: '',
  options: 'allowed auth errors preview revisions validate schemas',
  preview: '',
  allowed: 'errors',
  certain: 'thenable',
  thenable: '',
  connection: 'auth jsonrpc schemas',
  endpoints: '',
  calls: 'errors',
  served: 'validate',
  method: '',
  registry: '',
  replay: '',
  changes: 'jsonrpc',
  content: 'errors question',
  question: 'errors form jsonrpc schemas validate',
  form: 'json-schema jsonrpc validate errors',
  'json-schema': 'jsonrpc schema-refs',
  'schema-refs': 'jsonrpc',
  validate: 'json-schema preview errors',
  jsonrpc: 'errors',
  errors: '',
  target: '',
  schemas: 'errors preview',
  'uri-template': 'errors',
  page: 'errors',
  'request-state': 'errors state-keys stores',
  'state-keys': 'errors'
})

/** Arrows besides those that carry nothing but types. `exchange` and `method` are the words in which all rooms but the lowest speak of a message. */
const typeArrows = table({
  transports: 'server method changes replay',
  dispatch: 'server revisions exchange input',
  context: 'exchange',
  audit: 'exchange',
  exchange: 'audit method calls session request-state',
  input: 'exchange question',
  rounds: 'exchange request-state',
  server: 'exchange method options changes cluster session-limits',
  cluster: 'method subscriptions session-limits',
  features: 'context exchange subscriptions',
  extensions: 'context exchange subscriptions',
  sessions: 'method',
  session: 'exchange method subscriptions schemas',
  subscriptions: 'stores brokers',
  connection: 'server session',
  calls: 'exchange',
  served: 'method revisions',
  method: 'exchange jsonrpc revisions session validate',
  content: 'input',
  'request-state': 'question',
  'schema-refs': 'json-schema'
})

/** The one place of each package. Fastify itself is known by its types, but to the binary, which makes an app. */
const packages = table({
  bin: 'fastify fastify-plugin',
  index: '@fastify/sse fastify-plugin',
  errors: '@fastify/error',
  jsonrpc: 'secure-json-parse',
  options: '@sinclair/typebox',
  schemas: '@sinclair/typebox',
  validate: 'ajv ajv-formats',
  transports: 'negotiator',
  'json-schema': 'ajv-formats',
  'uri-template': 'url-template ajv-formats',
  'request-state': 'jose',
  auth: 'jose lru-cache',
  features: 'rate-limiter-flexible',
  stores: 'ioredis',
  brokers: 'ioredis',
  telemetry: '@opentelemetry/api'
})
const typePackages = new Set(['fastify', '@sinclair/typebox', 'ioredis'])

interface Import { from: string, to: string, specifier: string, type: boolean }

const filesOf = (folder: string, end: RegExp) => readdirSync(join(root, folder), { recursive: true })
  .map(file => join(folder, String(file)).split(sep).join('/')).filter(file => end.test(file)).sort()

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const parse = (file: string) => ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true)

function importsOf (file: string): Import[] {
  const found: Import[] = []
  const add = (specifier: ts.Expression, type: boolean) => {
    const { text } = specifier as ts.StringLiteral
    const to = text.startsWith('.') ? normalize(join(dirname(file), text)).split(sep).join('/').replace(/\.js$/, '') : text
    found.push({ from: file, to, specifier: text, type })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, carriesTypes(node.importClause))
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && node.arguments[0] !== undefined) {
      // A module named by a variable is one of the user's.
      if (ts.isStringLiteralLike(node.arguments[0])) add(node.arguments[0], false)
    }
    ts.forEachChild(node, visit)
  }
  visit(parse(file))
  return found
}

function carriesTypes (clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.isTypeOnly) return true
  const { name, namedBindings } = clause
  return name === undefined && namedBindings !== undefined && ts.isNamedImports(namedBindings) && namedBindings.elements.length > 0 && namedBindings.elements.every(element => element.isTypeOnly)
}

const roomOf = (path: string): string => path.split('/')[1]?.replace(/\.ts$/, '') ?? path
const packageOf = (specifier: string) => specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
const line = ({ from, specifier, type }: Import) => `${from} → ${specifier}${type ? ' (types)' : ''}`

const lib = filesOf('lib', /\.ts$/)
const imports = lib.flatMap(importsOf)
const own = imports.filter(({ to }) => to.startsWith('lib/'))

t.test('every room is in the table', async t => {
  t.ok(lib.length > 30, `${lib.length} files`)
  t.strictSame([...new Set(lib.map(roomOf))].filter(room => !arrows.has(room)), [])
})

t.test('a room imports what it may and nothing else', async t => {
  const wrong = own.filter(({ from, to, type }) => {
    const [here, there] = [roomOf(from), roomOf(to)]
    if (here === there || arrows.get(here)?.has(there) === true) return false
    return !(type && typeArrows.get(here)?.has(there) === true)
  })
  t.strictSame(wrong.map(line), [])
})

t.test('features and extensions know neither Fastify nor the rooms around them', async t => {
  const far = new Set(['transports', 'revisions', 'stores', 'brokers', 'server', 'dispatch', 'index'])
  const wrong = imports.filter(({ from, to, type }) => /^lib\/(features|extensions)\//.test(from) && !type && (packageOf(to) === 'fastify' || (to.startsWith('lib/') && far.has(roomOf(to)))))
  t.strictSame(wrong.map(line), [])
})

t.test('a package is imported in the one room that has to do with it', async t => {
  const wrong = imports.filter(({ from, to, type }) => {
    if (/^(lib|types)\//.test(to) || to.startsWith('node:')) return false
    return packages.get(roomOf(from))?.has(packageOf(to)) !== true && !(type && typePackages.has(packageOf(to)))
  })
  t.strictSame(wrong.map(line), [])
})

t.test('nothing goes round in a circle', async t => {
  const next = new Map(lib.map(file => [file.replace(/\.ts$/, ''), own.filter(one => one.from === file && !one.type).map(one => one.to)]))
  const done = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, path: string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    if (done.has(file)) return
    for (const to of next.get(file) ?? []) walk(to, [...path, file])
    done.add(file)
  }
  for (const file of next.keys()) walk(file, [])
  t.strictSame(circles, [])
})

t.test('nor do the rooms', async t => {
  // `input` and `exchange` speak of each other by type; at run time each room is above or below another.
  const seen = new Set<string>()
  const circles: string[] = []
  const edges = (room: string) => [...new Set(own.filter(({ from, to, type }) => !type && roomOf(from) === room && roomOf(to) !== room).map(({ to }) => roomOf(to)))]
  const walk = (room: string, path: string[]): void => {
    if (path.includes(room)) circles.push([...path.slice(path.indexOf(room)), room].join(' → '))
    else if (!seen.has(room)) {
      for (const to of edges(room)) walk(to, [...path, room])
      seen.add(room)
    }
  }
  for (const room of arrows.keys()) walk(room, [])
  t.strictSame(circles, [])
})

t.test('types are a contract: lib is held to them, and they know nothing of lib', async t => {
  const contract = filesOf('types', /\.d\.ts$/)
  t.ok(contract.length > 5)
  const known = /^(fastify|@sinclair\/typebox|node:[\w/]+)$/
  const strangers = contract.flatMap(importsOf).filter(({ to }) => !to.startsWith('types/') && !known.test(to))
  t.strictSame(strangers.map(line), [], 'they import each other, Fastify, TypeBox and Node')
  t.strictSame(imports.filter(({ to, type }) => to.startsWith('types/') && !type).map(line), [], 'lib imports them as types')
  t.strictSame(imports.filter(({ to }) => to.startsWith('types/') && to !== 'types/index').map(line), [], 'by their index')
})

t.test('a file is one noun', async t => {
  const vague = /(^|\/|-)(utils?|helpers?|common|misc|shared|manager|service|base)(-|\/|\.)/i
  t.strictSame(lib.filter(file => vague.test(file)), [], 'and says which')
  const long = lib.map(file => [file, read(file).split('\n').length - 1] as const).filter(([, lines]) => lines > 250)
  t.strictSame(long, [], 'in 250 lines at most')
  const barrels = lib.filter(file => parse(file).statements.every(one => ts.isExportDeclaration(one) || ts.isImportDeclaration(one)))
  t.strictSame(barrels, [], 'and is no list of others')
})

t.test('a function fits on a page', async t => {
  const long: string[] = []
  for (const file of lib) {
    const source = parse(file)
    const lineAt = (at: number) => source.getLineAndCharacterOfPosition(at).line
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
        const lines = lineAt(node.end) - lineAt(node.getStart(source)) + 1
        if (lines > 40) long.push(`${file}:${lineAt(node.getStart(source)) + 1} has ${lines} lines`)
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  t.strictSame(long, [])
})

t.test('the table holds no arrow of a room that is gone', async t => {
  const expected = new Set([...words('auth extensions telemetry'), ...lib.map(roomOf)])
  t.strictSame([...arrows.keys(), ...typeArrows.keys(), ...packages.keys()].filter(room => !expected.has(room)), [])
})
