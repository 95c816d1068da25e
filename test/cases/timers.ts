// Counts the timers that are set and neither cleared nor over, those that do not hold the process among them.
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const lib = fileURLToPath(new URL('../../lib/', import.meta.url))

type Handle = ReturnType<typeof setTimeout>

/** Timers set before are not counted. */
export function watchTimers (t: Test): { open: () => number } {
  const live = new Set<Handle>()
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
  const own = (make: typeof setTimeout, once: boolean) => Object.assign((callback: (...args: unknown[]) => void, ms?: number, ...rest: unknown[]) => {
    // What the test itself waits for is set with a stack that has no line of the plugin in it.
    const ours = new Error().stack?.includes(lib) === true
    const handle: Handle = make((...args: unknown[]) => {
      if (once) live.delete(handle)
      callback(...args)
    }, ms, ...rest)
    if (ours) live.add(handle)
    return handle
  }, make)
  const clear = (undo: typeof clearTimeout) => (handle: Parameters<typeof clearTimeout>[0]) => {
    live.delete(handle as Handle)
    undo(handle)
  }
  Object.assign(globalThis, {
    setTimeout: own(setTimeout, true),
    setInterval: own(setInterval as unknown as typeof setTimeout, false),
    clearTimeout: clear(clearTimeout),
    clearInterval: clear(clearInterval as typeof clearTimeout)
  })
  t.teardown(() => { Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval }) })
  return { open: () => live.size }
}
