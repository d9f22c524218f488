/** Copies the blobs of a relocation or a backup, each compared with its hash. */
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

/** Blobs copied concurrently. */
const MAX_CONCURRENT = 16
/**
 * Bytes of blobs copied concurrently. One blob counts for at most half of it, so that two large ones run
 * together.
 */
const MAX_CONCURRENT_BYTES = 64 * 1024 * 1024
/** Blobs or bytes after which the copied ones are recorded. */
const RECORD_AFTER = { blobs: 200, bytes: 256 * 1024 * 1024 }
/** Blobs per database query. */
const BATCH = 200

/** A blob that cannot be copied because it differs from its row. */
export interface UncopyableBlob {
  readonly key: BlobKey
  readonly reason: string
  /** Files with this content. */
  readonly files: readonly FileOfBlob[]
}

export interface BlobCopyJob {
  /** Database whose rows list the blobs. */
  readonly rows: Database
  /** Database that records copied blobs. */
  readonly memory: Database
  readonly copier: BlobCopier
  /**
   * Which of the keys the target lists, where it was listed before: a blob that is listed and recorded counts as copied
   * without a look at its size, and one that is not listed is not there. Null where it was not.
   */
  readonly listed: ((keys: readonly BlobKey[]) => Promise<ReadonlySet<BlobKey>>) | null
  readonly signal: AbortSignal
  /** Called for each finished blob, and whether an earlier run had copied it. */
  readonly onBlob: (blob: BlobToMove, wasThere: boolean) => void
}

/**
 * Copies every missing blob and returns those that could not be copied. Memory use is independent of sizes and numbers.
 * Throws StoreFailure when a store stays unavailable.
 */
export async function copyBlobs(job: BlobCopyJob): Promise<UncopyableBlob[]> {
  const { rows, memory, copier, signal, onBlob } = job
  const damaged: UncopyableBlob[] = []
  const arrived: BlobToMove[] = []
  const stop = new AbortController()
  const either = AbortSignal.any([signal, stop.signal])
  const crew = limitedTo(MAX_CONCURRENT, MAX_CONCURRENT_BYTES)

  async function carryOne(blob: BlobToMove, known: KnownAtTarget): Promise<void> {
    const end: CopiedBlob = isThere(known) ? { kind: 'there' } : await copier.copy(blob, known, either)
    if (end.kind === 'damaged') {
      damaged.push({ key: blob.key, reason: end.reason, files: await relocatedFilesOfBlob(rows, blob.id) })
    } else if (!known.isRemembered) arrived.push(blob)
    onBlob(blob, end.kind === 'there')
  }

  function remember(): Promise<void> {
    return rememberRelocated(
      memory,
      arrived.splice(0).map((blob) => blob.key),
    )
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
        const known = { isRemembered: remembered.has(blob.key), isListed: listed?.has(blob.key) ?? null }
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
    // Unrecorded blobs are verified again by the next run.
    await remember().catch(() => {})
    throw error
  }
}

/** Whether the target need not be asked. */
function isThere({ isRemembered, isListed }: KnownAtTarget): boolean {
  return isRemembered && isListed === true
}

/** Limits concurrent work by number and by total bytes. */
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

    /** Waits for all work. Throws the failure of any. */
    async allDone(): Promise<void> {
      await Promise.all(working)
      if (failure !== null) throw failure.error
    },
  }
}
