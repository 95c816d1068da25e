import type { Tool } from '../../types/index.js'
import { text } from '../content.js'
import { Refusal } from '../errors.js'
import type { Exchange } from '../exchange.js'
import { Costs } from '../schemas/definition.js'
import { isThenable } from '../thenable.js'
import { checkOf } from '../validate.js'
import { confirmOf } from './confirm.js'
import type { Confirm } from './confirm.js'
import { Rate } from './rate.js'
import type { Count } from './rate.js'

// What a tool may cost, and whether its user is asked first. A tool without any of it has no such object.

/** When a slot may be free again, in s: nobody knows. */
const SOON = 1

const check = checkOf(Costs)

/** The two halves of a call: whether it may be made like this, and making it. */
export interface Call { check (): void, handle (): unknown }

/** @throws Error that says what is wrong with them */
export function limitsOf (tool: Tool, shared: () => Count | undefined): Limits | undefined {
  const { concurrency, rateLimit, maxResultBytes } = tool
  const problem = check(tool)
  if (problem !== undefined) throw new Error(problem)
  const confirm = confirmOf(tool)
  const rate = rateLimit === undefined ? undefined : new Rate(tool.name, rateLimit, shared)
  if (concurrency === undefined && maxResultBytes === undefined && rate === undefined && confirm === undefined) return undefined
  return new Limits({ name: tool.name, concurrency: concurrency ?? Infinity, maxBytes: maxResultBytes ?? Infinity, rate, confirm })
}

interface Bounds { name: string, concurrency: number, maxBytes: number, rate: Rate | undefined, confirm: Confirm | undefined }

export class Limits {
  private readonly bounds: Bounds
  private running = 0

  constructor (bounds: Bounds) { this.bounds = bounds }

  /**
   * Runs the handler where the call is within its limits and the user wants it. Counted first: what a caller sends too often is not even read.
   *
   * @param again the same call once more, since its handler returned questions
   */
  run (exchange: Exchange, args: unknown, call: Call, again: boolean): unknown {
    const { rate, confirm } = this.bounds
    if (!again && (rate !== undefined || confirm !== undefined)) return this.admitted(exchange, args, call)
    call.check()
    return this.hold(exchange, call)
  }

  private async admitted (exchange: Exchange, args: unknown, call: Call): Promise<unknown> {
    const { rate, confirm } = this.bounds
    const ms = await rate?.take(exchange) ?? 0
    if (ms > 0) throw this.refusal('was called too often', Math.ceil(ms / 1000))
    if (exchange.settled) return undefined // cancelled meanwhile
    call.check()
    if (confirm !== undefined) {
      this.free() // nobody is asked for what could not be done
      await confirm.ask(args, exchange)
      if (exchange.settled) return undefined
    }
    return await this.hold(exchange, call)
  }

  /** A slot is taken until the handler has ended, whatever the client was told or asked meanwhile: work that nobody waits for is work. */
  private hold (exchange: Exchange, { handle }: Call): unknown {
    if (this.bounds.concurrency === Infinity) return handle()
    this.free()
    let held = 1
    const release = (): void => { this.running -= held; held = 0 }
    this.running++
    // One that waits for an answer which comes in another round waits for ever.
    exchange.onParked = release
    try {
      const value = handle()
      if (isThenable(value)) return Promise.resolve(value).finally(release)
      release()
      return value
    } catch (error) {
      release()
      throw error
    }
  }

  private free (): void {
    const { concurrency } = this.bounds
    if (this.running >= concurrency) throw this.refusal(`is busy: ${concurrency === 1 ? 'a call of it runs' : `${concurrency} calls of it run`} already`, SOON)
  }

  private refusal (why: string, seconds: number): Refusal { return new Refusal(`The tool "${this.bounds.name}" ${why}; try again in ${seconds} s.`, seconds) }

  /** The result, or what is said in its place where there is too much of it. */
  fit (result: Record<string, unknown>, exchange: Exchange): Record<string, unknown> {
    const { name, maxBytes } = this.bounds
    const bytes = maxBytes === Infinity ? 0 : Buffer.byteLength(JSON.stringify(result))
    if (bytes <= maxBytes) return result
    exchange.warn('the result of a tool was larger than its maxResultBytes and was not sent', { bytes, maxResultBytes: maxBytes })
    return { content: [text(`The result of the tool "${name}" was too large: it has ${bytes} bytes, and ${maxBytes} are allowed. Ask for less, such as fewer items or a smaller part.`)], isError: true }
  }
}
