import { notificationText, progressText } from './jsonrpc.js'
import type { Id } from './jsonrpc.js'
import { LEVELS, META } from './schemas/envelope.js'
import { quiet } from './input.js'
import type { Questions } from './input.js'
import { checkAsking, checkQuestions, digestOf, elicit, elicitUrl, roots, sample } from './question.js'
import type { Question } from './question.js'
import type { Answers, Context as Public, InputOptions, Question as Asked, SampleParams, Schema } from '../types/index.js'
import type { Exchange } from './exchange.js'

type Level = typeof LEVELS[number]

const DONE = Promise.resolve()
/** What a session hears before it has said what it wants (2025-11-25 server/utilities/logging leaves it to the server). */
const DEFAULT_LEVEL = LEVELS.indexOf('info')

/** What a handler is given. A getter costs nothing until it is read. */
export class Context implements Public {
  readonly #exchange: Exchange
  #progress = -Infinity
  #asked: Map<string, number> | undefined

  constructor (exchange: Exchange) { this.#exchange = exchange }

  get signal () { return this.#exchange.signal }
  get app () { return this.#exchange.owner }
  get request () { return this.#exchange.request }
  get log () { return this.#exchange.request?.log ?? this.#exchange.endpoint.app.log }
  get client () { return this.#exchange.client }
  get capabilities () { return this.#exchange.capabilities }
  get session () { return this.#exchange.session }
  get meta () { return this.#exchange.meta }
  get auth () { return this.#exchange.auth }

  /** Values must grow (2025-11-25 basic/utilities/progress): one that does not is dropped. */
  progress (progress: number, total?: number, message?: string): Promise<void> {
    const token = this.#exchange.meta.progressToken
    if ((typeof token !== 'string' && !Number.isInteger(token)) || !(progress > this.#progress) || progress === Infinity) return DONE
    this.#progress = progress
    const { progress: words } = this.#exchange.served.revision.words
    this.#exchange.send(progressText(token as Id, progress, Number.isFinite(total) ? total : undefined, words.includes('message') ? message : undefined))
    return this.#exchange.channel.ready ?? DONE
  }

  closeStream (): Promise<void> {
    this.#exchange.channel.release?.()
    return DONE
  }

  message (level: Level, data: unknown, logger?: string): Promise<void> {
    if (LEVELS.indexOf(level) < this.#threshold()) return DONE
    let text
    try {
      text = notificationText('notifications/message', { level, logger, data: JSON.stringify(data) === undefined ? null : data })
    } catch (error) {
      this.log.warn({ err: error }, 'a log message for the client holds what JSON cannot carry; it was not sent')
      return DONE
    }
    this.#exchange.send(text)
    return this.#exchange.channel.ready ?? DONE
  }

  input<Q extends Record<string, Asked<unknown>>> (questions: Q, options: InputOptions = {}): Promise<Answers<Q>> {
    try {
      checkQuestions(questions)
      checkAsking(options)
    } catch (error) {
      return quiet(Promise.reject(error))
    }
    return this.#exchange.input.ask(questions as unknown as Questions, options) as Promise<Answers<Q>>
  }

  elicit (message: string, schema: Schema, options?: InputOptions): Promise<any> { return this.#one(() => elicit(message, schema), options) }
  elicitUrl (message: string, url: string, options?: InputOptions) { return this.#one(() => elicitUrl(message, url), options) }
  sample (params: SampleParams | string, options?: InputOptions) { return this.#one(() => sample(params), options) }
  roots (options?: InputOptions) { return this.#one(() => roots(), options) }
  get answers () { return this.#exchange.input.answers }
  get state () { return this.#exchange.input.state }
  once<T> (key: string, make: () => T | Promise<T>) { return this.#exchange.input.once(key, make) as Promise<T> }

  /** One question, under a key that is the same when the handler comes to it again: what is asked, and how often it was before. */
  #one<A> (make: () => Asked<A>, options: InputOptions = {}): Promise<A> {
    let question
    try {
      question = make() as unknown as Question
      checkAsking(options)
    } catch (error) {
      return quiet(Promise.reject(error))
    }
    const name = `${question.method.split('/')[0]}-${digestOf(question)}`
    const asked = this.#asked ??= new Map()
    const times = (asked.get(name) ?? 0) + 1
    asked.set(name, times)
    const key = `${name}-${times}`
    return quiet(this.#exchange.input.ask({ [key]: question }, options).then(answers => answers[key] as A))
  }

  #threshold (): number {
    const { served, session, meta } = this.#exchange
    const wanted = served.revision.stateless ? meta[META.logLevel] : session?.logLevel
    if (wanted !== undefined) return LEVELS.indexOf(wanted as Level)
    return served.revision.stateless ? Infinity : DEFAULT_LEVEL
  }
}
