import { backoff, requestedPause } from '../../src/client/policy/retry-policy.ts'

/** The way to the server, as all uploads see it: when it is out, all wait together and one pause is enough. */
export class Line {
  readonly #now: () => number
  readonly #chance: () => number
  readonly #waiting = new Set<() => void>()
  /** In a row. */
  #failures = 0
  /** When something may be asked again, as of `now`. */
  #until = 0
  /** Whether the server has named that moment. */
  #isAsked = false

  /** `chance`: from 0 to 1. */
  constructor(now: () => number, chance: () => number) {
    this.#now = now
    this.#chance = chance
  }

  /** Resolves when something may be asked again, or `signal` is aborted; at once where nothing is wrong. */
  async open(signal: AbortSignal): Promise<void> {
    for (let left = this.#left(); left > 0 && !signal.aborted; left = this.#left()) {
      await new Promise<void>((resolve) => {
        const go = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', go)
          this.#waiting.delete(go)
          resolve()
        }
        const timer = setTimeout(go, left)
        signal.addEventListener('abort', go)
        this.#waiting.add(go)
      })
    }
  }

  /** Something failed. `seconds`: how long the server asked to wait, null where it did not. Until when all wait. */
  failed(seconds: number | null): number {
    if (seconds !== null) {
      this.#until = Math.max(this.#until, this.#now() + requestedPause(seconds, this.#chance()))
      this.#isAsked = true
    } else if (this.#left() <= 0) {
      this.#until = this.#now() + backoff(this.#failures, this.#chance())
      this.#failures += 1
      this.#isAsked = false
    }
    return this.#until
  }

  /** Something went through. */
  works(): void {
    this.#failures = 0
  }

  /** Whoever waits because nobody answered tries at once: the network is said to be back. */
  nudge(): void {
    if (!this.#isAsked) this.tryNow()
  }

  /** As `nudge`, because a person wants it: also where the server has asked for more patience. */
  tryNow(): void {
    this.#failures = 0
    this.#until = 0
    for (const go of [...this.#waiting]) go()
  }

  #left(): number {
    return this.#until - this.#now()
  }
}
