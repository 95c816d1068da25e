import { InputFailure, InputRejectedError } from './errors.js'
import { notificationText } from './jsonrpc.js'
import type { Id, Response } from './jsonrpc.js'

/** Requests of our own that wait for the answer of a client. */
export class Asks {
  private readonly prefix: string
  private readonly max: number
  private readonly waiting = new Map<Id, (response: Response | Error) => void>()
  private asked = 0

  /**
   * @param prefix begins their ids
   * @param max how many may wait
   */
  constructor (prefix: string, max: number) {
    this.prefix = prefix
    this.max = max
  }

  /**
   * What aborts the call takes the question back.
   * @param send rejects where it finds out that the client will not get it
   */
  ask (method: string, params: Record<string, unknown>, send: (text: string) => Promise<void> | void, signal: AbortSignal): Promise<unknown> {
    if (this.waiting.size >= this.max) return Promise.reject(new InputFailure(`The client has ${this.max} questions to answer already`))
    const id = `${this.prefix}${++this.asked}`
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        this.waiting.delete(id)
        failing(send(notificationText('notifications/cancelled', { requestId: id, reason: 'The call that asked is over' })), () => {})
        reject(signal.reason)
      }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', withdraw, { once: true })
      const settle = (response: Response | Error) => {
        signal.removeEventListener('abort', withdraw)
        if (response instanceof Error) return reject(response)
        if (!('error' in response)) return resolve(response.result)
        const { code, message } = { ...response.error as { code?: unknown, message?: unknown } | null }
        reject(new InputRejectedError(`The client answered ${method} with an error: ${typeof message === 'string' ? message : 'it says no more'}`, typeof code === 'number' ? code : undefined))
      }
      this.waiting.set(id, settle)
      failing(send(JSON.stringify({ jsonrpc: '2.0', id, method, params })), error => { if (this.waiting.delete(id)) settle(error) })
    })
  }

  /** No answer will come any more. */
  none (reason: Error): void {
    for (const settle of this.waiting.values()) settle(reason)
    this.waiting.clear()
  }

  /** One that nobody waits for is no error. */
  answer (response: Response): void {
    const settle = this.waiting.get(response.id)
    this.waiting.delete(response.id)
    settle?.(response)
  }
}

/** What is sent in this process is sent at once; only what others take part in can fail later. */
function failing (sent: Promise<void> | void, failed: (error: Error) => void): void { if (sent instanceof Promise) sent.catch(failed) }
