/** One step at a time: what comes while one is under way goes together into the next. */
export class Gathered<T> {
  private readonly step: (all: T[]) => Promise<void>
  private waiting: T[] = []
  private next: Promise<void> | undefined
  private last: Promise<void> = Promise.resolve()

  constructor (step: (all: T[]) => Promise<void>) { this.step = step }

  /** Done, or failed, with the step that it goes into. */
  add (one: T): Promise<void> {
    this.waiting.push(one)
    if (this.next !== undefined) return this.next
    const next = this.last.then(() => {
      this.next = undefined
      return this.step(this.waiting.splice(0))
    })
    this.next = next
    this.last = next.catch(() => {})
    return next
  }
}
