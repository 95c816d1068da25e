import { Writable } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'

// On stdio, standard output is for messages alone (2026-07-28 basic/transports/stdio): everything else that is written there goes to standard error.

type Write = typeof process.stdout.write

let claimed: Writable | undefined

/** Takes standard output for messages. What a `console.log` or a logger made for standard output writes from now on goes to standard error. */
export function claimStdout (log: FastifyBaseLogger): Writable {
  moveLogger(log)
  if (claimed !== undefined) return claimed
  const { stdout, stderr } = process
  const write: Write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as Write
  const output = new Writable({
    decodeStrings: false,
    write (chunk, encoding, callback) { write(chunk, encoding, callback) }
  })
  stdout.on('error', error => output.destroy(error)).on('close', () => output.destroy())
  claimed = output
  return output
}

/** pino keeps its destination under a symbol that child loggers inherit. */
function moveLogger (log: FastifyBaseLogger): void {
  for (let at: unknown = log; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at)) {
    const symbol = Object.getOwnPropertySymbols(at).find(one => one.description === 'pino.stream')
    if (symbol === undefined) continue
    const destination = (at as Record<symbol, { fd?: number } | undefined>)[symbol]
    if (destination?.fd === 1) Object.assign(at, { [symbol]: { write: (line: string) => process.stderr.write(line) } })
  }
}
