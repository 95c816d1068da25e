import { isUtf8 } from 'node:buffer'
import { addAbortSignal, Readable } from 'node:stream'
import type { ResourcePart } from '../../types/index.js'
import { base64 } from '../content.js'
import { rpcError } from '../errors.js'
import type { Exchange } from '../exchange.js'
import { isObject } from '../jsonrpc.js'
import { heldProblem } from './blocks.js'
import type { Entry } from './resource.js'

// What a resource holds, from whatever form its `read` gave it.

/** MIME types whose bytes are text. */
const TEXTUAL = /^text\/|[/+.-](?:json|xml|yaml|toml|javascript|typescript|sql|graphql|csv|markdown)\b/i

/** A stream, of Node or of the web, is read to its end, be it promised; everything else is given back as it is. */
export function gathered (value: unknown, entry: Entry, exchange: Exchange, limit: number): unknown {
  if (value instanceof Readable) return collect(value, entry, exchange, limit)
  if (!isObject(value)) return value
  if (typeof value.then === 'function') return Promise.resolve(value).then(value => gathered(value, entry, exchange, limit))
  return isAsyncIterable(value) ? collect(Readable.from(value), entry, exchange, limit) : value
}

const isAsyncIterable = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value

async function collect (stream: Readable, { key, mimeType }: Entry, exchange: Exchange, limit: number): Promise<string | Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  let strings = true
  // Whoever leaves the loop destroys the stream; whoever stops the call does too.
  for await (const chunk of addAbortSignal(exchange.signal, stream)) {
    strings &&= typeof chunk === 'string'
    const bytes: unknown = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!(bytes instanceof Uint8Array)) throw new TypeError(`The stream of resource "${key}" must give bytes or strings; it gave ${typeof bytes}`)
    size += bytes.length
    if (size > limit) {
      exchange.warn(`resource "${key}" is larger than limits.resource, ${limit} bytes`, { limit })
      throw rpcError('InternalError', `the resource is larger than ${limit} bytes`)
    }
    chunks.push(bytes)
  }
  const all = Buffer.concat(chunks)
  const text = TEXTUAL.test(mimeType ?? '') ? isUtf8(all) : strings && size > 0
  return text ? all.toString() : all
}

/** @throws TypeError that says what `read` should have returned */
export function readResult (entry: Entry, uri: string, value: unknown): Record<string, unknown> {
  const { cache } = entry
  const { mimeType } = entry
  if (typeof value === 'string') return { contents: [{ uri, mimeType, text: value }], ...cache }
  if (value instanceof Uint8Array) return { contents: [{ uri, mimeType, blob: base64(value) }], ...cache }
  if (Array.isArray(value)) return { contents: value.map(part => partOf(entry, uri, part)), ...cache }
  if (!isObject(value) || Symbol.iterator in value) throw new TypeError(`read of resource "${entry.key}" must return text, bytes, a stream, an object, parts or a full result; it returned ${typeof value === 'object' ? value?.constructor.name : typeof value}`)
  if (!Array.isArray(value.contents)) return { contents: [{ uri, mimeType: mimeType ?? 'application/json', text: JSON.stringify(value) }], ...cache }
  const { contents, ttlMs = cache.ttlMs, cacheScope = cache.cacheScope, _meta } = value
  return { contents: contents.map(part => partOf(entry, uri, part)), ttlMs, cacheScope, _meta }
}

function partOf (entry: Entry, uri: string, part: ResourcePart): Record<string, unknown> {
  const { text, blob, mimeType = entry.mimeType, _meta } = isObject(part) ? part : {} as Partial<ResourcePart>
  if (typeof text !== 'string' && typeof blob !== 'string' && !(blob instanceof Uint8Array)) throw new TypeError(`read of resource "${entry.key}" returned a part with neither text nor blob`)
  const held = blob === undefined ? { text } : { blob: base64(blob) }
  const said = { uri: part.uri ?? uri, mimeType, ...held, _meta }
  const problem = heldProblem(blob instanceof Uint8Array ? { ...said, blob: '' } : said) // what was made here is base64
  if (problem !== undefined) throw new TypeError(`read of resource "${entry.key}" returned a part that no client could read: part${problem}`)
  return said
}
