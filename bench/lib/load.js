import autocannon from 'autocannon'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pinSelf, spawnLoad } from './child.js'

// Load: one request again and again on 32 connections, and every reply compared with the one that was checked before.
// wrk where it is installed, since it takes the least CPU time itself.

const CONNECTIONS = 32
const hasWrk = spawnSync('wrk', ['--version']).error === undefined

export const generator = hasWrk ? 'wrk' : 'autocannon'
if (!hasWrk) pinSelf()

/** How many replies came in so many seconds. @throws Error where one of them was not the expected one */
export const load = (target, seconds) => hasWrk ? withWrk(target, seconds) : withAutocannon(target, seconds)

async function withAutocannon ({ url, headers, body, reply }, duration) {
  const { requests, non2xx, errors, timeouts, mismatches } = await autocannon({ url, method: 'POST', headers, body, connections: CONNECTIONS, duration, timeout: 30, expectBody: reply })
  return counted(requests.total, non2xx + mismatches, errors + timeouts)
}

const SCRIPT = `
wrk.method = 'POST'
wrk.body = os.getenv('BENCH_BODY')
local expected = os.getenv('BENCH_REPLY')
local threads = {}
function setup (thread) table.insert(threads, thread) end
function init () wrong = 0 end
function response (status, headers, body)
  if status ~= 200 or body ~= expected then wrong = wrong + 1 end
end
function done (summary)
  local errors, wrong = summary.errors, 0
  for _, thread in ipairs(threads) do wrong = wrong + thread:get('wrong') end
  io.write(string.format('\\n%d %d %d\\n', summary.requests, wrong, errors.connect + errors.read + errors.write + errors.timeout))
end
`

async function withWrk ({ url, headers, body, reply }, seconds) {
  const args = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const child = spawnLoad(['wrk', '-t1', '--timeout', '30s', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', scriptFile(), ...args, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_BODY: body, BENCH_REPLY: reply }
  })
  let output = ''
  child.stdout.on('data', chunk => { output += chunk })
  await once(child, 'close')
  return counted(...output.trim().split('\n').at(-1).split(' ').map(Number))
}

function counted (requests, wrong, errors) {
  if (!(requests > 0) || wrong + errors > 0) throw new Error(`of ${requests} replies under load ${wrong} were not the expected one; ${errors} errors`)
  return requests
}

let folder
function scriptFile () {
  if (folder === undefined) {
    folder = mkdtempSync(join(tmpdir(), 'bench-'))
    process.once('exit', () => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'post.lua'), SCRIPT)
  }
  return join(folder, 'post.lua')
}
