import type { Change } from '../changes.js'

/** The place of an entry in the journal: when it was written, and which of that millisecond it was. */
export const placeAt = (ms: number, nth = 0): string => `${String(ms).padStart(13, '0')}-${String(nth).padStart(6, '0')}`

export type Event =
  /** `by` and `nth` tell the process that said so that it hears its own. */
  | { kind: 'change', change: Change, by?: string, nth?: number }
  /** From here on a session hears of changes on this stream. */
  | { kind: 'listen', session: string, stream: string, process: string }
  /** The connection of that stream is gone; `found` where others found out. */
  | { kind: 'left', session: string, stream: string, found?: boolean }

const KINDS: readonly unknown[] = ['tools', 'prompts', 'resources', 'resource']

/** What an entry of the journal says; undefined where that is nothing: another version, or a stranger, may have written it. */
export function eventOf (entry: string): Event | undefined {
  let value
  try {
    value = JSON.parse(entry)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, change, session, stream, process } = value as Record<string, unknown>
  const known = kind === 'change'
    ? isChange(change)
    : areTexts(session, stream) && (kind === 'left' || (kind === 'listen' && areTexts(process)))
  return known ? value as Event : undefined
}

const areTexts = (...values: unknown[]): boolean => values.every(one => typeof one === 'string')

function isChange (value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { kind, uri } = value as Record<string, unknown>
  return KINDS.includes(kind) && (kind === 'resource') === (typeof uri === 'string')
}
