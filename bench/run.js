// npm run bench: what a request costs, as CPU time per request divided by that of a plain Fastify route which checks the same body and answers the same bytes.
// npm run bench streams: see streams.js. npm run bench auth: what a token adds that was seen before. npm run bench redis: what it adds to be one of several processes.
// npm run bench -- --check ends with exit status 1 where a budget is exceeded.
import { generator } from './lib/load.js'
import { Pair } from './lib/pair.js'
import { workloads } from './lib/workloads.js'

const ROUNDS = 7
const SECONDS = 2
const LONGEST_RUN = 300_000
/** What is measured, and with what it is compared; the budget is the workload's own where the suite has none. */
const SUITES = {
  route: { title: 'plugin ÷ plain Fastify route', measured: 'plugin', base: 'plain', names: Object.keys(workloads), levels: ['off', 'warn'] },
  auth: { title: 'plugin that checks tokens (JWT, seen before) ÷ plugin without', measured: 'auth', base: 'plugin', names: ['W1', 'W2'], levels: ['off'], budget: 1.3 },
  redis: { title: 'plugin as one of several processes (Redis on the same machine, its own CPU time not counted) ÷ plugin alone', measured: 'redis', base: 'plugin', names: ['W1', 'W2'], levels: ['off'], budget: Infinity }
}

if (process.argv[2] === 'streams') await import('./streams.js')

const [name = 'route', unknown] = process.argv.slice(2).filter(argument => argument !== '--check')
if (unknown !== undefined || !Object.hasOwn(SUITES, name)) {
  console.error(`bench: ${JSON.stringify(unknown ?? name)} is not known here. There are: ${Object.keys(SUITES).join(', ')}, streams, and --check (exit status 1 where a budget is exceeded).`)
  process.exit(2)
}
const suite = SUITES[name]
const check = process.argv.includes('--check')
setTimeout(() => {
  console.error(`bench: still not done after ${LONGEST_RUN / 1000} s; the machine is too busy to measure on`)
  process.exit(2)
}, LONGEST_RUN).unref()

const pairs = suite.names.flatMap(name => suite.levels.map(level => new Pair(name, level, suite)))
try {
  for (const pair of pairs) await pair.start()
  for (let round = 0; round < ROUNDS; round++) {
    for (const pair of pairs) await pair.round(SECONDS)
  }
} finally {
  await Promise.all(pairs.map(pair => pair.stop()))
}

const lines = pairs.map(lineOf)
console.log(`CPU time per request: ${suite.title}. Medians of ${ROUNDS} rounds; Node.js ${process.version}, load by ${generator}.\n`)
console.log(table(['', 'logger', `${suite.measured} µs`, `${suite.base} µs`, 'ratio', 'from – to', 'budget', ''], lines.map(line => line.cells)))
if (check && lines.some(line => line.over)) process.exitCode = 1

function lineOf ({ name, level, workload: { title, ...workload }, rounds }) {
  const { budget = workload.budget } = suite
  const ratios = rounds.map(({ measured, base }) => measured / base)
  const ratio = median(ratios)
  const over = ratio > budget
  return {
    over,
    cells: [
      `${name} ${title}`, level,
      median(rounds.map(one => one.measured)).toFixed(1), median(rounds.map(one => one.base)).toFixed(1),
      ratio.toFixed(2), `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`,
      budget === Infinity ? 'none' : `≤ ${budget.toFixed(2)}`, over ? 'over budget' : 'ok'
    ]
  }
}

function median (values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function table (head, rows) {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map(row => row[i].length)))
  const line = row => row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join('  ').trimEnd()
  return [head, ...rows].map(line).join('\n')
}
