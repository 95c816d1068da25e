export const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))
/** What is due in this turn of the loop has happened after it. */
export const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** Waits until something is so, and says whether it is. */
export async function until (what: () => boolean, ms = 3000): Promise<boolean> {
  for (const end = Date.now() + ms; !what() && Date.now() < end;) await wait(5)
  return what()
}
