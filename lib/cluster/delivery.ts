import { NoStreamError } from '../errors.js'
import { channelOf } from './member.js'
import { logOf, OWN, OWN_LIMITS } from './record.js'
import type { ClusterSession } from './session.js'
import { MESSAGE } from './stream.js'
import { trouble } from './trouble.js'

/** A request of this server's own: its id, which names the process that waits for the answer. */
export const QUESTION = /^\{"jsonrpc":"2\.0","id":"(ask-([0-9a-f]{12})-\d+)"/
const WITHDRAWN = /^\{"jsonrpc":"2\.0","method":"notifications\/cancelled","params":\{"requestId":"(ask-[0-9a-f]{12}-\d+)"/
/** How often it is asked whether a new stream has taken the place of one that is gone, in ms. */
const STEP = 50

/** Brings messages for a session to the process that holds its stream. They are kept for a client that comes back. */
export class Delivery {
  private readonly session: ClusterSession
  /** Questions that no stream has said to have brought. */
  private readonly unheard = new Map<string, () => void>()

  constructor (session: ClusterSession) { this.session = session }

  /** @throws NoStreamError where a question cannot come to the client */
  async send (text: string): Promise<void> {
    const { listening, shared: { member } } = this.session
    const [, question] = QUESTION.exec(text) ?? []
    const [, withdrawn] = WITHDRAWN.exec(text) ?? []
    if (withdrawn !== undefined) this.brought(withdrawn)
    try {
      if (question === undefined) await this.append(text, listening?.process ?? member.id)
      else if (!await this.ask(question, text)) throw new NoStreamError('The stream that the client was asked on is gone, and it has no other')
    } catch (error) {
      if (error instanceof NoStreamError) throw error
      member.log.warn(trouble(error), 'a message for a session could not be sent')
      throw new NoStreamError('The question could not be put on the stream of the session')
    }
  }

  /** Whether it came to a process that is there. */
  private async ask (question: string, text: string): Promise<boolean> {
    for (let to = this.session.listening; to !== undefined; to = await this.other(to.stream)) {
      const heard = new Promise<true>(resolve => { this.unheard.set(question, () => resolve(true)) })
      await this.append(text, to.process)
      if (!await this.arrived(heard, to.process)) continue
      this.brought(question)
      return true
    }
    this.brought(question)
    return false
  }

  brought (question: string): void {
    this.unheard.get(question)?.()
    this.unheard.delete(question)
  }

  private append (text: string, process: string): Promise<string> {
    const { member: { store }, idle } = this.session.shared
    return store.append(logOf(this.session.id, OWN), MESSAGE + text, { ...OWN_LIMITS, ttl: idle, tell: channelOf(process) })
  }

  /** False where its process is gone. One that is there but says nothing has lost the connection: its client may come back for it. */
  private async arrived (heard: Promise<true>, process: string): Promise<boolean> {
    const { member } = this.session.shared
    for (let waited = 0; waited < 2 * member.lifetime; waited += member.lifetime / 3) {
      if (await Promise.race([heard, pause(member.lifetime / 3)]) === true) return true
      if (await member.alive(process) === false) return false
    }
    return true
  }

  /** What listens instead of a stream that is gone. */
  private async other (gone: string): Promise<ClusterSession['listening']> {
    const { session } = this
    const { lifetime } = session.shared.member
    await session.vacate(gone, true)
    for (let waited = 0; waited < lifetime / 2; waited += STEP) {
      if (session.listening !== undefined && session.listening.stream !== gone) return session.listening
      await pause(STEP)
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise(resolve => { setTimeout(resolve, ms).unref() })
