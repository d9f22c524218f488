import { Refusal } from '../domain/errors.ts'

/** Seconds. */
const INTERRUPTED_RETRY = 5

/** Other nodes took this one for dead and ended its uploads. */
export function uploadInterrupted(): Refusal {
  return new Refusal(
    'STORAGE_UNAVAILABLE',
    'The server was interrupted and cannot finish this upload; send it again',
    INTERRUPTED_RETRY,
    { reason: 'away' },
  )
}
