/** Ends what nothing comes of any more. */
export interface QuietLimit {
  readonly signal: AbortSignal
  /** Something came or went. */
  stir(): void
  stop(): void
}

/** Aborts its signal when nothing has stirred for so many milliseconds. */
export function quietLimit(milliseconds: number): QuietLimit {
  const controller = new AbortController()
  const abort = () => controller.abort(new Error(`nothing for ${Math.round(milliseconds / 1000)} s`))
  let timer = setTimeout(abort, milliseconds)
  return {
    signal: controller.signal,
    stir() {
      clearTimeout(timer)
      timer = setTimeout(abort, milliseconds)
    },
    stop: () => clearTimeout(timer),
  }
}
