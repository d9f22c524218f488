/** Ends a request that makes no progress. */
export interface Watchdog {
  /** For the request: aborted when the time is up, and when the caller's own signal is. */
  readonly signal: AbortSignal
  /** Gives it so many milliseconds from now. */
  arm(milliseconds: number): void
  /** Gives it the same time once more. */
  again(): void
  disarm(): void
  /** Ends the request now. */
  bite(reason: string): void
  /** Lets go of the caller's signal. */
  end(): void
}

export function watchdog(caller: AbortSignal | undefined): Watchdog {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | null = null
  let patience = 0
  let deadline = Number.POSITIVE_INFINITY

  function end(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    caller?.removeEventListener('abort', follow)
  }

  function follow(): void {
    controller.abort(caller?.reason)
    end()
  }

  function bite(reason: string): void {
    controller.abort(new Error(reason))
    end()
  }

  /** It is armed anew with every chunk, so a timer is set far less often than that: when the last one is over. */
  function look(): void {
    timer = null
    if (deadline === Number.POSITIVE_INFINITY) return
    const left = deadline - performance.now()
    if (left <= 0) bite(`nothing moved for ${patience} ms`)
    else set(left)
  }

  function set(milliseconds: number): void {
    timer = setTimeout(look, milliseconds)
    // The request keeps the process; a watchdog without one does not.
    timer.unref()
  }

  function arm(milliseconds: number): void {
    const sooner = milliseconds < patience
    patience = milliseconds
    deadline = performance.now() + patience
    if (timer !== null && sooner) {
      clearTimeout(timer)
      timer = null
    }
    if (timer === null) set(patience)
  }

  caller?.addEventListener('abort', follow)
  return {
    signal: controller.signal,
    arm,
    again: () => arm(patience),
    disarm() {
      deadline = Number.POSITIVE_INFINITY
    },
    bite,
    end,
  }
}
