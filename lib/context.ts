import { notificationText } from './jsonrpc.js'
import { LEVELS, META } from './schemas/envelope.js'
import type { Context as Public } from '../types/index.js'
import type { Exchange } from './exchange.js'

type Level = typeof LEVELS[number]

const DONE = Promise.resolve()
/** What a session hears before it has said what it wants (2025-11-25 server/utilities/logging leaves it to the server). */
const DEFAULT_LEVEL = LEVELS.indexOf('info')

/** What a handler is given. A getter costs nothing until it is read. */
export class Context implements Public {
  readonly #exchange: Exchange
  #progress = -Infinity

  constructor (exchange: Exchange) { this.#exchange = exchange }

  get signal () { return this.#exchange.signal }
  get app () { return this.#exchange.owner }
  get request () { return this.#exchange.request }
  get log () { return this.#exchange.request?.log ?? this.#exchange.endpoint.app.log }
  get client () { return this.#exchange.client }
  get capabilities () { return this.#exchange.capabilities }
  get session () { return this.#exchange.session }
  get meta () { return this.#exchange.meta }
  get auth () { return undefined }

  /** Values must grow (2025-11-25 basic/utilities/progress): one that does not is dropped. */
  progress (progress: number, total?: number, message?: string): Promise<void> {
    const token = this.#exchange.meta.progressToken
    if ((typeof token !== 'string' && !Number.isInteger(token)) || !(progress > this.#progress)) return DONE
    this.#progress = progress
    this.#exchange.send(notificationText('notifications/progress', { progressToken: token, progress, total, message }))
    return DONE
  }

  message (level: Level, data: unknown, logger?: string): Promise<void> {
    if (LEVELS.indexOf(level) < this.#threshold()) return DONE
    let text
    try {
      text = notificationText('notifications/message', { level, logger, data: data === undefined ? null : data })
    } catch (error) {
      this.log.warn({ err: error }, 'a log message for the client holds what JSON cannot carry; it was not sent')
      return DONE
    }
    this.#exchange.send(text)
    return DONE
  }

  #threshold (): number {
    const { served, session, meta } = this.#exchange
    const wanted = served.revision.stateless ? meta[META.logLevel] : session?.logLevel
    if (wanted !== undefined) return LEVELS.indexOf(wanted as Level)
    return served.revision.stateless ? Infinity : DEFAULT_LEVEL
  }
}
