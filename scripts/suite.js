// One run of @modelcontextprotocol/conformance, judged by the files that it leaves behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
const suite = dirname(require.resolve('@modelcontextprotocol/conformance/package.json'))
const { parse } = createRequire(join(suite, 'package.json'))('yaml')

const LONGEST_RUN = 240_000

/** Every scenario of the revision, scored or not, with what is wrong in it: `{ name, problems }`. Those without a requirement set run all that applies to them. */
export async function runSuite (revision, url, out) {
  const set = await requirements(revision)
  const child = spawn(process.execPath, [
    '--import', new URL('./fs-glob.js', import.meta.url).href,
    join(suite, 'dist/index.js'),
    'server', '--url', url, ...(set ? ['--requirements', revision] : ['--suite', 'all', '--spec-version', revision]), '-o', out
  ], { stdio: 'ignore', timeout: LONGEST_RUN })
  // Its exit status says nothing of warnings, nor of scenarios that are not scored.
  const [status] = await once(child, 'exit')

  const checks = await readChecks(out)
  if (checks.size === 0) throw new Error(`The suite left no checks behind (exit status ${status})`)
  return (set ?? [...checks.keys()]).map((name) => ({ name, problems: problemsOf(checks.get(name)) }))
}

async function requirements (revision) {
  const text = await readFile(join(suite, 'requirements', `${revision}.yaml`), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const set = parse(text)
  const unscored = set.not_scored.filter(({ leg }) => leg === 'server')
  return [...set.server, ...unscored.map(({ scenario }) => scenario)]
}

async function readChecks (out) {
  const checks = new Map()
  for (const folder of await readdir(out).catch(() => [])) {
    const name = folder.match(/^server-(.+)-\d{4}-\d\d-\d\dT[^/]+$/)?.[1]
    const text = await readFile(join(out, folder, 'checks.json'), 'utf8').catch(() => undefined)
    if (name && text) checks.set(name, JSON.parse(text))
  }
  return checks
}

function problemsOf (checks) {
  if (!checks || checks.length === 0) return ['it ended before it had checked anything']
  return checks
    .filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
    .map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? 'no message'}`)
}
