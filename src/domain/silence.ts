import type { CancelTimer, Timers } from './clock.ts'

/** Milliseconds. Silence is counted in ticks, so that a process that stood still itself has heard nothing of them. */
const TICK = 500
/** Ticks without an answer to anything after which the service is asked for a sign of life. */
const ASKED_AFTER = 4
/** Ticks for which that may go unanswered: six seconds of silence in all. */
const AWAY_AFTER = 8
/** Ticks after which it is asked again, by a new connection. */
const ASKED_AGAIN_AFTER = 10
/** Ticks without a request after which a silence is forgotten, and with it the timer that a process would wait for. */
const FORGOTTEN_AFTER = 20

interface Waiting {
  fail(error: Error): void
  /** Ticks since it began or moved last. */
  quiet: number
}

export interface SilenceOptions {
  /**
   * Asks for a sign of life, by a connection of its own, which ends with the signal. Resolves with any answer, also a refusal;
   * rejects when there is none.
   */
  ping(signal: AbortSignal): Promise<void>
  /** What requests fail with. */
  failure(): Error
  /** Called when the service has become silent. */
  wentSilent?(): void
  readonly timers: Timers
}

/**
 * Tells a service that stands still from one that is slow. While requests wait and nothing at all is answered, it is asked
 * for a sign of life; without one it counts as silent: the requests that wait fail, and new ones are refused at once, until it
 * answers. A request may take any time as long as the service answers anything.
 */
export class SilenceWatch {
  readonly #options: SilenceOptions
  readonly #waiting = new Set<Waiting>()
  #tick: CancelTimer | null = null
  /** Ticks since the last answer while something waited. */
  #silent = 0
  /** Ticks since the first question of this silence. */
  #asked = 0
  /** Ticks since the last request. */
  #idle = 0
  #ping: { readonly end: AbortController; age: number } | null = null
  #isSilent = false

  constructor(options: SilenceOptions) {
    this.#options = options
  }

  /**
   * Resolves and rejects as the work does, or rejects when the service is silent; the work has to be ended by the caller then.
   * `moved`: called by the work when it makes progress. `late`: called with what comes of it all the same.
   */
  run<T>(work: (moved: () => void) => Promise<T>, late: (value: T) => void = () => {}): Promise<T> {
    this.#idle = 0
    if (this.#isSilent) return Promise.reject(this.#options.failure())
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { fail: reject, quiet: 0 }
      const moved = () => {
        waiting.quiet = 0
      }
      this.#waiting.add(waiting)
      this.#tick ??= this.#next()
      work(moved).then(
        (value) => {
          this.heard()
          if (this.#waiting.delete(waiting)) resolve(value)
          else late(value)
        },
        (error: unknown) => {
          this.#waiting.delete(waiting)
          reject(error)
        },
      )
    })
  }

  /** Notes an answer, whatever it says. */
  heard(): void {
    this.#silent = 0
    this.#asked = 0
    this.#isSilent = false
    this.#endPing()
  }

  /** Ends the watch of a service that is not used any more. */
  stop(): void {
    this.#tick?.()
    this.#tick = null
    this.heard()
  }

  #next(): CancelTimer {
    return this.#options.timers.after(TICK, () => this.#look())
  }

  #look(): void {
    this.#idle++
    for (const waiting of this.#waiting) waiting.quiet++
    if (this.#waiting.size > 0 || this.#asked > 0) this.#silent++
    if (this.#silent >= ASKED_AFTER) this.#ask()
    if (this.#asked > AWAY_AFTER && !this.#isSilent) {
      this.#isSilent = true
      this.#options.wentSilent?.()
    }
    if (this.#isSilent) this.#failQuiet()
    const isOver = this.#isSilent ? this.#idle >= FORGOTTEN_AFTER : this.#asked === 0
    this.#tick = null
    if (this.#waiting.size === 0 && isOver) this.stop()
    else this.#tick = this.#next()
  }

  /** What has just moved may be bytes under way to a service that still takes them. */
  #failQuiet(): void {
    for (const waiting of this.#waiting) {
      if (waiting.quiet < ASKED_AFTER) continue
      this.#waiting.delete(waiting)
      waiting.fail(this.#options.failure())
    }
  }

  #ask(): void {
    this.#asked++
    if (this.#ping !== null && ++this.#ping.age < ASKED_AGAIN_AFTER) return
    this.#endPing()
    const ping = { end: new AbortController(), age: 0 }
    this.#ping = ping
    this.#options.ping(ping.end.signal).then(
      () => {
        if (this.#ping === ping) this.heard()
      },
      () => {
        if (this.#ping === ping) this.#ping = null
      },
    )
  }

  #endPing(): void {
    const ping = this.#ping
    this.#ping = null
    ping?.end.abort()
  }
}
