// npm run bench: what a request costs, as CPU time per request divided by that of a plain Fastify route which checks the same body and answers the same bytes.
// npm run bench -- --check ends with exit status 1 where a budget is exceeded.
import { generator } from './lib/load.js'
import { Pair } from './lib/pair.js'
import { workloads } from './lib/workloads.js'

const ROUNDS = 7
const SECONDS = 2
const LONGEST_RUN = 300_000
const LOGGERS = ['off', 'warn']

const [unknown] = process.argv.slice(2).filter(argument => argument !== '--check')
if (unknown !== undefined) {
  console.error(`bench: ${JSON.stringify(unknown)} is not known here. The one argument there is: --check (exit status 1 where a budget is exceeded).`)
  process.exit(2)
}
const check = process.argv.includes('--check')
setTimeout(() => {
  console.error(`bench: still not done after ${LONGEST_RUN / 1000} s; the machine is too busy to measure on`)
  process.exit(2)
}, LONGEST_RUN).unref()

const pairs = Object.keys(workloads).flatMap(name => LOGGERS.map(level => new Pair(name, level)))
try {
  for (const pair of pairs) await pair.start()
  for (let round = 0; round < ROUNDS; round++) {
    for (const pair of pairs) await pair.round(SECONDS)
  }
} finally {
  await Promise.all(pairs.map(pair => pair.stop()))
}

const lines = pairs.map(lineOf)
console.log(`CPU time per request: plugin ÷ plain Fastify route. Medians of ${ROUNDS} rounds; Node.js ${process.version}, load by ${generator}.\n`)
console.log(table(['', 'logger', 'plugin µs', 'plain µs', 'ratio', 'from – to', 'budget', ''], lines.map(line => line.cells)))
if (check && lines.some(line => line.over)) process.exitCode = 1

function lineOf ({ name, level, workload: { title, budget }, rounds }) {
  const ratios = rounds.map(({ plugin, plain }) => plugin / plain)
  const ratio = median(ratios)
  const over = ratio > budget
  return {
    over,
    cells: [
      `${name} ${title}`, level,
      median(rounds.map(one => one.plugin)).toFixed(1), median(rounds.map(one => one.plain)).toFixed(1),
      ratio.toFixed(2), `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`,
      `≤ ${budget.toFixed(2)}`, over ? 'over budget' : 'ok'
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
