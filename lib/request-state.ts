import { createHash, randomBytes } from 'node:crypto'
import { reached, rpcError } from './errors.js'
import type { QuestionMethod } from './question.js'
import { StateKeys } from './state-keys.js'
import { MemoryStore } from './stores/memory.js'
import type { Store } from '../types/index.js'

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
  /** The round that left it took no answer of those that it was brought: who goes on from here begins anew. */
  stale?: true
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
  /** How long a client has to answer, in ms. */
  readonly ttl: number
  private readonly store: Store
  /** Where processes share the store: the states that were used here. One that the store has lost does not count again. */
  private readonly used: Store | undefined
  private readonly keys: StateKeys
  /** Whether the key is that of this process alone. */
  readonly alone: boolean
  private foreign: (() => void) | undefined

  /**
   * @param shared what several processes share; without keys of their own they find one there
   * @param foreign called once, when a state comes that another process has sealed, and none could open but itself
   */
  constructor ({ keys, ttl }: StateOptions, shared?: Store, foreign?: () => void) {
    this.alone = keys.length === 0 && shared === undefined
    this.keys = new StateKeys(this.alone ? [randomBytes(32)] : keys, shared)
    this.foreign = this.alone ? foreign : undefined
    this.ttl = ttl
    this.store = shared ?? new MemoryStore()
    this.used = shared && new MemoryStore()
  }

  /** @throws Error that names the largest part, where there is too much of it */
  async seal (state: State): Promise<string> {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...state, once: carried(state.once), until: Date.now() + this.ttl }))
    if (bytes.length > MAX_BYTES) throw tooLarge(bytes.length, largest(state))
    const { CompactEncrypt } = await import('jose')
    const [kid, key] = await this.keys.first()
    return await new CompactEncrypt(bytes).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid }).encrypt(key)
  }

  /** @throws McpError -32602, the same for all that can be wrong with it */
  async open (sealed: string, bound: string): Promise<State> {
    const state = await read(sealed, this.keys).catch((error: unknown) => { if (error instanceof Foreign) this.strange() })
    if (state === undefined || state.until <= Date.now() || state.bound !== bound) throw refused()
    if (state.single !== undefined && !await this.use(state.single, state.until - Date.now())) throw refused()
    return state
  }

  /** The processes may have lost the key that they share. */
  async again (): Promise<void> { await this.keys.renew() }

  private async use (single: string, left: number): Promise<boolean> {
    if (await this.used?.swap(single, undefined, '1', left) === false) return false
    try {
      return await reached(this.store.swap(`state:${single}`, undefined, '1', left))
    } catch (error) {
      await this.used?.delete(single)
      throw error
    }
  }

  /** Whether a state is brought for the first time; false where nobody can say. */
  async first (sealed: string): Promise<boolean> {
    return await this.store.swap(`seen:${createHash('sha256').update(sealed).digest('base64url')}`, undefined, '1', this.ttl).catch(() => false)
  }

  private strange (): void {
    this.foreign?.()
    this.foreign = undefined
  }
}

async function read (sealed: string, keys: StateKeys): Promise<State & { until: number }> {
  if (sealed.length > MAX_SEALED) throw refused()
  // Decoders forgive spare bits; two spellings of one state would be two states.
  if (!sealed.split('.').every(canonical)) throw refused()
  const { compactDecrypt, decodeProtectedHeader } = await import('jose')
  const key = await keys.find(String(decodeProtectedHeader(sealed).kid))
  if (key === undefined) throw new Foreign()
  const { plaintext } = await compactDecrypt(sealed, key, { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] })
  const { once, ...rest } = JSON.parse(new TextDecoder().decode(plaintext))
  return { ...rest, once: Object.fromEntries(once) }
}

/** Sealed with a key that is not known here. */
class Foreign extends Error {}

const refused = () => rpcError('InvalidParams', 'requestState is not valid here, or its time is over; make the call again without it')
const canonical = (segment: string): boolean => SEGMENT.test(segment) && Buffer.from(segment, 'base64url').toString('base64url') === segment

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
