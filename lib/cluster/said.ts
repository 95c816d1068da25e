import type { Change } from '../changes.js'

/** How long a process waits to hear of a change that it has told all, in ms. */
const PATIENCE = 5_000

/** The changes that this process has told all processes, itself included, and has not heard of yet. */
export class Said {
  private readonly waiting = new Map<number, { change: Change, since: number }>()
  private nth = 0

  /** The number that it is heard by. */
  say (change: Change): number {
    this.waiting.set(++this.nth, { change, since: Date.now() })
    return this.nth
  }

  /** Whether that is news: it has not been heard before, nor given up. */
  heard (nth: number): boolean { return this.waiting.delete(nth) }

  /** What should have been heard by now. */
  late (): Change[] {
    const late = [...this.waiting].filter(([, { since }]) => Date.now() - since >= PATIENCE)
    for (const [nth] of late) this.waiting.delete(nth)
    return late.map(([, { change }]) => change)
  }
}
