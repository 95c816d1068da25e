import { setMaxListeners } from 'node:events'
import type { InputOptions } from '../types/index.js'
import { InputRejectedError, InputUnsupportedError, NoStreamError } from './errors.js'
import type { Exchange } from './exchange.js'
import { isObject } from './jsonrpc.js'
import type { Question } from './question.js'

// Asking the client. The handshake revisions send a request of the server's own and wait; later ones end the call and make it again (rounds.ts).

export type Questions = Record<string, Question>

export interface Asker {
  ask (questions: Questions, options: InputOptions): Promise<Record<string, unknown>>
  once (key: string, make: () => unknown): Promise<unknown>
  /** What the questions that a handler returned were answered with, and the state it returned with them. */
  readonly answers: Record<string, unknown>
  readonly state: unknown
  /** Takes the questions that a handler returned; a promise where it runs again as soon as they are answered. */
  require (questions: Questions, state: unknown): Promise<void> | undefined
}

/** How often a handler may return questions in one call, where that takes no round of the client. */
const MAX_REQUIRED = 20

/** A promise that may go unanswered and unheard without ending the process. */
export function quiet<T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** The params of questions that go together, by their keys, in the words of the exchange's revision. @throws InputUnsupportedError that names all that is missing: then none is put */
export function paramsOf (exchange: Exchange, questions: Questions): Record<string, Record<string, unknown>> {
  const params: Record<string, Record<string, unknown>> = {}
  const reasons = new Set<string>()
  const missing: Question['needs'] = {}
  for (const [key, question] of Object.entries(questions)) {
    const words = wordsFor(exchange, question)
    if (typeof words !== 'string') {
      params[key] = words
      continue
    }
    reasons.add(words)
    for (const [capability, parts] of Object.entries(question.needs)) missing[capability] = { ...missing[capability], ...parts }
  }
  if (reasons.size > 0) throw new InputUnsupportedError([...reasons].join('; '), missing, exchange.served.revision.ask.as === 'request')
  return params
}

/** The params of one question; a string says why it cannot be put. */
function wordsFor (exchange: Exchange, { method, params, needs }: Question): Record<string, unknown> | string {
  const { revision } = exchange.served
  const words = revision.question(method, params, exchange.nextId())
  if (typeof words === 'string') return `The client speaks ${revision.version}: ${words}`
  for (const [capability, parts] of Object.entries(needs)) {
    const has = exchange.capabilities[capability]
    const wanted = revision.ask.parts ? Object.keys(parts) : []
    if (!isObject(has) || !wanted.every(part => offers(has, part))) return `The client has not declared the capability ${[capability, ...wanted].join('.')}`
  }
  return words
}

/** A client that says only that it elicits means forms (2025-11-25 client/elicitation, Capabilities). */
const offers = (has: Record<string, unknown>, part: string): boolean => isObject(has[part]) || (part === 'form' && has.url === undefined)

/** Questions as requests on the stream of the call, or on one of its session. */
export class Requests implements Asker {
  private readonly exchange: Exchange
  answers: Record<string, unknown> = {}
  state: unknown
  private readonly over = new AbortController()
  private required = 0
  private readonly kept = new Map<string, Promise<unknown>>()

  constructor (exchange: Exchange) {
    this.exchange = exchange
    setMaxListeners(0, this.over.signal) // one for each open question
  }

  ask (questions: Questions): Promise<Record<string, unknown>> {
    return Object.keys(questions).length === 0 ? Promise.resolve({}) : quiet(this.all(questions))
  }

  /** None is sent where one cannot be. */
  private async all (questions: Questions): Promise<Record<string, unknown>> {
    const send = this.sender()
    const params = paramsOf(this.exchange, questions)
    const answers = Object.entries(questions).map(async ([key, question]) => [key, await this.one(question, params[key] as Record<string, unknown>, send)] as const)
    for (const answer of answers) quiet(answer)
    return Object.fromEntries(await Promise.all(answers))
  }

  once (key: string, make: () => unknown): Promise<unknown> {
    const before = this.kept.get(key)
    if (before !== undefined) return before
    const made = quiet((async () => await make())())
    this.kept.set(key, made)
    made.catch(() => this.kept.delete(key))
    return made
  }

  require (questions: Questions, state: unknown): Promise<void> {
    if (++this.required > MAX_REQUIRED) throw new Error(`The handler has returned questions ${MAX_REQUIRED} times in one call`)
    return this.ask(questions).then(answers => {
      this.answers = answers
      this.state = state
    })
  }

  /** The call is over or aborted: its questions are taken back. */
  stop (reason: Error): void { this.over.abort(reason) }

  /** @throws NoStreamError */
  private sender (): (text: string) => Promise<void> | void {
    const { exchange } = this
    const { session, channel } = exchange
    if (session === undefined) throw new NoStreamError('A call without a session cannot ask its client')
    const send = channel.connected ? (text: string) => exchange.send(text) : session.sender
    if (send === undefined) throw new NoStreamError('There is no stream to ask the client on: it takes JSON alone, or its connection is gone, and it has no GET stream open')
    return send
  }

  private async one (question: Question, params: Record<string, unknown>, send: (text: string) => Promise<void> | void): Promise<unknown> {
    const answer = await this.exchange.session?.ask(question.method, params, send, this.over.signal)
    const problem = question.check(answer)
    if (problem !== undefined) throw new InputRejectedError(`The client's answer to ${question.method} is not what was asked for: ${problem}`)
    return question.read(answer as Record<string, unknown>)
  }
}
