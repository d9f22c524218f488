import { type BlobStore, StoreFailure } from '../blobs/blob-store.ts'
import { Refusal } from '../domain/errors.ts'

/**
 * Remembers that the store has failed. After a failed sync nothing the store says can be believed, so no upload
 * starts until a probe (write, sync, read, remove) has succeeded.
 */
export interface StoreHealth {
  /** Throws Refusal STORAGE_UNAVAILABLE while the store is known to be broken. */
  assertUsable(): void
  /** What the caller is told about a failure of the store; any other error comes back as it is. */
  refusalFor(error: unknown): unknown
  /** Whether the store works now, by trying. */
  probe(): Promise<boolean>
  /** Tries only when the store is known to be broken. */
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
      if (broken) throw unavailable()
    },

    refusalFor(error) {
      if (!(error instanceof StoreFailure)) return error
      report(error)
      if (error.reason === 'broken') fail()
      return unavailable(error)
    },

    async probe() {
      const before = failures
      try {
        await blobs.probe()
        // A failure while the probe ran is not undone by it.
        if (failures === before) broken = false
        return !broken
      } catch (error) {
        report(error)
        // A full store can be read and deleted from, and one that is away or refuses us has lied about nothing: each is
        // asked again with the next upload. Only a broken one has to prove itself first.
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

export function unavailable(cause?: unknown): Refusal {
  return new Refusal(
    'STORAGE_UNAVAILABLE',
    'The server has no room for this or cannot write at the moment; try again later',
    RETRY_AFTER,
    { cause },
  )
}
