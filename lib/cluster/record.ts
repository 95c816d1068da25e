import type { ClientCapabilities, Implementation } from '../../types/index.js'
import type { Session } from '../session.js'

/** What all processes know of a session. */
export interface SessionRecord {
  /** Grows with every change. */
  turn: number
  version: string
  /** Whose it is. */
  principal?: string | undefined
  client?: Implementation | undefined
  capabilities: ClientCapabilities
  /** Where the journal was before there was the session: none of its streams has been there. */
  since?: string | undefined
  level?: Session['logLevel']
  uris?: string[] | undefined
  /** The stream that brings changes, and the process that holds it. */
  listening?: { stream: string, process: string } | undefined
}

/** Keys and logs of one session share a hash tag, so that a cluster keeps them in one place. */
export const keyOf = (session: string): string => `session:{${session}}`
export const logOf = (session: string, stream: string): string => `log:{${session}}:${stream}`
/** The log of messages for the session itself rather than for one of its calls. */
export const OWN = 'own'
export const OWN_LIMITS = { max: 1_000, size: 1_048_576 }
