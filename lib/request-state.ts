import { createHash, randomBytes } from 'node:crypto'
import { rpcError } from './errors.js'
import type { QuestionMethod } from './question.js'

// requestState travels through the client, which may be hostile (2026-07-28 basic/patterns/mrtr, Server Requirements): it is encrypted and
// authenticated (JWE, A256GCM), belongs to one caller and one request, and lasts for a while only.

/** What one round leaves for the next. */
export interface State {
  /** Caller, method, target and digest of the arguments: the request it belongs to. */
  bound: string
  /** The digest of each question that was asked, and of each that has been answered with its answer. */
  asked: Record<string, string>
  answers: Record<string, { digest: string, answer: Record<string, unknown> }>
  once: Record<string, unknown>
  /** What a handler that returned its questions keeps, and those questions. */
  own?: unknown
  questions?: Record<string, { method: QuestionMethod, params: Record<string, unknown> }>
  /** Set where the state counts once. */
  single?: string
}

const MAX_BYTES = 16_384
/** More than that much takes when it is sealed: a third for base64url, and the header. */
const MAX_SEALED = 2 * MAX_BYTES
const SEGMENT = /^[A-Za-z0-9_-]*$/

export interface StateOptions {
  /** 32 bytes each; the first seals, all of them open. */
  keys: Uint8Array[]
  ttl: number
}

/** Seals and opens requestState. The library is loaded by the first call that asks. */
export class RequestStates {
  private readonly keys: Map<string, Uint8Array>
  private readonly ttl: number
  /** Ids of states that count once and have been used, with the end of their time. */
  private readonly used = new Map<string, number>()

  constructor ({ keys, ttl }: StateOptions) {
    const all = keys.length === 0 ? [randomBytes(32)] : keys
    this.keys = new Map(all.map(key => [keyId(key), key]))
    this.ttl = ttl
  }

  /** @throws Error that names the largest part, where there is too much of it */
  async seal (state: State): Promise<string> {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...state, once: carried(state.once), until: Date.now() + this.ttl }))
    if (bytes.length > MAX_BYTES) throw tooLarge(bytes.length, largest(state))
    const { CompactEncrypt } = await import('jose')
    const [kid, key] = [...this.keys][0] as [string, Uint8Array]
    return await new CompactEncrypt(bytes).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid }).encrypt(key)
  }

  /** @throws McpError -32602, the same for all that can be wrong with it */
  async open (sealed: string, bound: string): Promise<State> {
    const state = await this.read(sealed).catch(() => undefined)
    if (state === undefined || state.until <= Date.now() || state.bound !== bound) throw refused()
    if (state.single !== undefined) this.use(state.single, state.until)
    return state
  }

  private async read (sealed: string): Promise<State & { until: number }> {
    if (sealed.length > MAX_SEALED) throw refused()
    // Decoders forgive spare bits; two spellings of one state would be two states.
    if (!sealed.split('.').every(canonical)) throw refused()
    const { compactDecrypt, decodeProtectedHeader } = await import('jose')
    const key = this.keys.get(String(decodeProtectedHeader(sealed).kid))
    if (key === undefined) throw refused()
    const { plaintext } = await compactDecrypt(sealed, key, { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] })
    const { once, ...rest } = JSON.parse(new TextDecoder().decode(plaintext))
    return { ...rest, once: Object.fromEntries(once) }
  }

  private use (id: string, until: number): void {
    const now = Date.now()
    for (const [old, end] of this.used) if (end <= now) this.used.delete(old)
    if (this.used.has(id)) throw refused()
    this.used.set(id, until)
  }
}

const refused = () => rpcError('InvalidParams', 'requestState is not valid here, or its time is over; make the call again without it')
const canonical = (segment: string): boolean => SEGMENT.test(segment) && Buffer.from(segment, 'base64url').toString('base64url') === segment
/** Tells keys apart without telling them. */
const keyId = (key: Uint8Array): string => createHash('sha256').update('fastify-mcp-plugin.kid').update(key).digest('base64url').slice(0, 8)

/** JSON drops a member that is undefined; an entry without a value is still there. */
const carried = (once: State['once']): unknown[][] => Object.entries(once).map(([key, value]) => JSON.stringify(value) === undefined ? [key] : [key, value])

/** What the client has answered is for the client to know; the rest is the author's. */
function tooLarge (bytes: number, { name, answer }: Part): Error {
  const message = `requestState has ${bytes} bytes, more than the ${MAX_BYTES} there may be; the largest part is ${name}`
  return answer === true ? rpcError('InvalidParams', message) : new Error(message)
}

interface Part { name: string, value: unknown, answer?: boolean }

function largest (state: State): Part {
  const parts: Part[] = [
    ...Object.entries(state.once).map(([key, value]) => ({ name: `once("${key}")`, value })),
    ...Object.entries(state.answers).map(([key, { answer }]) => ({ name: `the answer to "${key}"`, value: answer, answer: true })),
    { name: 'the state that the handler returned', value: state.own },
    { name: 'the list of questions', value: [state.asked, state.questions] }
  ]
  const sizes = parts.map(part => ({ part, size: JSON.stringify(part.value)?.length ?? 0 }))
  return sizes.reduce((most, one) => one.size > most.size ? one : most).part
}
