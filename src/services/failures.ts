import { StoreFailure } from '../blobs/blob-store.ts'
import { isDatabaseFailure } from '../database/differences.ts'
import { Refusal } from '../domain/errors.ts'
import { unavailable } from './store-health.ts'

/** What a caller is told when a part below is away or broken; null for an error that is none of that. */
export function outageRefusal(error: unknown): Refusal | null {
  if (error instanceof StoreFailure) return unavailable(error)
  if (!isDatabaseFailure(error)) return null
  return new Refusal('DATABASE_UNAVAILABLE', 'The database cannot answer at the moment; try again', 10)
}

/**
 * For work on one thing after another: what goes wrong with one of them is reported and keeps nobody from the next. Throws
 * what would go wrong with all of them.
 */
export function reportOne(error: unknown, report: (error: unknown) => void): void {
  if (outageRefusal(error) !== null) throw error
  report(error)
}
