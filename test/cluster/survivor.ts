// A client that does what clients can where connections are cut and servers die: it comes back for the rest, and never waits without end.
import { send, type Answer } from '../support/http.js'
import { Inbox, sleep } from '../support/stdio.js'
import type { Message } from '../support/wire.js'

const PATIENCE = 60_000
const PAUSE = 100
const STATELESS = '2026-07-28'
const meta = { 'io.modelcontextprotocol/protocolVersion': STATELESS, 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }

/** What became of a call: its result; an error for it; a connection that was refused or cut with nothing to come back to; or nothing at all. */
export interface Fate { outcome: 'answered' | 'error' | 'cut' | 'silent', text?: string, steps: number[], resumed: number }

export class Survivor {
  readonly revision: string
  private readonly url: string
  private readonly name: string
  private session: string | undefined
  private last = 0

  constructor (url: string, revision: string, name: string) {
    this.url = url
    this.revision = revision
    this.name = name
  }

  async open (): Promise<void> {
    if (this.revision === STATELESS) return
    const answer = await this.insist(() => this.request('POST', { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: this.revision, capabilities: { elicitation: {} }, clientInfo: { name: this.name, version: '1' } } }))
    this.session = String(answer.headers['mcp-session-id'])
    await this.insist(() => this.request('POST', { jsonrpc: '2.0', method: 'notifications/initialized' }))
  }

  /** @param wanted says what the user fills in */
  async call (name: string, args: object, wanted: string): Promise<Fate> {
    const id = ++this.last
    const fate: Fate = { outcome: 'silent', steps: [], resumed: 0 }
    return this.revision === STATELESS ? await this.alone(id, { name, arguments: args }, wanted, fate) : await this.inSession(id, { name, arguments: args, _meta: { progressToken: id } }, wanted, fate)
  }

  private async alone (id: number, params: { name: string, [more: string]: unknown }, wanted: string, fate: Fate): Promise<Fate> {
    const body = { jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta: { ...meta, progressToken: id } } }
    const answer = await this.request('POST', body, { 'mcp-method': 'tools/call', 'mcp-name': params.name }).catch(() => undefined)
    await answer?.over(PATIENCE)
    const message = answer?.messages.find(one => one.id === id)
    if (answer === undefined || message === undefined) return { ...fate, outcome: 'cut' }
    if (message.result?.resultType === 'input_required') {
      const { inputRequests, requestState } = message.result
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map(key => [key, { action: 'accept', content: { name: wanted } }]))
      return await this.alone(++this.last, { ...params, requestState, inputResponses }, wanted, fate)
    }
    return this.judge(message, answer.messages, fate)
  }

  private async inSession (id: number, params: object, wanted: string, fate: Fate): Promise<Fate> {
    const until = Date.now() + PATIENCE
    const seen: Message[] = []
    let answer = await this.request('POST', { jsonrpc: '2.0', id, method: 'tools/call', params }, {}, message => this.heard(message, seen, wanted)).catch(() => undefined)
    for (let from = ''; Date.now() < until;) {
      await answer?.over(until - Date.now())
      const message = seen.find(one => one.id === id && one.method === undefined)
      if (message !== undefined) return this.judge(message, seen, fate)
      from = answer?.events.findLast(one => one.id !== undefined)?.id ?? from
      if (from === '') return { ...fate, outcome: 'cut' }
      // What came after is not kept any more, or the session is over: the client knows.
      if (answer?.status === 400 || answer?.status === 404) return { ...fate, outcome: 'error', text: `HTTP ${answer.status}` }
      await sleep(PAUSE)
      fate.resumed++
      answer = await this.request('GET', undefined, { 'last-event-id': from }, message => this.heard(message, seen, wanted)).catch(() => undefined)
    }
    return fate
  }

  /** A question is answered wherever the answer is taken. */
  private heard (message: Message, seen: Message[], wanted: string): void {
    seen.push(message)
    if (message.method !== 'elicitation/create') return
    this.insist(() => this.request('POST', { jsonrpc: '2.0', id: message.id, result: { action: 'accept', content: { name: wanted } } })).catch(() => {})
  }

  private judge ({ result, error }: Message, messages: Message[], fate: Fate): Fate {
    const steps = messages.filter(one => one.method === 'notifications/progress').map(one => one.params.progress as number)
    return error === undefined ? { ...fate, outcome: 'answered', text: result?.content?.[0]?.text, steps } : { ...fate, outcome: 'error', text: error.message, steps }
  }

  /** Until a server has taken it. */
  private async insist (make: () => Promise<Answer>): Promise<Answer> {
    for (const until = Date.now() + PATIENCE; Date.now() < until; await sleep(PAUSE)) {
      const answer = await make().catch(() => undefined)
      if (answer !== undefined && answer.status < 500) return answer
    }
    throw new Error(`${this.name}: no server has taken it`)
  }

  private request (method: string, body?: object, more: Record<string, string> = {}, take: (message: Message) => void = () => {}): Promise<Answer> {
    const version = this.revision === STATELESS || this.session !== undefined ? { 'mcp-protocol-version': this.revision } : {}
    const headers = { accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream', ...(body !== undefined && { 'content-type': 'application/json' }), ...version, ...(this.session !== undefined && { 'mcp-session-id': this.session }), ...more }
    return send(this.url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }, new Inbox(), (message, answer) => {
      answer.inbox.push(message)
      take(message)
    }).answer
  }
}
