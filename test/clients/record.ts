// A fetch that looks at every message on its way to a client, and holds it against the schema of the revision.
import { createParser } from 'eventsource-parser'
import type { Test } from 'tap'
import { checkWire, type Message, type Revision } from '../support/wire.js'

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export class Recorder {
  /** Every message that the server sent, in the order of arrival. */
  readonly messages: Message[] = []
  /** What was asked for: the verb, and the status that came back. */
  readonly requests: Array<{ verb: string, status: number, type: string }> = []
  readonly #t: Test
  readonly #asked = new Map<unknown, string>()
  /** The revision that the client speaks, once that is settled. */
  revision: Revision

  constructor (t: Test, revision: Revision) {
    this.#t = t
    this.revision = revision
  }

  readonly fetch: Fetch = async (url, init) => {
    if (typeof init?.body === 'string') this.#sent(JSON.parse(init.body))
    const response = await fetch(url, init)
    const type = (response.headers.get('content-type') ?? '').split(';')[0] as string
    this.requests.push({ verb: init?.method ?? 'GET', status: response.status, type })
    if (response.body === null) return response
    const { status, statusText, headers } = response
    const recorded = new Response(response.body.pipeThrough(this.#tap(type)), { status, statusText, headers })
    // A response made by hand has no URL of its own, and an EventSource asks for it.
    Object.defineProperty(recorded, 'url', { value: response.url })
    return recorded
  }

  #sent (body: Message | Message[]) {
    for (const one of [body].flat()) if (one.id !== undefined && one.method !== undefined) this.#asked.set(one.id, one.method)
  }

  #tap (type: string) {
    const decoder = new TextDecoder()
    const parser = createParser({
      onEvent: ({ event = 'message', data }) => { if (event === 'message' && data !== '') this.#take(JSON.parse(data)) }
    })
    let whole = ''
    return new TransformStream<Uint8Array, Uint8Array>({
      transform (chunk, controller) {
        const text = decoder.decode(chunk, { stream: true })
        if (type === 'text/event-stream') parser.feed(text)
        else whole += text
        controller.enqueue(chunk)
      },
      flush: () => { if (type === 'application/json' && whole !== '') this.#take(JSON.parse(whole)) }
    })
  }

  #take (message: Message) {
    this.messages.push(message)
    const problems = checkWire(this.revision, message, { method: this.#asked.get(message.id) })
    if (problems.length > 0) this.#t.fail(`wire: ${problems.join('; ')}`, { received: message })
  }
}
