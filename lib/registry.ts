/** Things by name, in the order they were added, some of them hidden. Tells when what can be seen has changed. */
export class Registry<T> {
  private readonly items = new Map<string, { item: T, enabled: boolean }>()
  private readonly changed: () => void
  private seen: T[] | undefined

  constructor (changed: () => void) { this.changed = changed }

  has (name: string): boolean { return this.items.has(name) }

  /** The item, hidden or not. */
  peek (name: string): T | undefined { return this.items.get(name)?.item }

  get (name: string): T | undefined {
    const found = this.items.get(name)
    return found?.enabled === true ? found.item : undefined
  }

  /** What can be seen; the same array as long as that is the same. */
  visible (): readonly T[] { return (this.seen ??= [...this.items.values()].filter(one => one.enabled).map(one => one.item)) }

  add (name: string, item: T): void {
    this.items.set(name, { item, enabled: true })
    this.touch()
  }

  remove (name: string): boolean {
    const found = this.items.get(name)
    if (found === undefined) return false
    this.items.delete(name)
    if (found.enabled) this.touch()
    return true
  }

  /** Shows or hides; false where there is nothing of that name. */
  enable (name: string, enabled: boolean): boolean {
    const found = this.items.get(name)
    if (found === undefined) return false
    if (found.enabled !== enabled) {
      found.enabled = enabled
      this.touch()
    }
    return true
  }

  private touch (): void {
    this.seen = undefined
    this.changed()
  }
}
