import { constants } from 'node:os'
import { SECOND, systemClock } from '../domain/clock.ts'

export type StopSignal = 'SIGTERM' | 'SIGINT'

/**
 * The first signal that asks the process to stop. A second one ends it at once, with the exit code that the signal
 * would have given it.
 */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let first: { readonly signal: StopSignal; readonly at: number } | null = null
    const onSignal = (signal: StopSignal) => {
      const at = systemClock.monotonic()
      if (first === null) {
        first = { signal, at }
        return resolve(signal)
      }
      // npm and the launcher pass on what the terminal or the service manager has already sent to everybody:
      // the same signal again within moments is still the first.
      if (signal === first.signal && at - first.at < SECOND) return
      process.exit(128 + constants.signals[signal])
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}
