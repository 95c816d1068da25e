import { randomUUID } from 'node:crypto'
import type { InputOptions } from '../types/index.js'
import { InputRequired } from './errors.js'
import type { Exchange } from './exchange.js'
import { paramsFor, quiet } from './input.js'
import type { Asker, Questions } from './input.js'
import { digestOf, questionOf } from './question.js'
import type { Question } from './question.js'
import type { State } from './request-state.js'

// 2026-07-28 basic/patterns/mrtr: a call that has a question ends with it; the client makes the call again with the answer, and the handler
// starts from its first line. Answers that were given come back at once.

const NEVER = new Promise<never>(() => {})
/** How long a handler may take to wind up after its question, in ms, before the question goes out. */
const WIND_UP = 100

export class Rounds implements Asker {
  private readonly exchange: Exchange
  private readonly before: State | undefined
  private readonly responses: Record<string, unknown>
  private readonly given: State['answers'] = {}
  private own: { state: unknown, questions: NonNullable<State['questions']> } | undefined
  private readonly once_: Record<string, unknown> = {}
  private readonly open = new Map<string, { params: Record<string, unknown>, question: Question }>()
  /** The question is on its way. */
  answering = false
  private single = false
  private marker: InputRequired | undefined
  private stopped = false

  /** @param before what the state of the round before holds; undefined where the call brought none */
  constructor (exchange: Exchange, before: State | undefined, responses: Record<string, unknown>) {
    this.exchange = exchange
    this.before = before
    this.responses = responses
  }

  /** Whether the call ends with a question, whatever its handler does now. */
  get required (): boolean { return this.marker !== undefined }

  ask (questions: Questions, { singleUse = false }: InputOptions): Promise<Record<string, unknown>> {
    if (this.stopped) return NEVER
    const { method } = this.exchange
    // A list or a completion has no place for a question (2026-07-28 basic/patterns/mrtr, Supported Requests).
    if (method !== undefined && method.asks !== true) return quiet(Promise.reject(new Error(`${method.name} cannot ask its client`)))
    const answers: Record<string, unknown> = {}
    for (const [key, question] of Object.entries(questions)) {
      let params
      try { params = paramsFor(this.exchange, question) } catch (error) { return quiet(Promise.reject(error)) }
      const answer = this.answerTo(key, question, singleUse)
      if (answer === undefined) this.open.set(key, { params, question })
      else answers[key] = question.read(answer)
    }
    if (Object.keys(questions).every(key => !this.open.has(key))) return Promise.resolve(answers)
    this.single ||= singleUse
    return this.stop()
  }

  once (key: string, make: () => unknown): Promise<unknown> {
    if (this.stopped) return NEVER
    const { once_, before } = this
    if (Object.hasOwn(once_, key)) return Promise.resolve(once_[key])
    if (before !== undefined && Object.hasOwn(before.once, key)) return Promise.resolve(once_[key] = before.once[key])
    return quiet((async () => (once_[key] = await make()))())
  }

  get state (): unknown { return this.before?.own }

  /** Those that fit the questions which the handler returned; the others are not there, and it may ask again. */
  get answers (): Record<string, unknown> {
    const out: Record<string, unknown> = {}
    for (const [key, { method, params }] of Object.entries(this.before?.questions ?? {})) {
      const question = questionOf(method, params)
      const answer = Object.hasOwn(this.responses, key) ? this.responses[key] : undefined
      if (answer !== undefined && question.check(answer) === undefined) out[key] = question.read(answer as Record<string, unknown>)
    }
    return out
  }

  require (questions: Questions, state: unknown): undefined {
    for (const [key, question] of Object.entries(questions)) this.open.set(key, { params: paramsFor(this.exchange, question), question })
    this.marker ??= new InputRequired('The handler returned questions')
    this.own = { state, questions: Object.fromEntries([...this.open].map(([key, { question: { method, params } }]) => [key, { method, params }])) }
  }

  /** An answer to this very question, from an earlier round or from this call; what does not fit is asked for again. */
  private answerTo (key: string, question: Question, singleUse: boolean): Record<string, unknown> | undefined {
    const { before, responses } = this
    const digest = digestOf(question)
    const earlier = before?.answers[key]
    const kept = earlier?.digest === digest ? earlier.answer : undefined
    // Without a state nothing says what was asked; that is good enough only where no harm can come of it.
    const counts = before === undefined ? !singleUse && Object.keys(this.once_).length === 0 : before.asked[key] === digest
    const answer = kept ?? (counts && Object.hasOwn(responses, key) ? responses[key] : undefined)
    if (answer === undefined || question.check(answer) !== undefined) return undefined
    this.given[key] = { digest, answer: answer as Record<string, unknown> }
    return answer as Record<string, unknown>
  }

  /** Rejects in a later turn of the loop: `finally` blocks run, questions asked in this turn join the round, and no loop can hold the process. */
  private stop (): Promise<never> {
    if (this.marker === undefined) {
      this.marker = new InputRequired('The client is asked first; the call starts again with its answer')
      this.exchange.abort(this.marker)
      setImmediate(() => { this.stopped = true })
      setTimeout(() => this.exchange.endpoint.inputRequired(this.exchange), WIND_UP)
    }
    const { marker } = this
    return quiet(new Promise((resolve, reject) => setImmediate(() => reject(marker))))
  }

  /** The result that asks. */
  async result (): Promise<Record<string, unknown>> {
    this.stopped = true
    const { exchange, given: answers, once_: once, own } = this
    const asked = Object.fromEntries([...this.open].map(([key, { question }]) => [key, digestOf(question)]))
    const state: State = { bound: exchange.bound(), asked, answers, once, ...(this.single && { single: randomUUID() }), ...(own && { own: own.state, questions: own.questions }) }
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries([...this.open].map(([key, { params, question }]) => [key, { method: question.method, params }])),
      requestState: await exchange.endpoint.states.seal(state)
    }
  }
}
