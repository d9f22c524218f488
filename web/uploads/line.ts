import { backoff, requestedPause } from '../../src/client/policy/upload-policy.ts'

/** The connection to the server, shared by all uploads: during an outage all wait with one backoff. */
export class Line {
  readonly #now: () => number
  readonly #chance: () => number
  readonly #waiting = new Set<() => void>()
  #failures = 0
  /** When requests may be sent again, by `now`. */
  #until = 0
  #isAsked = false

  /** `chance`: from 0 to 1. */
  constructor(now: () => number, chance: () => number) {
    this.#now = now
    this.#chance = chance
  }

  /** Resolves when requests may be sent, or `signal` is aborted. */
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

  /** `seconds`: the server's `Retry-After`. Returns when all waiting ends. */
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

  works(): void {
    this.#failures = 0
  }

  /** Retries at once after an outage: the network is said to be back. */
  nudge(): void {
    if (!this.#isAsked) this.tryNow()
  }

  /** On the user's request, ends every wait, also one that the server asked for. */
  tryNow(): void {
    this.#failures = 0
    this.#until = 0
    for (const go of [...this.#waiting]) go()
  }

  #left(): number {
    return this.#until - this.#now()
  }
}
