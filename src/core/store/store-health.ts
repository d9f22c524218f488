import { BlobRefused, type BlobStore, StoreFailure, type StoreFailureReason } from '../../blobs/blob-store.ts'
import { Refusal } from '../../domain/errors.ts'

/** After a failed sync the store cannot be trusted: uploads wait for a probe (write, sync, read, remove). */
export interface StoreHealth {
  /** Throws Refusal STORAGE_UNAVAILABLE after such a failure. */
  assertUsable(): void
  /** Errors that are not the store's are returned unchanged. */
  refusalFor(error: unknown): unknown
  probe(): Promise<boolean>
  /** Probes only a store marked as broken. */
  recover(): Promise<void>
}

const RETRY_AFTER = 30

export function createStoreHealth(blobs: BlobStore, report: (error: unknown) => void): StoreHealth {
  let broken = false
  let failures = 0

  function fail(): void {
    broken = true
    failures++
  }

  const health: StoreHealth = {
    assertUsable() {
      if (broken) throw unavailable('broken')
    },

    refusalFor(error) {
      if (error instanceof BlobRefused) {
        report(error)
        return unavailable('refused', error)
      }
      if (!(error instanceof StoreFailure)) return error
      report(error)
      if (error.reason === 'broken') fail()
      return unavailable(error.reason, error)
    },

    async probe() {
      const before = failures
      try {
        await blobs.probe()
        // A failure during the probe stays in force.
        if (failures === before) broken = false
        return !broken
      } catch (error) {
        report(error)
        // A full, unreachable or refusing store gave no false answer: the next upload tries again.
        if (!(error instanceof StoreFailure) || error.reason === 'broken') fail()
        return false
      }
    },

    async recover() {
      if (broken) await health.probe()
    },
  }
  return health
}

export type StorageProblem = StoreFailureReason | 'guests'

const OUT_OF_REACH =
  'The server cannot use its storage at the moment, whatever the file; what was stored is kept, try again later'

const messages = {
  full: 'The storage of this server is full; try again later, or ask whoever runs it to make room',
  guests:
    'The space for uploads of guests is used up; use an account or an API key, or try again when there is room',
  away: OUT_OF_REACH,
  broken: OUT_OF_REACH,
  refused: 'The storage refuses this server, whatever the file; ask whoever runs it to see to that',
} as const satisfies Record<StorageProblem, string>

export function unavailable(problem: StorageProblem, cause?: unknown): Refusal {
  const reason = problem === 'broken' ? 'away' : problem
  return new Refusal('STORAGE_UNAVAILABLE', messages[problem], RETRY_AFTER, { cause, reason })
}
