import { constants } from 'node:os'
import { SECOND, systemClock } from '../domain/clock.ts'
import { Refusal } from '../domain/errors.ts'

export type StopSignal = 'SIGTERM' | 'SIGINT'

/** The first signal to stop. A second one ends the process at once, with that signal's usual exit code. */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let first: { readonly signal: StopSignal; readonly at: number } | null = null
    const onSignal = (signal: StopSignal) => {
      const at = systemClock.monotonic()
      if (first === null) {
        first = { signal, at }
        return resolve(signal)
      }
      // npm and the launcher forward a signal that the terminal or service manager has already sent to the whole
      // process group: a repetition within moments is ignored.
      if (signal === first.signal && at - first.at < SECOND) return
      process.exit(128 + constants.signals[signal])
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

/** Resolves when the process's launcher is gone; never without one. */
export async function launcherGone(pipe: string | undefined): Promise<'SIGKILL'> {
  const never = new Promise<never>(() => {})
  if (pipe === undefined) return never
  try {
    for await (const _ of Bun.file(Number(pipe)).stream());
  } catch {
    // The variable was inherited without its pipe.
    return never
  }
  return 'SIGKILL'
}

export interface Interruption {
  readonly code: number
  /** Whether something is left, and how to continue. */
  readonly says: string
}

let interruption: Interruption | null = null

/** Aborted at the first signal; the command then ends with that signal's usual exit code. */
export function abortedBySignal(says: string): AbortController {
  const stop = new AbortController()
  void stopSignal().then((signal) => {
    interruption = { code: 128 + constants.signals[signal], says }
    stop.abort(new Refusal('SHUTTING_DOWN', says))
  })
  return stop
}

/** Null until a signal has aborted the command. */
export function interrupted(): Interruption | null {
  return interruption
}
