import { isLost, StoreFailure } from '../blobs/blob-store.ts'
import { isDatabaseFailure, isFull, isTooSlow, OutcomeUnknown } from '../database/differences.ts'
import { Refusal } from '../domain/errors.ts'
import type { FileId, Slug } from '../domain/ids.ts'
import { unavailable } from './store/store-health.ts'

/** For failures of the store or the database; null for other errors. */
export function outageRefusal(error: unknown): Refusal | null {
  if (error instanceof StoreFailure) return unavailable(error.reason, error)
  if (isFull(error)) {
    const message =
      'The disk of this server is full, so nothing can be changed; try again in a minute, or ask whoever runs it to make room'
    return new Refusal('DATABASE_UNAVAILABLE', message, 30)
  }
  if (isTooSlow(error)) {
    const message =
      'This took the database too long and was given up; ask for less, such as a search for more of a name or in one folder, or try again later'
    return new Refusal('SERVER_BUSY', message, 60)
  }
  if (error instanceof OutcomeUnknown) {
    const message =
      'The database went away before it said whether this was done; look, or send it again with its Idempotency-Key'
    return new Refusal('DATABASE_UNAVAILABLE', message, 10)
  }
  if (!isDatabaseFailure(error)) return null
  return new Refusal('DATABASE_UNAVAILABLE', 'The database cannot answer at the moment; try again', 10)
}

/** For batches: reports one item's failure and goes on. Rethrows outages, which would fail every item. */
export function reportOne(error: unknown, report: (error: unknown) => void): void {
  if (outageRefusal(error) !== null) throw error
  report(error)
}

/** Bytes of a file are lost, wholly or in part, although its row exists. */
export class FileDamaged extends Refusal {
  readonly file: { readonly id: FileId; readonly slug: Slug }

  /** `retryAfter`: seconds until a second copy may have restored them. */
  constructor({ id, slug }: FileDamaged['file'], cause: unknown, retryAfter?: number) {
    const then =
      retryAfter === undefined
        ? 'its administrators find out more in the log'
        : 'they are being brought back from a second copy, so try again in a minute'
    super('FILE_DAMAGED', `The server has lost bytes of this file; ${then}`, retryAfter, { cause })
    this.file = { id, slug }
  }
}

/** Other errors are returned unchanged. */
export function readingFailure(file: FileDamaged['file'], error: unknown): unknown {
  return isLost(error) ? new FileDamaged(file, error) : error
}
