import type { CancelTimer, Timers } from './clock.ts'

/** Milliseconds. Ticks, since a process that itself stood still has observed no silence. */
const TICK = 500
/** Ticks without any answer before the ping. */
const ASKED_AFTER = 4
/** Ticks without an answer to the ping: six seconds of silence in all. */
const AWAY_AFTER = 8
/** Ticks before another ping, by a new connection. */
const ASKED_AGAIN_AFTER = 10
/** Ticks without a request after which silence and timer end. */
const FORGOTTEN_AFTER = 20

interface Waiting {
  fail(error: Error): void
  /** Ticks since the start or the last progress. */
  quiet: number
}

export interface SilenceOptions {
  /** On its own connection, which ends with the signal. Resolves with any answer, also a refusal; else rejects. */
  ping(signal: AbortSignal): Promise<void>
  failure(): Error
  wentSilent?(): void
  readonly timers: Timers
}

/**
 * Distinguishes a service that stands still from a slow one. When requests wait and nothing is answered, it pings;
 * without an answer the waiting requests fail, and new ones are refused until the service answers. A request may take
 * any time while others are answered.
 */
export class SilenceWatch {
  readonly #options: SilenceOptions
  readonly #waiting = new Set<Waiting>()
  #tick: CancelTimer | null = null
  /** Ticks since the last answer while something waited. */
  #silent = 0
  /** Ticks since this silence's first ping. */
  #asked = 0
  #idle = 0
  #ping: { readonly end: AbortController; age: number } | null = null
  #isSilent = false

  constructor(options: SilenceOptions) {
    this.#options = options
  }

  /** Rejects during silence; the caller must then end the work. `late` receives a result that comes after all. */
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

  heard(): void {
    this.#silent = 0
    this.#asked = 0
    this.#isSilent = false
    this.#endPing()
  }

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

  /** Recent progress may be bytes on their way to a service that still reads. */
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
