/** Ends what nothing comes of any more. */
export interface IdleTimeout {
  readonly signal: AbortSignal
  /** Something came or went. */
  restart(): void
  stop(): void
}

/** Aborts its signal when nothing has stirred for so many milliseconds. */
export function idleTimeout(milliseconds: number): IdleTimeout {
  const controller = new AbortController()
  const abort = () => controller.abort(new Error(`nothing for ${Math.round(milliseconds / 1000)} s`))
  let timer = setTimeout(abort, milliseconds)
  let isStopped = false
  return {
    signal: controller.signal,
    restart() {
      clearTimeout(timer)
      // What was under way may stir once more, and must not keep the process waiting.
      if (!isStopped) timer = setTimeout(abort, milliseconds)
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
