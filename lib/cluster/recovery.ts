/** After how long what failed is tried again, in ms: at first, and at most. */
const PACE = { first: 300, most: 5_000 }

/** What has to be done in the end, one step after the other: a step that fails is tried again until it succeeds, and those behind it wait. */
export class Recovery {
  private readonly steps: (() => Promise<unknown>)[] = []
  /** Somebody has asked for it since it last began. */
  private wanted = false
  private running: Promise<void> | undefined
  private closed = false
  private wake = () => {}

  add (step: () => Promise<unknown>): void { this.steps.push(step) }

  /** From the first step on, whatever is under way. Resolves when all is done. */
  run (): Promise<void> {
    this.wanted = true
    this.wake()
    return (this.running ??= this.all().finally(() => { this.running = undefined }))
  }

  close (): void {
    this.closed = true
    this.wake()
  }

  private get given (): boolean { return this.wanted || this.closed }

  private async all (): Promise<void> {
    while (this.wanted && !this.closed) {
      this.wanted = false
      let pace = PACE.first
      for (const step of this.steps) {
        while (!this.given && !await done(step)) {
          await this.pause(pace)
          pace = Math.min(pace * 2, PACE.most)
        }
      }
    }
  }

  private async pause (ms: number): Promise<void> {
    if (this.given) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.wake = resolve
      timer = setTimeout(resolve, ms).unref()
    })
    clearTimeout(timer)
  }
}

const done = (step: () => Promise<unknown>): Promise<boolean> => step().then(() => true, () => false)
