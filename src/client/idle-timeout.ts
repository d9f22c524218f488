export interface IdleTimeout {
  readonly signal: AbortSignal
  restart(): void
  stop(): void
}

/** Aborts its signal after so many milliseconds without a restart. */
export function idleTimeout(milliseconds: number): IdleTimeout {
  const controller = new AbortController()
  const abort = () => controller.abort(new Error(`nothing for ${Math.round(milliseconds / 1000)} s`))
  let timer = setTimeout(abort, milliseconds)
  let isStopped = false
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer)
      // A late restart must not keep the process alive.
      if (!isStopped) timer = setTimeout(abort, milliseconds)
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
