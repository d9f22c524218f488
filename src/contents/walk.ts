/** One walk through stored contents: checks, scrubs, copies and repairs differ in what they do with each of them. */
import { StoreFailure } from '../blobs/blob-store.ts'
import { outageRefusal } from '../core/failures.ts'
import { WrongStore } from '../core/store/pairing.ts'

/** Whether every content is affected. An unreadable sector affects one alone. */
export function isOutage(error: unknown): boolean {
  if (error instanceof StoreFailure) return error.reason !== 'broken'
  return error instanceof WrongStore || outageRefusal(error) !== null
}
