import { CallTimeout, rpcError } from '../errors.js'
import type { Exchange } from '../exchange.js'

/** What was stopped before it had a result is a protocol error, and no secret; everything else is left to dispatch. */
export function stopped (error: unknown, exchange: Exchange, what: string): undefined {
  if (error instanceof CallTimeout) throw rpcError('InternalError', `${what} took longer than ${error.ms} ms and was stopped`)
  if (exchange.stoppedBy(error)) throw rpcError('InternalError', `${what} was stopped`)
}
