import { Refusal } from '../domain/errors.ts'

/** Seconds until an upload that was taken from this node may be sent again. */
const INTERRUPTED_RETRY = 5

/** The others took this node for dead and ended its uploads. */
export function uploadInterrupted(): Refusal {
  return new Refusal(
    'STORAGE_UNAVAILABLE',
    'The server was interrupted and cannot finish this upload; send it again',
    INTERRUPTED_RETRY,
    { reason: 'away' },
  )
}
