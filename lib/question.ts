import { createHash } from 'node:crypto'
import type { Question as Public, SampleParams, Schema } from '../types/index.js'
import { MCP_ERR_INPUT } from './errors.js'
import { formOf } from './form.js'
import { isObject } from './jsonrpc.js'
import { RootsAnswer, SampleAnswer } from './schemas/answers.js'
import { checkOf } from './validate.js'

// What a client can be asked (client/elicitation, client/sampling, client/roots), in the words of the newest revision.

export type QuestionMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list'

export interface Question {
  readonly method: QuestionMethod
  readonly params: Record<string, unknown>
  /** What the client must have declared, as in its capabilities. */
  readonly needs: Record<string, Record<string, object>>
  /** What is wrong with an answer; undefined when nothing is. */
  check (answer: unknown): string | undefined
  /** What the handler gets of an answer that is right. */
  read (answer: Record<string, unknown>): unknown
}

const ACTIONS = ['accept', 'decline', 'cancel']
const DEFAULT_TOKENS = 1_000
/** They need a capability of their own (2025-11-25 client/sampling, Capabilities). */
const CONTEXTS = ['thisServer', 'allServers']

const checkSample = checkOf(SampleAnswer)
const checkRoots = checkOf(RootsAnswer)

const question = <A>(one: Question): Public<A> => one as unknown as Public<A>

export function elicit (message: string, schema: Schema) {
  const { requestedSchema, fits } = formOf(schema)
  return question<never>({
    method: 'elicitation/create',
    params: { message: said(message), requestedSchema },
    needs: { elicitation: { form: {} } },
    check: answer => checkAction(answer) ?? ((answer as { action: string }).action === 'accept' ? fits((answer as { content?: unknown }).content ?? {}) : undefined),
    read: ({ action, content }) => {
      if (action !== 'accept') return { action }
      const filled = content ?? {}
      fits(filled) // fills in defaults, where the client sent no content at all
      return { action, content: filled }
    }
  })
}

export function elicitUrl (message: string, url: string) {
  return question<never>({
    method: 'elicitation/create',
    params: { mode: 'url', message: said(message), url: absolute(url) },
    needs: { elicitation: { url: {} } },
    check: checkAction,
    read: ({ action }) => ({ action })
  })
}

export function sample (params: SampleParams | string) {
  const full: SampleParams = typeof params === 'string' ? { messages: [{ role: 'user', content: { type: 'text', text: params } }], maxTokens: DEFAULT_TOKENS } : { ...params }
  if (!Array.isArray(full.messages)) throw new MCP_ERR_INPUT('sample() needs messages, an array of { role, content }')
  if (!Number.isInteger(full.maxTokens) || full.maxTokens < 1) throw new MCP_ERR_INPUT(`sample() needs maxTokens, how many tokens the answer may have, got ${String(full.maxTokens)}`)
  return question<never>({
    method: 'sampling/createMessage',
    params: full as unknown as Question['params'],
    needs: { sampling: { ...((full.tools ?? full.toolChoice) !== undefined && { tools: {} }), ...(CONTEXTS.includes(full.includeContext as string) && { context: {} }) } },
    check: checkSample,
    read: answer => answer
  })
}

export function roots () {
  return question<never>({
    method: 'roots/list',
    params: {},
    needs: { roots: {} },
    check: checkRoots,
    read: answer => answer.roots
  })
}

/** A question as it was asked, from what was sent. */
export function questionOf (method: QuestionMethod, params: Record<string, unknown>): Question {
  const made = method === 'roots/list'
    ? roots()
    : method === 'sampling/createMessage'
      ? sample(params as unknown as SampleParams)
      : params.mode === 'url' ? elicitUrl(String(params.message), String(params.url)) : elicit(String(params.message), params.requestedSchema as Schema)
  return made as unknown as Question
}

function said (message: unknown): string {
  if (typeof message !== 'string') throw new MCP_ERR_INPUT(`the message to the user must be a string, got ${typeof message}`)
  return message
}

function absolute (url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url)) throw new MCP_ERR_INPUT(`elicitUrl() needs an absolute URL, such as "https://app.example/pay", got ${JSON.stringify(url)?.slice(0, 100)}`)
  return new URL(url).href
}

/** @throws MCP_ERR_INPUT that names the key of what is no question */
export function checkQuestions (questions: unknown): void {
  if (!isObject(questions)) throw new MCP_ERR_INPUT('it takes an object of questions by their keys')
  for (const [key, one] of Object.entries(questions)) if (!isObject(one) || typeof one.method !== 'string' || typeof one.read !== 'function') throw new MCP_ERR_INPUT(`"${key.slice(0, 100)}" is no question; make it with elicit, elicitUrl, sample or roots`)
}

/** @throws MCP_ERR_INPUT that names what is misspelt: who wants an answer to count once must not get one that counts again */
export function checkAsking (options: object): void {
  const stranger = Object.keys(options).find(name => name !== 'singleUse')
  if (stranger !== undefined) throw new MCP_ERR_INPUT(`${stranger} is not a known property of its options; known: singleUse`)
}

function checkAction (answer: unknown): string | undefined {
  return isObject(answer) && ACTIONS.includes(answer.action as string) ? undefined : `action must be one of ${ACTIONS.join(', ')}`
}

/** Tells one question from another, so that an answer is never taken for that of a question which has changed. */
export const digestOf = (one: Question): string => createHash('sha256').update(JSON.stringify([one.method, one.params])).digest('base64url').slice(0, 16)
