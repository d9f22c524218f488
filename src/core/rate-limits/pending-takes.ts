interface PendingTake {
  readonly index: number
  readonly amount: number
}

/**
 * Takes of one subject that came at once, until each is decided. As many as fit together are taken by one statement, all
 * of them or none.
 */
export class PendingTakes<Window extends { readonly used: number }> {
  readonly #limit: number
  readonly #decide: (index: number, window: Window, isAllowed: boolean) => void
  /** In the order in which they came. */
  #left: PendingTake[] = []
  /** Those of them that are to be taken next. */
  #next: PendingTake[] = []

  /** `decide` is told of each take, by its index, with the window as the take leaves it. */
  constructor(limit: number, decide: (index: number, window: Window, isAllowed: boolean) => void) {
    this.#limit = limit
    this.#decide = decide
  }

  add(index: number, amount: number): void {
    this.#left.push({ index, amount })
    this.#next = this.#left
  }

  isDone(): boolean {
    return this.#left.length === 0
  }

  /** Amount to be taken next. */
  amount(): number {
    return this.#next.reduce((sum, { amount }) => sum + amount, 0)
  }

  /** That amount was taken, which left the window like this. */
  taken(window: Window): void {
    let used = window.used - this.amount()
    for (const { index, amount } of this.#next) {
      used += amount
      this.#decide(index, { ...window, used }, true)
    }
    const decided = new Set(this.#next)
    this.#left = this.#left.filter((take) => !decided.has(take))
    this.#planNext(window)
  }

  /** That amount was not taken, and the window was like this a moment ago. */
  refused(window: Window): void {
    this.#planNext(window)
  }

  /** Refuses what does not fit into the window. Of the rest as much is tried next as fits together. */
  #planNext(window: Window): void {
    const room = this.#limit - window.used
    this.#left = this.#left.filter(({ index, amount }) => {
      const mayFit = amount <= room
      if (!mayFit) this.#decide(index, window, false)
      return mayFit
    })
    let left = room
    this.#next = this.#left.filter(({ amount }) => {
      const fits = amount <= left
      if (fits) left -= amount
      return fits
    })
  }
}
