interface PendingTake {
  readonly index: number
  readonly amount: number
}

/** Concurrent takes of one subject. One statement takes as many as fit together, all or none. */
export class PendingTakes<Window extends { readonly used: number }> {
  readonly #limit: number
  readonly #decide: (index: number, window: Window, isAllowed: boolean) => void
  #left: PendingTake[] = []
  #next: PendingTake[] = []

  /** `decide` gets each take's index and the window after it. */
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

  amount(): number {
    return this.#next.reduce((sum, { amount }) => sum + amount, 0)
  }

  /** `window`: after the take. */
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

  /** `window`: shortly before the refused take. What still fits is tried again. */
  refused(window: Window): void {
    this.#planNext(window)
  }

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
