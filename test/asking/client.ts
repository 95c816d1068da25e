// A client that answers what it is asked, the same for every revision and transport: requests in the handshake revisions, rounds from 2026-07-28 on.
import { Type } from '@sinclair/typebox'
import type { Test } from 'tap'
import mcpPlugin from '../../lib/index.js'
import type { McpOptions, Tool } from '../../types/index.js'
import { build, type Server } from '../support/app.js'
import { httpSse, legacy, modern } from '../support/http.js'
import { isResponse, stdio, type Inbox, type Peer, type Reply, type RequestOptions } from '../support/stdio.js'
import type { Message, Revision } from '../support/wire.js'

export interface Asked { method: string, params: any, key?: string, id?: unknown }
/** What the client says to a question: a result, `failure(…)`, or undefined for nothing at all. */
export type Answer = (question: Asked, nth: number) => unknown

const MAX_ROUNDS = 50
const kFailure = Symbol('failure')
export const failure = (code: number, message: string) => ({ [kFailure]: true, error: { code, message } })
const failed = (answer: any): answer is ReturnType<typeof failure> => answer?.[kFailure] === true

export interface Mode { title: string, revision: Revision, over: 'http' | 'stdio' | 'http-sse', rounds: boolean }
export const modeOf = (revision: Revision, over: Mode['over']): Mode => ({ title: `${revision} over ${over}`, revision, over, rounds: revision === '2026-07-28' })

export const requestModes = [modeOf('2025-06-18', 'http'), modeOf('2025-11-25', 'http'), modeOf('2025-11-25', 'stdio')]
export const roundModes = [modeOf('2026-07-28', 'http'), modeOf('2026-07-28', 'stdio')]
/** Where forms can be asked for. */
export const formModes = [...requestModes, ...roundModes]
/** Everywhere. */
export const allModes = [modeOf('2024-11-05', 'http-sse'), modeOf('2024-11-05', 'stdio'), modeOf('2025-03-26', 'http'), ...formModes]

export const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }

export interface Talk {
  reply: Reply
  text: string
  isError: boolean
  /** Every question, in order, those of all rounds together. */
  asked: Asked[]
  /** How many calls it took. */
  rounds: number
  /** What else the server sent that has to do with the call. */
  notes: Message[]
}

export interface CallOptions extends RequestOptions { args?: unknown, params?: Record<string, unknown> }

export class Client {
  readonly mode: Mode
  readonly server: Server
  readonly peer: Peer

  constructor (mode: Mode, server: Server, peer: Peer) {
    this.mode = mode
    this.server = server
    this.peer = peer
  }

  /** Calls a tool to its end, or to the first question that is not answered. */
  async call (name: string, answer: Answer = () => undefined, options: CallOptions = {}): Promise<Talk> {
    const { args, params, ...rest } = options
    return await this.request('tools/call', { name, ...(args === undefined ? {} : { arguments: args }), ...params }, answer, rest)
  }

  /** The same for any method. */
  async request (method: string, params: Record<string, unknown>, answer: Answer, options: RequestOptions = {}): Promise<Talk> {
    return this.mode.rounds ? await this.inRounds(method, params, answer, options) : await this.inOne(method, params, answer, options)
  }

  /** Sends the answer to one request of the server. */
  async tell (id: unknown, answer: unknown) {
    const body = failed(answer) ? { jsonrpc: '2.0', id, error: answer.error } : { jsonrpc: '2.0', id, result: answer }
    const peer = this.peer as any
    if (typeof peer.post === 'function') return await peer.post(body)
    return await peer.write(JSON.stringify(body))
  }

  private async inOne (method: string, params: Record<string, unknown>, answer: Answer, options: RequestOptions): Promise<Talk> {
    const asked: Asked[] = []
    const call = this.peer.start(method, params, options)
    const over = call.reply.then(() => true, () => true)
    for await (const question of questions(call.inbox)) {
      asked.push(question)
      const said = answer(question, asked.length)
      if (said !== undefined) await this.tell(question.id, said)
    }
    await over
    return talk(await call.reply, asked, 1)
  }

  private async inRounds (method: string, params: Record<string, unknown>, answer: Answer, options: RequestOptions): Promise<Talk> {
    const asked: Asked[] = []
    let more: Record<string, unknown> = {}
    for (let round = 1; ; round++) {
      if (round > MAX_ROUNDS) throw new Error(`${method} asks for ever`)
      const reply = await this.peer.request(method, { ...params, ...more }, options)
      if (reply.result?.resultType !== 'input_required') return talk(reply, asked, round)
      const responses: Record<string, unknown> = {}
      for (const [key, one] of Object.entries(reply.result.inputRequests as Record<string, Asked>)) {
        const question = { key, method: one.method, params: one.params }
        asked.push(question)
        const said = answer(question, asked.length)
        if (said !== undefined) responses[key] = said
      }
      if (Object.keys(responses).length === 0) return talk(reply, asked, round)
      more = { inputResponses: responses, requestState: reply.result.requestState }
    }
  }
}

/** The requests in an inbox, until an answer comes. */
export async function * questions (inbox: Inbox): AsyncGenerator<Asked> {
  const seen = new Set<Message>()
  for (;;) {
    const message = await inbox.first('a question or the answer', one => !seen.has(one) && (isResponse(one) || one.id !== undefined), 10_000)
    seen.add(message)
    if (isResponse(message)) return
    yield { id: message.id, method: message.method, params: message.params }
  }
}

function talk (reply: Reply, asked: Asked[], rounds: number): Talk {
  const text = (reply.result?.content ?? []).map((block: any) => block.text ?? '').join('')
  return { reply, text, isError: reply.result?.isError === true, asked, rounds, notes: reply.notes.filter(one => one.id === undefined && !one.method.endsWith('list_changed')) }
}

export interface OpenOptions { tools: Tool[], options?: McpOptions, capabilities?: Record<string, unknown>, headers?: Record<string, string> }

/** A client of this mode, with an app of its own. */
export async function open (t: Test, mode: Mode, { tools, options = {}, capabilities = everything, headers = {} }: OpenOptions): Promise<Client> {
  const server = await build(t, { bare: true, listen: mode.over !== 'stdio', options: { ...options, tools } })
  return await join(t, mode, server, { capabilities, headers })
}

/** One more client of a server. */
export async function join (t: Test, mode: Mode, server: Server, { capabilities = everything, headers = {} }: Omit<OpenOptions, 'tools' | 'options'> = {}): Promise<Client> {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
  const initialize = { capabilities }
  const { app, url } = server
  const peer = mode.over === 'stdio'
    ? await stdio(app, mode.revision, { t, initialize, meta })
    : mode.over === 'http-sse'
      ? await httpSse(url, { t, initialize, headers })
      : mode.rounds ? modern(url, { t, meta, headers }) : await legacy(url, mode.revision, { t, initialize, headers })
  return new Client(mode, server, peer)
}

// What tests ask for and answer with.
export const { defineTool, elicit, elicitUrl, inputRequired, roots, sample } = mcpPlugin
export const Name = Type.Object({ name: Type.String({ minLength: 1 }) })
export const accept = (content?: object) => ({ action: 'accept', ...(content === undefined ? {} : { content }) })
export const named = (name: string) => accept({ name })
export const said = (text: string) => ({ role: 'assistant', content: { type: 'text', text }, model: 'm' })
/** Answers each question with what stands for its message. */
export const byMessage = (answers: Record<string, unknown>): Answer => ({ params, method }) => answers[params.message ?? method]
