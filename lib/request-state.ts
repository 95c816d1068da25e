import { createHash, randomBytes } from 'node:crypto'
import { reached, rpcError } from './errors.js'
import type { QuestionMethod } from './question.js'
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
/** How long a key that processes share is kept after one of them has started to use it, in ms. */
const KEY_LIFE = 30 * 24 * 3_600_000
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
  private keys: Map<string, Uint8Array>
  /** Whether the key is that of this process alone. */
  readonly alone: boolean
  private foreign: (() => void) | undefined

  /**
   * @param shared what several processes share; without keys of their own they find one there
   * @param foreign called once, when a state comes that another process has sealed, and none could open but itself
   */
  constructor ({ keys, ttl }: StateOptions, shared?: Store, foreign?: () => void) {
    this.alone = keys.length === 0 && shared === undefined
    this.keys = byId(this.alone ? [randomBytes(32)] : keys)
    this.foreign = this.alone ? foreign : undefined
    this.ttl = ttl
    this.store = shared ?? new MemoryStore()
  }

  /** @throws Error that names the largest part, where there is too much of it */
  async seal (state: State): Promise<string> {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...state, once: carried(state.once), until: Date.now() + this.ttl }))
    if (bytes.length > MAX_BYTES) throw tooLarge(bytes.length, largest(state))
    const { CompactEncrypt } = await import('jose')
    const [kid, key] = [...await this.known()][0] as [string, Uint8Array]
    return await new CompactEncrypt(bytes).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid }).encrypt(key)
  }

  /** @throws McpError -32602, the same for all that can be wrong with it */
  async open (sealed: string, bound: string): Promise<State> {
    const keys = await this.known()
    const state = await read(sealed, keys).catch((error: unknown) => { if (error instanceof Foreign) this.strange() })
    if (state === undefined || state.until <= Date.now() || state.bound !== bound) throw refused()
    if (state.single !== undefined && !await reached(this.store.swap(`state:${state.single}`, undefined, '1', state.until - Date.now()))) throw refused()
    return state
  }

  /** Whether a state is brought for the first time; false where nobody can say. */
  async first (sealed: string): Promise<boolean> {
    return await this.store.swap(`seen:${createHash('sha256').update(sealed).digest('base64url')}`, undefined, '1', this.ttl).catch(() => false)
  }

  private strange (): void {
    this.foreign?.()
    this.foreign = undefined
  }

  private async known (): Promise<ReadonlyMap<string, Uint8Array>> {
    if (this.keys.size === 0) this.keys = byId([await reached(sharedKey(this.store))])
    return this.keys
  }
}

async function read (sealed: string, keys: ReadonlyMap<string, Uint8Array>): Promise<State & { until: number }> {
  if (sealed.length > MAX_SEALED) throw refused()
  // Decoders forgive spare bits; two spellings of one state would be two states.
  if (!sealed.split('.').every(canonical)) throw refused()
  const { compactDecrypt, decodeProtectedHeader } = await import('jose')
  const key = keys.get(String(decodeProtectedHeader(sealed).kid))
  if (key === undefined) throw new Foreign()
  const { plaintext } = await compactDecrypt(sealed, key, { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] })
  const { once, ...rest } = JSON.parse(new TextDecoder().decode(plaintext))
  return { ...rest, once: Object.fromEntries(once) }
}

/** Sealed with a key that is not known here. */
class Foreign extends Error {}

/** The first process to need a key makes one for all. */
async function sharedKey (store: Store): Promise<Uint8Array> {
  for (;;) {
    const key = await store.get('state-key', { touch: KEY_LIFE })
    if (key !== undefined) return Buffer.from(key, 'base64')
    await store.swap('state-key', undefined, randomBytes(32).toString('base64'), KEY_LIFE)
  }
}

const byId = (keys: Uint8Array[]): Map<string, Uint8Array> => new Map(keys.map(key => [keyId(key), key]))
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
