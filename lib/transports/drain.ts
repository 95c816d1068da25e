import type { EventEmitter } from 'node:events'

/** As many characters may wait in one turn of the loop; more is handed to the system at once. */
export const CHUNK = 65_536

interface Output extends EventEmitter { readonly destroyed: boolean, readonly writableNeedDrain: boolean }

const waiting = new WeakMap<Output, Promise<void>>()

/** Resolves when the reader has taken what waits, or is gone; undefined where nothing does. One promise for all who ask meanwhile, and no listener is left. */
export function drained (output: Output): Promise<void> | undefined {
  if (output.destroyed || !output.writableNeedDrain) return undefined
  let promise = waiting.get(output)
  if (promise === undefined) waiting.set(output, promise = next(output).then(() => { waiting.delete(output) }))
  return promise
}

function next (output: Output): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      output.off('drain', done).off('close', done)
      resolve()
    }
    output.on('drain', done).on('close', done)
  })
}
