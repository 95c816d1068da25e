import type { Revision as RevisionName } from '../../types/index.js'
import type { AskWords } from './ask.js'

/** What a revision has words for; anything else is cut from what it is sent. */
export interface Words {
  tool: readonly string[]
  progress: readonly string[]
  implementation: readonly string[]
  capabilities: readonly string[]
  /** Types of content blocks, and the members of a block. */
  content: readonly string[]
  block: readonly string[]
  /** Members of a resource and of a template, of what a resource holds, of a prompt and of its arguments, and of annotations. */
  resource: readonly string[]
  contents: readonly string[]
  prompt: readonly string[]
  argument: readonly string[]
  annotations: readonly string[]
  /** structuredContent and outputSchema: not at all, objects alone, or any value. */
  structured: 'none' | 'object' | 'any'
}

/** One revision of the protocol: all that differs from the others. A feature never asks which one it serves. */
export interface Revision {
  readonly version: RevisionName
  /** Version, identity and capabilities ride on every request (2026-07-28 and later); else a handshake settles them. */
  readonly stateless: boolean
  /** Methods a client may send. */
  readonly requests: ReadonlySet<string>
  readonly notifications: ReadonlySet<string>
  readonly words: Words
  readonly ask: AskWords
  /** A question in its words; a string says what it has no words for. */
  readonly question: (method: string, params: Record<string, unknown>, id: string) => Record<string, unknown> | string
  /** How arguments that do not fit a tool's schema are reported. */
  readonly badArguments: 'error' | 'result'
  /** The code for a resource that is not there. */
  readonly resourceNotFound: -32002 | -32602
  readonly batches: boolean
  /** Whether streams of a session have event ids to resume from, and whether an event without data tells the first. */
  readonly resumes: 'no' | 'yes' | 'primed'
  /** HTTP headers repeat parts of the body and are compared with it. */
  readonly mirrors: boolean
  /** HTTP status of the answer to a method that is not there. */
  readonly unknownMethod: 200 | 404
  /** HTTP status of an error that a method raised, by its code; 200 where none is given. */
  readonly statuses: Readonly<Record<number, number>>
  /** The result as text; `identity` is the server's `Implementation` as JSON. */
  readonly encode: (method: string, result: Record<string, unknown>, identity: string) => string
}

export const plus = (before: ReadonlySet<string>, ...names: string[]): ReadonlySet<string> => new Set([...before, ...names])
export const without = (before: ReadonlySet<string>, ...names: string[]): ReadonlySet<string> => new Set([...before].filter(name => !names.includes(name)))
export const more = (before: Words, words: Partial<Record<Exclude<keyof Words, 'structured'>, string[]>> & { structured?: Words['structured'] }): Words => {
  const { structured = before.structured, ...lists } = words
  const merged = Object.entries(lists).map(([noun, added]) => [noun, [...before[noun as keyof typeof lists], ...added]])
  return { ...before, ...Object.fromEntries(merged), structured }
}
