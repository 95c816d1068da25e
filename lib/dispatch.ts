import { CallTimeout, InputFailure, McpError, Refusal, rpcError } from './errors.js'
import type { Exchange } from './exchange.js'
import { isInputRequired } from './content.js'
import type { Questions } from './input.js'
import { errorText, isObject, resultText } from './jsonrpc.js'
import type { Notification, Params } from './jsonrpc.js'
import { KEPT } from './method.js'
import type { Method, Served } from './method.js'

// One message in, one answer out. The walk is synchronous up to the author's code and after it.

export function dispatch (exchange: Exchange): void {
  const { message, served } = exchange
  const found = served.methods.get(message.method)
  if (found === undefined) return respondError(exchange, rpcError('MethodNotFound', message.method), served.revision.unknownMethod)
  const { method, check } = found
  exchange.method = method
  let params
  try {
    params = paramsOf(message.params)
    const problem = check(params)
    if (problem !== undefined) throw rpcError('InvalidParams', problem)
  } catch (error) {
    return failed(exchange, method, error)
  }
  run(exchange, method, params)
}

/** Takes up a call that was ended by a question, where this is one. */
function run (exchange: Exchange, method: Method, params: Params): void {
  let opening
  try {
    opening = method.asks === true && resumes(params) ? exchange.resume(params) : undefined
  } catch (error) {
    return failed(exchange, method, error)
  }
  if (opening === undefined) return call(exchange, method, params)
  exchange.wait()
  opening.then(() => call(exchange, method, params), error => failed(exchange, method, error))
}

function call (exchange: Exchange, method: Method, params: Params): void {
  if (exchange.settled) return // cancelled while its state was opened, or its questions were answered
  let value
  try {
    value = method.call(params, exchange)
    if (value === KEPT) return
    if (isThenable(value)) {
      exchange.wait()
      value.then(value => settled(exchange, method, value), error => failed(exchange, method, error))
      return
    }
  } catch (error) {
    return failed(exchange, method, error)
  }
  settled(exchange, method, value)
}

/** A notification of the client. Nothing is ever answered, and what is unknown is no error. */
export function notify (served: Served, message: Notification, inFlight: Iterable<Exchange>): void {
  const listener = served.listeners.get(message.method)
  if (listener !== undefined && (message.params === undefined || isObject(message.params))) listener.receive(message.params ?? {}, inFlight)
}

/** A call whose time is over is answered at once, with its question where it has come to one; what its handler still does is nobody's. */
export function expire (exchange: Exchange, error: Error): void {
  if (error instanceof CallTimeout) exchange.warn(`the call took longer than ${error.ms} ms and was stopped`, { ms: error.ms })
  else if (error instanceof Refusal) exchange.warn(error.message, { ms: exchange.timeout })
  exchange.abort(error)
  if (exchange.rounds?.answering === true) refuse(exchange, exchange.method as Method, error)
  else failed(exchange, exchange.method as Method, error)
}

function paramsOf (params: unknown): Params {
  if (params === undefined || params === null) return {}
  if (!isObject(params)) throw rpcError('InvalidParams', `params must be an object, got ${Array.isArray(params) ? 'an array' : `a ${typeof params}`}`)
  return params
}

const resumes = (params: Params): boolean => params.requestState !== undefined || params.inputResponses !== undefined

/** A call that ends with a question: whatever its handler has made of it, the client gets the question. */
export function inputRequired (exchange: Exchange): void {
  const { rounds, method } = exchange
  if (exchange.settled || rounds === undefined || rounds.answering || method === undefined) return
  rounds.answering = true
  exchange.wait()
  rounds.result().then(
    result => {
      if (exchange.settled) return // its time was over while it waited for what runs once
      if (unheard(exchange)) return exchange.leave()
      exchange.end(resultText(exchange.message.id, exchange.served.encode(method, result)), 200)
      exchange.endpoint.audit?.answered(exchange, 'asked')
    },
    error => refuse(exchange, method, error))
}

/** A handler that returns its questions: it runs again with the answers, at once or in the next round. */
function askFirst (exchange: Exchange, method: Method, { questions, state }: { questions: Questions, state: unknown }): void {
  if (method.asks !== true) return failed(exchange, method, new Error(`${method.name} cannot ask its client`))
  let answered
  try {
    answered = exchange.input.require(questions, state)
  } catch (error) {
    return failed(exchange, method, error)
  }
  if (answered === undefined) return inputRequired(exchange)
  exchange.wait()
  answered.then(() => run(exchange, method, paramsOf(exchange.message.params)), error => failed(exchange, method, error))
}

function settled (exchange: Exchange, method: Method, value: unknown): void {
  if (exchange.settled) return
  if (exchange.rounds?.required === true) return inputRequired(exchange)
  if (isInputRequired(value)) return askFirst(exchange, method, value)
  let text, result
  try {
    result = method.result === undefined ? value as Record<string, unknown> : method.result(value, exchange)
    text = exchange.served.encode(method, result)
  } catch (error) {
    return failed(exchange, method, error)
  }
  if (unheard(exchange)) return exchange.leave()
  exchange.end(resultText(exchange.message.id, text), 200)
  exchange.endpoint.audit?.answered(exchange, result.isError === true ? 'tool-error' : 'ok')
}

/** Whether hooks shall hear that the client has left: nobody hears the answer. */
const unheard = (exchange: Exchange): boolean => exchange.endpoint.audit !== undefined && exchange.abandoned

function failed (exchange: Exchange, method: Method, error: unknown): void {
  if (exchange.rounds?.required === true) return inputRequired(exchange)
  if (exchange.settled) return exchange.late(error)
  refuse(exchange, method, error)
}

function refuse (exchange: Exchange, method: Method, raised: unknown): void {
  if (exchange.settled) return
  if (exchange.abandoned) {
    exchange.late(raised)
    return exchange.leave()
  }
  let error = raised
  let result
  try {
    result = method.failed?.(error, exchange)
    if (result !== undefined) {
      exchange.end(resultText(exchange.message.id, exchange.served.encode(method, result)), 200, error instanceof Refusal ? error.headers : undefined)
      return exchange.endpoint.audit?.failed(exchange, raised, toldOf(result), true)
    }
  } catch (second) {
    error = second
  }
  const known = error instanceof McpError ? error : error instanceof InputFailure ? rpcError('InternalError', error.message) : rpcError('InternalError', `error id ${exchange.report(error)}`)
  respondError(exchange, known, known.status ?? exchange.served.revision.statuses[known.code] ?? 200)
  exchange.endpoint.audit?.failed(exchange, raised, known.message)
}

/** What a result with `isError` says. */
function toldOf ({ content }: Record<string, unknown>): string {
  const [first] = Array.isArray(content) ? content as Array<{ text?: unknown }> : []
  return String(first?.text ?? '')
}

const respondError = (exchange: Exchange, error: McpError, status: number): void => exchange.end(errorText(exchange.message.id, error), status, error.headers)

const isThenable = (value: unknown): value is PromiseLike<unknown> => typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
