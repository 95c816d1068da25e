// Compiles what a user would write against types/ in every module mode: the type tests, and a file of 150 tools whose cost is bounded.
// The tools are compiled with skipLibCheck off, which is what checks types/*.d.ts themselves.
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOOLS = 150
const FIELDS = 15
const MAX_SECONDS = 20
const MAX_MEGABYTES = 1024
const COMPILERS = 2

// node16 has no CommonJS mode here: it does not know that require() loads ES modules.
const modes = [
  { name: 'node16 ESM', extension: 'mts', module: 'node16', moduleResolution: 'node16' },
  { name: 'nodenext ESM', extension: 'mts', module: 'nodenext', moduleResolution: 'nodenext' },
  { name: 'nodenext CommonJS', extension: 'cts', module: 'nodenext', moduleResolution: 'nodenext' },
  { name: 'bundler', extension: 'mts', module: 'esnext', moduleResolution: 'bundler' }
]

const root = fileURLToPath(new URL('..', import.meta.url))
const tests = join(root, 'test/types')
const cache = join(root, 'node_modules/.cache/typecheck', String(process.pid)) // inside the package, so that its own name and its dependencies resolve
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
// Processor time, not the time on the clock: a busy machine must not fail this. Single-threaded, since else the threads of the garbage collector count as well.
const clock = 'data:text/javascript,import { writeSync } from "node:fs"; process.on("exit", () => writeSync(1, "CPU time: " + process.cpuUsage().user / 1e6 + "s\\n"))'

const jobs = modes.flatMap((mode, i) => {
  const dir = join(cache, String(i))
  mkdirSync(dir, { recursive: true })
  // Measured first, each beside at most one other.
  return [
    { mode, measured: true, dir, project: project(dir, mode, 'tools', [toolsFile(dir, mode)], false) },
    { mode, measured: false, dir, project: project(dir, mode, 'tests', testFiles(dir, mode), true) }
  ]
}).sort((a, b) => Number(b.measured) - Number(a.measured))

const queue = jobs.values()
await Promise.all(Array.from({ length: COMPILERS }, () => work(queue)))
for (const job of jobs) if (job.measured && job.seconds >= MAX_SECONDS) Object.assign(job, await compile(job.project)) // once more, alone
const failures = modes.flatMap(report)
for (const failure of failures) console.error(`\n${failure}`)
if (failures.length === 0) rmSync(cache, { recursive: true })
process.exitCode = failures.length === 0 ? 0 : 1

async function work (queue) {
  for (const job of queue) Object.assign(job, await compile(job.project))
}

function compile (path) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--single-threaded', '--import', clock, tsc, '-p', path, '--extendedDiagnostics', '--pretty', 'false'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', text => { output += text })
    child.on('error', reject)
    child.on('close', code => {
      const seconds = Number(/^CPU time: ([\d.]+)s/m.exec(output)?.[1] ?? NaN)
      const megabytes = Number(/^Memory used:\s+(\d+)K/m.exec(output)?.[1] ?? NaN) / 1024
      resolve({ code, seconds, megabytes, errors: output.split(/^Files: /m)[0].trimEnd() })
    })
  })
}

/** Prints the line of a mode and returns what is wrong with it. */
function report (mode) {
  const [measured, tested] = jobs.filter(job => job.mode === mode)
  console.log(`${mode.name.padEnd(18)} ${TOOLS} tools ${size(measured)}   type tests ${size(tested)}`)
  const wrong = [measured, tested].filter(job => job.code !== 0).map(job => `${mode.name}: ${job.project}\n${job.errors}`)
  if (!(measured.seconds < MAX_SECONDS)) wrong.push(`${mode.name}: ${measured.seconds} s for ${TOOLS} tools, at most ${MAX_SECONDS} are allowed`)
  if (!(measured.megabytes < MAX_MEGABYTES)) wrong.push(`${mode.name}: ${Math.round(measured.megabytes)} MB for ${TOOLS} tools, at most ${MAX_MEGABYTES} are allowed`)
  return wrong
}

function size ({ code, seconds, megabytes }) {
  return `${seconds.toFixed(1).padStart(5)} s ${megabytes.toFixed(0).padStart(4)} MB ${code === 0 ? 'ok' : 'FAILED'}`
}

function project (dir, { module, moduleResolution }, name, files, skipLibCheck) {
  const path = join(dir, `tsconfig.${name}.json`)
  const compilerOptions = {
    module, moduleResolution, skipLibCheck, target: 'es2022', lib: ['es2023'], types: ['node'], strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true
  }
  writeFileSync(path, JSON.stringify({ compilerOptions, files }))
  return path
}

/** The type tests: where they are, or copies of them as CommonJS. */
function testFiles (dir, { extension }) {
  if (extension === 'mts') return readdirSync(tests).filter(name => name.endsWith('.ts')).map(name => join(tests, name))
  return readdirSync(tests).filter(name => /\.c?ts$/.test(name)).map(name => {
    const copy = join(dir, name.replace(/\.c?ts$/, '.cts'))
    writeFileSync(copy, readFileSync(join(tests, name), 'utf8').replace(/(from '\.\/[\w-]+)\.js'/g, "$1.cjs'"))
    return copy
  })
}

function toolsFile (dir, { extension }) {
  const path = join(dir, `tools.${extension}`)
  const tools = Array.from({ length: TOOLS }, (_, n) => tool(n))
  writeFileSync(path, `import { Type } from '@sinclair/typebox'\nimport { defineTool } from 'fastify-mcp-plugin'\n\n${tools.join('\n')}`)
  return path
}

/** A tool of FIELDS fields: four kinds that are hard on the compiler, the rest plain. */
function tool (n) {
  const plain = Array.from({ length: FIELDS - 4 }, (_, i) => `f${i}: ${i % 3 === 0 ? 'Type.Number()' : 'Type.Optional(Type.String())'}`)
  return `export const tool${n} = defineTool({
  name: 'tool${n}',
  inputSchema: Type.Object({
    ${plain.join(',\n    ')},
    kind: Type.Union([Type.Literal('a${n}'), Type.Literal('b'), Type.Literal('c')]),
    list: Type.Array(Type.Object({ x: Type.Number(), y: Type.Optional(Type.String()) })),
    nested: Type.Object({ a: Type.String(), deeper: Type.Object({ b: Type.Number(), c: Type.Optional(Type.Boolean()) }) }),
    maybe: Type.Optional(Type.Integer())
  }),
  outputSchema: Type.Object({
    sum: Type.Number(),
    kind: Type.Union([Type.Literal('a${n}'), Type.Literal('b'), Type.Literal('c')]),
    rows: Type.Array(Type.Object({ x: Type.Number(), note: Type.Optional(Type.String()) }))
  }),
  async handler (args, ctx) {
    const kind: 'a${n}' | 'b' | 'c' = args.kind
    const maybe: number | undefined = args.maybe
    await ctx.progress(args.f0)
    ${n % 10 === 0 ? '// @ts-expect-error no such member\n    void args.nope' : ''}
    if (maybe === undefined) return { sum: 0, kind: 'b', rows: [] }
    return { sum: args.f0 + args.nested.deeper.b + maybe, kind, rows: args.list.map(({ x }) => ({ x, note: args.nested.a })) }
  }
})
`
}
