import type { Tool } from '../../types/index.js'
import { InputFailure, InputRejectedError, InputUnsupportedError, Refusal } from '../errors.js'
import type { Exchange } from '../exchange.js'
import type { Redact } from './redact.js'

// Asks the user before a tool runs.

/** A box that is left out is not ticked. */
const FORM = { type: 'object', properties: { confirm: { type: 'boolean', title: 'Confirm', default: false } }, required: ['confirm'] }
/** The text of one call is made once: a question that changes from round to round would never be answered. */
const ONCE = 'fastify-mcp-plugin/confirm'

/** Arguments that are shown, and characters of each. */
const MAX_SHOWN = 20
const MAX_LENGTH = 100
/** What would not be seen, or would make what follows look like something else: an argument is the model's word. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** @throws Error that says what is wrong with it */
export function confirmOf (tool: Tool): Confirm | undefined {
  const { confirm, annotations } = tool
  if (confirm === undefined) return undefined
  if (confirm !== true && typeof confirm !== 'function' && (typeof confirm !== 'string' || confirm.trim() === '')) {
    throw new Error(`confirm must be true, what the user is asked, or a function that says it, got ${typeof confirm === 'string' ? 'an empty string' : typeof confirm === 'boolean' ? 'false' : `a value of type ${typeof confirm}`}`)
  }
  if (annotations?.readOnlyHint === true) throw new Error('confirm asks before something is changed, and annotations.readOnlyHint says that nothing is: leave out one of them')
  return new Confirm(tool, confirm)
}

export class Confirm {
  private readonly name: string
  private readonly title: string
  private readonly text: true | string | ((args: never, ctx: Exchange['ctx']) => unknown)

  constructor ({ name, title }: Tool, text: NonNullable<Tool['confirm']>) {
    this.name = name
    this.title = title ?? name
    this.text = text
  }

  /** Resolves when the user has said yes, which counts once. The time of the call begins then: until then it was the user's. @throws Refusal */
  async ask (args: unknown, exchange: Exchange): Promise<void> {
    const { timeout, endpoint: { calls, states: { ttl } } } = exchange
    exchange.wait(this.refusal(`It took longer than ${timeout} ms to say what the user is asked`))
    const message = await this.message(args, exchange)
    exchange.timeout = ttl
    calls.restart(exchange, this.refusal(`The user did not answer within ${ttl} ms`))
    const { action, content } = await exchange.ctx.elicit(message, FORM, { singleUse: true }).catch((error: unknown) => { throw this.unasked(error) })
    if (action !== 'accept' || content.confirm !== true) throw this.refusal('The user did not confirm')
    exchange.timeout = timeout
    calls.restart(exchange)
  }

  private refusal (why: string, more = ''): Refusal { return new Refusal(`${why}: the tool "${this.name}" was not run.${more}`) }

  /** What a question that came to nothing is for whoever called the tool. */
  private unasked (error: unknown): unknown {
    if (error instanceof InputRejectedError) return this.refusal('The user did not confirm', ` ${error.message}.`)
    if (!(error instanceof InputFailure || error instanceof InputUnsupportedError)) return error
    const refusal = this.refusal('The user cannot be asked', ` ${error.message}.`)
    return error instanceof InputUnsupportedError && !error.told ? error.saying(refusal.message) : refusal
  }

  private message (args: unknown, { owner, ctx, target }: Exchange): string | Promise<string> {
    const { text } = this
    const { redact = same } = target as { redact?: Redact | undefined }
    if (text === true) return [`Run ${this.title}?`, ...shown(redact(args) as Record<string, unknown>)].join('\n')
    if (typeof text === 'string') return text
    return ctx.once(ONCE, async () => {
      const said = await text.call(owner, args as never, ctx)
      if (typeof said !== 'string' || said === '') throw new TypeError(`confirm of the tool "${this.name}" must return what the user is asked, a string; it returned ${said === '' ? 'an empty one' : `a value of type ${typeof said}`}`)
      return said
    })
  }
}

const same: Redact = args => args

function shown (args: Record<string, unknown>): string[] {
  const all = Object.entries(args)
  const lines = all.slice(0, MAX_SHOWN).map(([name, value]) => `${short(name)}: ${short(JSON.stringify(value) ?? 'nothing')}`)
  const more = all.length - lines.length
  return [...(lines.length > 0 ? [''] : []), ...lines, ...(more > 0 ? [`… and ${more} more`] : [])]
}

function short (text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}… (${text.length} characters)` : text
  return cut.replace(UNSEEN, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
