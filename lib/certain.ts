import { isThenable } from './thenable.js'

/** Functions that were found to give promises: their authors are told once. */
const promising = new WeakSet<object>()

/**
 * Whether a function of the author says `true`, and nothing else. One that throws or gives a promise says no: who cannot tell lets nobody in.
 *
 * @param author the function itself
 * @param failed is told why it said nothing
 */
export function certain (ask: () => unknown, author: object, failed: (error: unknown) => void): boolean {
  let said: unknown
  try {
    said = ask()
  } catch (error) {
    failed(error)
    return false
  }
  if (isThenable(said)) {
    Promise.resolve(said).catch(() => {})
    if (!promising.has(author)) failed(new TypeError('it must give true or false at once, and gave a promise'))
    promising.add(author)
  }
  return said === true
}
