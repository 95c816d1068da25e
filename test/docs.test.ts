// The documentation says what is so: its snippets compile and run, and its tables name what there is.
import { fork } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { startRedis, withoutRedis } from './support/redis.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const listed = (folder: string): string[] => existsSync(join(root, folder)) ? readdirSync(join(root, folder), { recursive: true }).map(file => join(folder, String(file)).split(sep).join('/')) : []

const pages = ['README.md', ...listed('docs').filter(file => file.endsWith('.md')).sort()].filter(page => existsSync(join(root, page)))

interface Block { page: string, line: number, language: string, text: string }

function blocksOf (page: string): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [i, line] of read(page).split('\n').entries()) {
    const fence = /^\s*```(\w*)/.exec(line)
    if (fence === null) {
      if (open !== undefined) open.text += line + '\n'
    } else if (open === undefined) open = { page, line: i + 1, language: fence[1] ?? '', text: '' }
    else {
      blocks.push(open)
      open = undefined
    }
  }
  if (open !== undefined) throw new Error(`${page}: the block of line ${open.line} has no end`)
  return blocks
}

const blocks = pages.flatMap(blocksOf)
const code = blocks.filter(({ language }) => ['ts', 'js', 'typescript', 'javascript', 'mjs'].includes(language))
const ours = code.filter(({ text }) => text.includes("'fastify-mcp-plugin'"))
const nameOf = ({ page, line }: Block) => `${page}:${line}`
const fileOf = (block: Block, extension: string) => nameOf(block).replace(/[^\w]+/g, '-') + extension

/** By the name that the snippet gives the plugin. */
const registers = ({ text }: Block) => {
  const [, name] = /import (\w+)[^\n]* from 'fastify-mcp-plugin'/.exec(text) ?? /const (\w+) = require\('fastify-mcp-plugin'\)/.exec(text) ?? []
  return name !== undefined && new RegExp(`register\\(\\s*${name}\\b`).test(text)
}

t.test('BB-079 there is documentation', async t => {
  t.ok(pages.includes('README.md'))
  t.ok(pages.length > 5, pages.join(' '))
  t.ok(ours.length > 5, `${ours.length} snippets use the plugin`)
  t.ok(ours.filter(registers).length > 3, `${ours.filter(registers).length} of them register it`)
})

t.test('BB-079 every snippet compiles', async t => {
  const folder = t.testdir(Object.fromEntries(ours.map(block => [fileOf(block, block.language.startsWith('t') ? '.ts' : '.js'), block.text])))
  const program = ts.createProgram(ours.map(block => join(folder, fileOf(block, block.language.startsWith('t') ? '.ts' : '.js'))), {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    allowJs: true,
    checkJs: true,
    noEmit: true
  })
  const wrong = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const block = ours.find(one => file?.fileName.includes(fileOf(one, '.')))
    const at = file === undefined || block === undefined ? file?.fileName ?? '' : `${block.page}:${block.line + 1 + file.getLineAndCharacterOfPosition(start).line}`
    return `${at} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
  t.strictSame(wrong, [])
  for (const block of code.filter(one => !ours.includes(one))) {
    const { diagnostics = [] } = ts.transpileModule(block.text, { reportDiagnostics: true })
    t.strictSame(diagnostics.map(one => ts.flattenDiagnosticMessageText(one.messageText, ' ')), [], `${nameOf(block)} can be read`)
  }
})

interface Answer { url: string, method: string, status: number, wanted?: string, headers: Record<string, string>, answer: any }

/** The answers come by a channel of their own: standard output is the app's, which may log there at any time. */
const run = (file: string, origin: string | undefined, env: Record<string, string>) => new Promise<Answer[]>((resolve, reject) => {
  const program = join(root, 'test/cases/programs/run-snippet.js')
  const child = fork(program, [file, ...(origin === undefined ? [] : [origin])], { timeout: 60_000, cwd: dirname(file), silent: true, execArgv: [], env: { ...process.env, ...env } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => { said += chunk })
  child.on('message', answers => resolve(answers as Answer[]))
  child.on('close', code => reject(new Error(`it ended with ${code} and no answer: ${said.slice(-1500)}`)))
})

t.test('BB-079 what registers the plugin runs and answers', async t => {
  const noRedis = withoutRedis()
  const running = ours.filter(registers).filter(({ text }) => noRedis === false || !text.includes('REDIS_URL'))
  const env: Record<string, string> = noRedis === false ? { REDIS_URL: (await startRedis(t)).url } : {}
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  const extension = ({ text }: Block) => text.includes('require(') ? '.cjs' : '.mjs'
  const folder = t.testdir(Object.fromEntries(running.map(block => [fileOf(block, extension(block)), ts.transpileModule(block.text, { compilerOptions }).outputText])))
  await Promise.all(running.map(async block => {
    const title = nameOf(block)
    const origin = block.text.includes("'@fastify/cors'") ? /https:\/\/[\w.-]+/.exec(block.text)?.[0] : undefined
    const answers = await run(join(folder, fileOf(block, extension(block))), origin, env)
    const of = (method: string) => answers.filter(answer => answer.method === method)
    t.ok(of('initialize').length > 0, `${title} has an endpoint`)
    if (/^ *auth: /m.test(block.text)) {
      for (const { url, status, headers } of [...of('initialize'), ...of('server/discover')]) {
        t.match({ status, headers }, { status: 401, headers: { 'www-authenticate': /resource_metadata="[^"]*\/\.well-known\/oauth-protected-resource\/mcp"/ } }, `${title} ${url}: nobody is told where to get a token`)
      }
      return
    }
    for (const { url, status, answer } of of('initialize')) t.match({ status, answer }, { status: 200, answer: { id: 1, result: { protocolVersion: '2025-11-25' } } }, `${title} ${url}: initialize`)
    for (const { url, status, answer } of of('server/discover')) t.match({ status, answer }, { status: 200, answer: { id: 1, result: { supportedVersions: Array } } }, `${title} ${url}: server/discover`)
    if (origin === undefined) return
    for (const { url, status, headers, wanted = '' } of of('preflight')) {
      t.ok(status >= 200 && status < 300, `${title} ${url}: preflight`)
      t.equal(headers['access-control-allow-origin'], origin)
      for (const verb of ['GET', 'POST', 'DELETE']) t.match(headers['access-control-allow-methods'], verb, `${title}: ${verb}`)
      for (const name of wanted.split(',')) t.match(headers['access-control-allow-headers']?.toLowerCase(), name, `${title}: ${name}`)
    }
    for (const { headers } of [...of('initialize'), ...of('server/discover')]) {
      t.equal(headers['access-control-allow-origin'], origin, `${title}: a browser may read the answer`)
      t.match(headers['access-control-expose-headers']?.toLowerCase(), 'mcp-session-id', `${title}: and the session`)
      t.match(headers['access-control-expose-headers']?.toLowerCase(), 'retry-after', `${title}: and when to come back`)
    }
  }))
})

/** The options by path: `sessions`, `sessions.idle`, … */
function optionsOf (): string[] {
  const source = ts.createSourceFile('options.d.ts', read('types/options.d.ts'), ts.ScriptTarget.Latest, true)
  const interfaces = new Map(source.statements.filter(ts.isInterfaceDeclaration).map(one => [one.name.text, one]))
  const paths = (name: string, prefix: string): string[] => (interfaces.get(name)?.members ?? []).flatMap(member => {
    const path = prefix + member.name?.getText(source)
    const type = ts.isPropertySignature(member) ? member.type?.getText(source) ?? '' : ''
    const nested = [...type.matchAll(/\b\w+Options\b/g)].map(([name]) => name).filter(name => interfaces.has(name))
    return [path, ...nested.flatMap(name => paths(name, `${path}.`))]
  })
  return paths('McpOptions', '')
}

/** The names in the first column of every table of options. */
function documentedOptions (page: string): string[] {
  const names: string[] = []
  let inside = false
  for (const line of read(page).split('\n')) {
    const first = /^\|([^|]*)\|/.exec(line)?.[1]?.trim()
    if (first === undefined) inside = false
    else if (first.toLowerCase() === 'option') inside = true
    else if (inside) names.push(...[...first.matchAll(/`([\w.]+)`/g)].map(([, name]) => name as string))
  }
  return names
}

t.test('BB-079 the options are those that there are', async t => {
  const options = optionsOf()
  t.ok(options.includes('sessions.idle'), `${options.length} options`)
  const documented = pages.map(page => [page, documentedOptions(page)] as const)
  const all = new Set(documented.flatMap(([, names]) => names))
  t.strictSame(options.filter(option => !all.has(option)), [], 'each is documented')
  for (const [page, names] of documented) t.strictSame(names.filter(name => !options.includes(name)), [], `${page}: each of those documented exists`)
  if (pages.includes('README.md')) t.strictSame(options.filter(option => !option.includes('.') && !documentedOptions('README.md').includes(option)), [], 'the README names all at the top')
})

t.test('the members of a tool are those that there are', async t => {
  const source = ts.createSourceFile('tool.d.ts', read('types/tool.d.ts'), ts.ScriptTarget.Latest, true)
  const ofTools = source.statements.filter(ts.isInterfaceDeclaration).filter(({ name }) => ['ToolInfo', 'StructuredToolDefinition'].includes(name.text))
  const members = ofTools.flatMap(one => one.members.map(member => member.name?.getText(source) as string))
  t.ok(members.includes('confirm') && members.includes('handler'), members.join(' '))
  const documented = [...read('docs/tools.md').matchAll(/^\| ((?:`\w+[^`]*`(?:, )?)+) \|/gm)].flatMap(([, first = '']) => [...first.matchAll(/`(\w+)/g)].map(([, name]) => name))
  t.strictSame(members.filter(member => !documented.includes(member)), [], 'each is documented')
  const { members: known } = definitionsOf('Tool')
  t.strictSame(members.filter(member => !known.includes(member)), [], 'and taken for known when a tool is added')
})

/** The words of lib/features/definition.ts. */
function definitionsOf (kind: string): { members: string[] } {
  const text = read('lib/features/definition.ts')
  const common = /common = '([^']*)'/.exec(text)?.[1] ?? ''
  const own = new RegExp(`${kind}: { members: words\\(\`\\$\\{common\\} ([^\`]*)\``).exec(text)?.[1] ?? ''
  return { members: `${common} ${own}`.split(' ') }
}

const errorCodes = (text: string) => [...new Set(text.match(/MCP_ERR_[A-Z_]+/g))].sort()

t.test('BB-079 the errors are those that there are', async t => {
  const codes = [...read('lib/errors.ts').matchAll(/createError(?:<[^>]*>)?\(\s*'(MCP_ERR_[A-Z_]+)'/g)].map(([, code]) => code as string).sort()
  t.ok(codes.length > 5, codes.join(' '))
  const thrown = listed('lib').filter(file => file.endsWith('.ts') && file !== 'lib/errors.ts').flatMap(file => errorCodes(read(file)))
  t.strictSame(codes.filter(code => !thrown.includes(code)), [], 'each is thrown somewhere')
  const documented = pages.includes('docs/errors.md') ? errorCodes(read('docs/errors.md')) : []
  t.strictSame(documented, codes, 'docs/errors.md has them all, and no other')
  for (const file of [...pages, ...listed('types').filter(file => file.endsWith('.d.ts'))]) {
    t.strictSame(errorCodes(read(file)).filter(code => !codes.includes(code)), [], `${file} names no other`)
  }
})

t.test('BB-079 the exports are those that the types promise', async t => {
  const program = ts.createProgram([join(root, 'types/index.d.ts')], { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, skipLibCheck: true, types: [] })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(join(root, 'types/index.d.ts')) as ts.SourceFile
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol)
  const typeOnly = (symbol: ts.Symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    return !(target.flags & ts.SymbolFlags.Value) || (symbol.declarations ?? []).some(one => ts.isExportSpecifier(one) && one.parent.parent.isTypeOnly)
  }
  // What `export type *` brings carries no value, though the symbol behind it may.
  const values = symbols.filter(symbol => !typeOnly(symbol)).map(symbol => symbol.name).sort()
  const url = new URL('../dist/index.js', import.meta.url)
  const module = await import(url.href)
  t.strictSame(Object.keys(module).sort(), values, 'import')
  const required = createRequire(import.meta.url)(fileURLToPath(url))
  const plugin = typeof required === 'function' ? required : required.default
  t.type(plugin, 'function', 'require gives the plugin itself, or leads to it')
  for (const name of values.filter(name => name !== 'module.exports')) t.equal(plugin[name], module[name], `${name} is a property of it`)
})

t.test('BB-079 links lead somewhere', async t => {
  for (const page of pages) {
    const outside = read(page).replace(/```[\s\S]*?```/g, '')
    const targets = [...outside.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string).filter(target => !/^[a-z]+:/.test(target))
    const broken = targets.filter(target => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path).split(sep).join('/')
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsOf(file).includes(anchor)
    })
    t.strictSame(broken, [], page)
  }
  for (const block of blocks.filter(({ language }) => language === 'json')) t.doesNotThrow(() => JSON.parse(block.text), `${nameOf(block)} is JSON`)
})

const anchorsOf = (file: string) => [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-'))
