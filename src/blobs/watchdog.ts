export class Stalled extends Error {
  override readonly name = 'Stalled'
}

export class Watchdog {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #follow = () => this.#abort(this.#caller?.reason)
  #timer: ReturnType<typeof setTimeout> | null = null
  /** Milliseconds without progress. */
  #timeout = 0
  #deadline = Number.POSITIVE_INFINITY

  constructor(caller?: AbortSignal) {
    this.#caller = caller
    caller?.addEventListener('abort', this.#follow)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Milliseconds from now. */
  arm(milliseconds: number): void {
    const sooner = milliseconds < this.#timeout
    this.#timeout = milliseconds
    this.#deadline = performance.now() + milliseconds
    if (this.#timer !== null && sooner) {
      clearTimeout(this.#timer)
      this.#timer = null
    }
    if (this.#timer === null) this.#setTimer(milliseconds)
  }

  restart(): void {
    this.arm(this.#timeout)
  }

  disarm(): void {
    this.#deadline = Number.POSITIVE_INFINITY
  }

  abort(reason: string): void {
    this.#abort(new Error(reason))
  }

  release(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#caller?.removeEventListener('abort', this.#follow)
  }

  #abort(reason: unknown): void {
    this.#controller.abort(reason)
    this.release()
  }

  /** Every chunk restarts the timeout, so a new timer is set only when the old one has fired. */
  #check(): void {
    this.#timer = null
    if (this.#deadline === Number.POSITIVE_INFINITY) return
    const left = this.#deadline - performance.now()
    if (left > 0) this.#setTimer(left)
    else this.#abort(new Stalled(`nothing moved for ${this.#timeout} ms`))
  }

  #setTimer(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#check(), milliseconds)
    // The request keeps the process alive; a watchdog without a request does not.
    this.#timer.unref()
  }
}
