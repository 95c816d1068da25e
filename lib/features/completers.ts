import type { Completer } from '../../types/index.js'
import { isObject } from '../jsonrpc.js'
import { preview } from '../preview.js'

/**
 * The completers of a prompt or a template, checked.
 * @param known the arguments there are; undefined where any may be
 * @throws Error that names the argument
 */
export function completersOf (complete: unknown, known: readonly string[] | undefined): ReadonlyMap<string, Completer> {
  if (complete !== undefined && !isObject(complete)) throw new Error(`complete must be an object of completers by the names of arguments, got ${preview(complete)}`)
  const completers = new Map<string, Completer>()
  for (const [name, completer] of Object.entries((complete ?? {}) as Record<string, Completer | undefined>)) {
    if (completer === undefined) continue
    if (known !== undefined && !known.includes(name)) throw new Error(`complete has "${name}", but ${known.length === 0 ? 'there is nothing to complete' : `there is only ${known.join(', ')}`}`)
    const usable = typeof completer === 'function' || (Array.isArray(completer) && completer.every(one => typeof one === 'string'))
    if (!usable) throw new Error(`complete.${name} must be an array of strings or a function, got ${preview(completer)}`)
    completers.set(name, completer)
  }
  return completers
}
