// A value as a message shows it: what kind it is, and as much of it as helps.

export function preview (value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'number') return `number ${value}`
  const kind = value === null ? '' : kindOf(value)
  if (kind === 'function') return kind
  let text: string
  try { text = JSON.stringify(brief(value, 2)) ?? String(value) } catch { return kind }
  if (text.length > 60) text = text.slice(0, 57) + '…'
  return kind === '' || kind === 'object' || kind === 'array' ? text : `${kind} ${text}`
}

/** All that is said of what nobody shall read. */
export function kindOf (value: unknown): string {
  if (value === undefined) return 'nothing'
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** As much of a value as is shown; the rest may be large. */
function brief (value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.slice(0, 60)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
  if (depth === 0) return Array.isArray(value) ? [] : {}
  if (Array.isArray(value)) return value.slice(0, 20).map(one => brief(one, depth - 1))
  const shown: Record<string, unknown> = {}
  let count = 0
  for (const key in value) {
    if (++count > 20) break
    shown[key.slice(0, 60)] = brief((value as Record<string, unknown>)[key], depth - 1)
  }
  return shown
}
