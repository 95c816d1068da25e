// Single calls of 2026-07-28, one after the other, without a server.
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { Exchange } from '../../lib/exchange.js'
import type { Questions } from '../../lib/input.js'
import { RequestStates, type State } from '../../lib/request-state.js'
import { Rounds } from '../../lib/rounds.js'
import { endpointOf, exchangeOf } from '../support/doubles.js'
import { wait } from '../support/time.js'
import { checkDefinition } from '../support/wire.js'

const everything = { elicitation: {}, roots: {} }
const states = new RequestStates({ keys: [randomBytes(32)], ttl: 60_000 })

export interface Round { rounds: Rounds, exchange: Exchange, due: Exchange[], ask (questions: Questions, singleUse?: boolean): Promise<Record<string, unknown>> }

/** One call: the first, or one that brings what the result before asked for. */
export async function round (before?: { requestState: string }, responses: Record<string, unknown> = {}): Promise<Round> {
  const due: Exchange[] = []
  const endpoint = Object.assign({}, endpointOf().endpoint, { states, inputRequired: (one: Exchange) => { due.push(one) } })
  const params = { name: 'x', _meta: { 'io.modelcontextprotocol/clientCapabilities': everything } }
  const { exchange } = exchangeOf(endpoint, 'tools/call', { version: '2026-07-28', params })
  const state = before && await states.open(before.requestState, exchange.bound())
  const rounds = exchange.rounds = new Rounds(exchange, state, responses)
  return { rounds, exchange, due, ask: (questions, singleUse = false) => rounds.ask(questions, { singleUse }) }
}

/** What goes out when the handler is through; it must be what the schema says. */
export async function resultOf (t: Test, { rounds }: Round): Promise<any> {
  const result: any = await rounds.result()
  t.strictSame(checkDefinition('2026-07-28', 'InputRequiredResult', result), [])
  return { ...result, keys: Object.keys(result.inputRequests) }
}

export const stateIn = async (result: any): Promise<State> => await states.open(result.requestState, (await round()).exchange.bound())
export const pending = async (promise: Promise<unknown>) => await Promise.race([promise.then(() => 'settled', () => 'settled'), wait(30).then(() => 'pending')])
