import Negotiator from 'negotiator'

const JSON_TYPE = 'application/json'
const SSE_TYPE = 'text/event-stream'
const MAX_KEPT = 200

/** What a client takes. Streams only where it names them: a wildcard is how health checks and proxies ask for anything. */
export interface Accepts { readonly json: boolean, readonly sse: boolean }

const BOTH: Accepts = { json: true, sse: true }
const JSON_ONLY: Accepts = { json: true, sse: false }
/** What clients of the protocol send. */
const USUAL = `${JSON_TYPE}, ${SSE_TYPE}`
const kept = new Map<string, Accepts>([['*/*', JSON_ONLY]])

/** Read once for each value seen; there are few, and whoever sends many fills no memory. */
export function accepted (header: string | undefined): Accepts {
  if (header === USUAL) return BOTH
  if (header === undefined || header === '') return JSON_ONLY
  const known = kept.get(header)
  if (known !== undefined) return known
  const types = new Negotiator({ headers: { accept: bare(header) } }).mediaTypes([JSON_TYPE, SSE_TYPE])
  const json = types.includes(JSON_TYPE)
  const accepts = { json, sse: types.includes(SSE_TYPE) && (!json || header.toLowerCase().includes(SSE_TYPE)) }
  if (kept.size < MAX_KEPT && header.length < 200) kept.set(header, accepts)
  return accepts
}

/** Whether a GET asks for a stream: by its name alone, for whoever admits anything asks for no stream that stays open. */
export const asksForStream = (header: string | undefined): boolean => header?.toLowerCase().includes(SSE_TYPE) === true && accepted(header).sse

/** Without parameters but for the quality: a charset makes no other type of it. */
const bare = (header: string): string => header.split(',').map(range => range.split(';').filter((part, i) => i === 0 || /^\s*q=/i.test(part)).join(';')).join(',')
