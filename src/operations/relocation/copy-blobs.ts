import { StoreFailure } from '../../blobs/blob-store.ts'
import type { Database } from '../../database/database.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import type { BlobCopier, CopiedBlob, KnownAtTarget } from './blob-copier.ts'
import {
  type BlobToMove,
  blobsToMove,
  type FileOfBlob,
  relocatedAmong,
  relocatedFilesOfBlob,
  rememberRelocated,
} from './relocated-blobs.rows.ts'

export const MAX_CONCURRENT = 32
/** One blob counts for at most half, so that two large ones run together. */
const MAX_CONCURRENT_BYTES = 64 * 1024 * 1024
const RECORD_AFTER = { blobs: 500, bytes: 256 * 1024 * 1024 }
/** A run ends after so many failures of the new store that each concern one blob. */
const MOST_FAILURES = 10
const BATCH = 200

export interface UncopyableBlob {
  readonly key: BlobKey
  readonly reason: string
  /** `source`: its bytes differ from its row. `target`: the store failed for this blob alone; a retry may succeed. */
  readonly fault: 'source' | 'target'
  readonly files: readonly FileOfBlob[]
}

export interface BlobCopyJob {
  readonly rows: Database
  readonly memory: Database
  readonly copier: BlobCopier
  /**
   * Sizes of listed keys, null where unknown: a blob listed with its size and recorded counts as copied, one not listed
   * is missing. Null without a listing.
   */
  readonly listed: ((keys: readonly BlobKey[]) => Promise<ReadonlyMap<BlobKey, number | null>>) | null
  /** Makes all copied blobs durable; called before they are recorded. */
  readonly settle?: () => Promise<void>
  readonly signal: AbortSignal
  /** `wasThere`: by an earlier run. */
  readonly onBlob: (blob: BlobToMove, wasThere: boolean) => void
}

/**
 * Copies missing blobs; returns those that cannot be copied, which do not stop the others. Memory use is independent of
 * sizes and numbers. Throws StoreFailure when a store stays unavailable, is full or refuses, and what the new store
 * throws for more than a few blobs.
 */
export async function copyBlobs(job: BlobCopyJob): Promise<UncopyableBlob[]> {
  const { rows, memory, copier, signal, onBlob } = job
  const damaged: UncopyableBlob[] = []
  const arrived: BlobToMove[] = []
  let failures = 0
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const crew = limitedTo(MAX_CONCURRENT, MAX_CONCURRENT_BYTES)

  async function carryOne(blob: BlobToMove, known: KnownAtTarget): Promise<void> {
    const end = isThere(known) ? ({ kind: 'there' } as const) : await copied(blob, known)
    if (end.kind === 'damaged') {
      const { reason, fault } = end
      damaged.push({ key: blob.key, reason, fault, files: await relocatedFilesOfBlob(rows, blob.id) })
    } else if (!known.isRemembered) arrived.push(blob)
    onBlob(blob, end.kind === 'there')
  }

  async function copied(blob: BlobToMove, known: KnownAtTarget): Promise<OneCopy> {
    try {
      const end = await copier.copy(blob, known, either)
      return end.kind === 'damaged' ? { ...end, fault: 'source' } : end
    } catch (error) {
      if (either.aborted || !isOfOne(error) || ++failures > MOST_FAILURES) throw error
      return { kind: 'damaged', fault: 'target', reason: `could not be copied (${messageOf(error)})` }
    }
  }

  async function remember(): Promise<void> {
    const keys = arrived.splice(0).map((blob) => blob.key)
    if (keys.length > 0) await job.settle?.()
    await rememberRelocated(memory, keys)
  }

  function isBatchFull(): boolean {
    const bytes = arrived.reduce((sum, blob) => sum + blob.size, 0)
    return arrived.length >= RECORD_AFTER.blobs || bytes >= RECORD_AFTER.bytes
  }

  try {
    let after: BlobId | null = null
    for (;;) {
      const blobs: BlobToMove[] = await blobsToMove(rows, after, BATCH)
      after = blobs.at(-1)?.id ?? null
      if (after === null) break
      const keys = blobs.map((blob) => blob.key)
      const remembered = await relocatedAmong(memory, keys)
      const listed = (await job.listed?.(keys)) ?? null
      for (const blob of blobs) {
        const size = listed?.get(blob.key) ?? blob.size
        const isRemembered = remembered.has(blob.key) && size === blob.size
        const known = { isRemembered, isListed: listed?.has(blob.key) ?? null }
        await crew.enter(blob.size, () => carryOne(blob, known))
        signal.throwIfAborted()
        if (isBatchFull()) await remember()
      }
    }
    await crew.allDone()
    await remember()
    return damaged
  } catch (error) {
    stop.abort()
    await crew.allDone().catch(() => {})
    // The next run verifies unrecorded blobs again.
    await remember().catch(() => {})
    throw error
  }
}

type OneCopy =
  | Exclude<CopiedBlob, { kind: 'damaged' }>
  | (Extract<CopiedBlob, { kind: 'damaged' }> & Pick<UncopyableBlob, 'fault'>)

/** Unavailable, full or forbidden stores fail for all blobs. */
function isOfOne(error: unknown): boolean {
  return error instanceof StoreFailure ? error.reason === 'broken' : error instanceof Error
}

function messageOf(error: unknown): string {
  const cause = error instanceof StoreFailure && error.cause !== undefined ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

function isThere({ isRemembered, isListed }: KnownAtTarget): boolean {
  return isRemembered && isListed === true
}

function limitedTo(most: number, mostBytes: number) {
  const working = new Set<Promise<void>>()
  let bytesInWork = 0
  let failure: { readonly error: unknown } | null = null

  return {
    /** Waits for capacity, then starts the work. Throws the failure of any earlier work. */
    async enter(bytes: number, work: () => Promise<void>): Promise<void> {
      const weight = Math.min(bytes, mostBytes / 2)
      while (working.size >= most || (working.size > 0 && bytesInWork + weight > mostBytes)) {
        await Promise.race(working)
      }
      if (failure !== null) throw failure.error
      bytesInWork += weight
      const turn = work()
        .catch((error: unknown) => {
          failure ??= { error }
        })
        .finally(() => {
          working.delete(turn)
          bytesInWork -= weight
        })
      working.add(turn)
    },

    async allDone(): Promise<void> {
      await Promise.all(working)
      if (failure !== null) throw failure.error
    },
  }
}
