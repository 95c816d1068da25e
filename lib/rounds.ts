import { randomUUID } from 'node:crypto'
import type { InputOptions } from '../types/index.js'
import { InputRequired } from './errors.js'
import type { Exchange } from './exchange.js'
import { paramsOf, quiet } from './input.js'
import type { Asker, Questions } from './input.js'
import { digestOf, questionOf } from './question.js'
import type { Question } from './question.js'
import type { State } from './request-state.js'

// 2026-07-28 basic/patterns/mrtr: a call that has a question ends with it; the client makes the call again with the answer, and the handler
// starts from its first line. Answers that were given come back at once.

/** How long a handler may take to wind up after its question, in ms, before the question goes out. */
const WIND_UP = 100

export class Rounds implements Asker {
  private readonly exchange: Exchange
  private readonly before: State | undefined
  private readonly responses: Record<string, unknown>
  private readonly given = new Map<string, State['answers'][string]>()
  private own: { state: unknown, questions: NonNullable<State['questions']> } | undefined
  private readonly running = new Map<string, Promise<unknown>>()
  private readonly made = new Map<string, unknown>()
  /** How often each key was asked in this run. */
  private readonly times = new Map<string, number>()
  private readonly open = new Map<string, { params: Record<string, unknown>, question: Question }>()
  /** The question is on its way. */
  answering = false
  private single = false
  /** An answer of this call was taken. */
  private answered = false
  private marker: InputRequired | undefined
  private stopped = false

  /** @param before what the state of the round before holds; undefined where the call brought none */
  constructor (exchange: Exchange, before: State | undefined, responses: Record<string, unknown>) {
    this.exchange = exchange
    this.before = before
    this.responses = responses
  }

  /** Whether the call answers what the round before it left open. Any other begins anew, whatever state it brings. */
  get goesOn (): boolean {
    const { before, responses } = this
    return before !== undefined && before.stale !== true && Object.keys(before.asked).some(key => Object.hasOwn(responses, key))
  }

  /** Whether the call ends with a question, whatever its handler does now. */
  get required (): boolean { return this.marker !== undefined }

  ask (questions: Questions, { singleUse = false }: InputOptions): Promise<Record<string, unknown>> {
    if (this.stopped) return this.parked()
    const { method } = this.exchange
    // A list or a completion has no place for a question (2026-07-28 basic/patterns/mrtr, Supported Requests).
    if (method !== undefined && method.asks !== true) return quiet(Promise.reject(new Error(`${method.name} cannot ask its client`)))
    let params: Record<string, Record<string, unknown>>
    try { params = paramsOf(this.exchange, questions) } catch (error) { return quiet(Promise.reject(error)) }
    const asked = Object.entries(questions).map(([name, question]) => ({ name, question, key: this.keyOf(name) }))
    this.single ||= singleUse && asked.length > 0
    const answers = asked.map(({ name, question, key }) => {
      const answer = this.answerTo(key, question, singleUse)
      if (answer === undefined) this.open.set(key, { params: params[name] as Record<string, unknown>, question })
      return [name, answer && question.read(answer)] as const
    })
    if (asked.some(({ key }) => this.open.has(key))) return this.stop()
    return Promise.resolve(Object.fromEntries(answers))
  }

  once (key: string, make: () => unknown): Promise<unknown> {
    if (this.stopped) return this.parked()
    const running = this.running.get(key) ?? quiet(this.makeOnce(key, make))
    this.running.set(key, running)
    return running
  }

  /** What only another round brings. A new promise each time: what waits for it goes with it. */
  private parked (): Promise<never> {
    this.exchange.onParked?.()
    return new Promise(() => {})
  }

  private async makeOnce (key: string, make: () => unknown): Promise<unknown> {
    const before = this.before?.once ?? {}
    try {
      const value = Object.hasOwn(before, key) ? before[key] : await make()
      this.made.set(key, value)
      return value
    } catch (error) {
      this.running.delete(key)
      throw error
    }
  }

  /** A key that a run comes to again is another question: it has no answer yet. */
  private keyOf (name: string): string {
    const times = (this.times.get(name) ?? 0) + 1
    this.times.set(name, times)
    return times === 1 ? name : `${name}#${times}`
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
    const params = paramsOf(this.exchange, questions)
    for (const [key, question] of Object.entries(questions)) this.open.set(key, { params: params[key] as Record<string, unknown>, question })
    this.marker ??= new InputRequired('The handler returned questions')
    this.own = { state, questions: Object.fromEntries([...this.open].map(([key, { question: { method, params } }]) => [key, { method, params }])) }
  }

  /** An answer to this very question, from an earlier round or from this call; what does not fit is asked for again. */
  private answerTo (key: string, question: Question, singleUse: boolean): Record<string, unknown> | undefined {
    const { before, responses } = this
    const digest = digestOf(question)
    const earlier = before?.answers[key]
    // One that counts once is good for the rounds of its call; where a call begins anew it was used up.
    const kept = earlier?.digest === digest && (!singleUse || this.goesOn) ? earlier.answer : undefined
    // Without a state nothing says what was asked; that is good enough only where no harm can come of it.
    const counts = before === undefined ? !singleUse && this.running.size === 0 : before.asked[key] === digest
    const answer = kept ?? (counts && Object.hasOwn(responses, key) ? responses[key] : undefined)
    if (answer === undefined || question.check(answer) !== undefined) return undefined
    this.answered ||= kept === undefined
    this.given.set(key, { digest, answer: answer as Record<string, unknown> })
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

  /** The result that asks. What runs once is waited for: it would run again in the next round. */
  async result (): Promise<Record<string, unknown>> {
    this.stopped = true
    await Promise.allSettled(this.running.values())
    const { exchange, own, before } = this
    const open = [...this.open]
    const stale = this.goesOn && !this.answered && Object.keys(this.answers).length === 0
    const state: State = {
      bound: exchange.bound(),
      asked: Object.fromEntries(open.map(([key, { question }]) => [key, digestOf(question)])),
      answers: Object.fromEntries(this.given),
      once: { ...before?.once, ...Object.fromEntries(this.made) },
      ...(stale && { stale }),
      ...(this.single && { single: randomUUID() }),
      ...(own && { own: own.state, questions: own.questions })
    }
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(open.map(([key, { params, question }]) => [key, { method: question.method, params }])),
      requestState: await exchange.endpoint.states.seal(state)
    }
  }
}
