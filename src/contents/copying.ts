/** Copies all contents to another store, for backups, restores and relocations, and tells of rows on their way. */
import { type BlobStore, type ListedBlob, StoreFailure } from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import type { Damage } from '../database/schema.ts'
import { SECOND, yieldToEventLoop } from '../domain/clock.ts'
import type { BlobKey } from '../domain/ids.ts'
import { startContentHashing } from '../uploads/hashing/content-hash.ts'
import {
  addListed,
  type BlobToMove,
  blobsToMove,
  type FileOfBlob,
  relocatedAmong,
  relocatedFilesOfBlob,
  rememberRelocated,
} from './copied.rows.ts'
import type { Throttle } from './pace.ts'
import { copyContent, type Reading, readDamage, sizeDamage } from './reading.ts'
import { countRows, type RowCopy } from './row-copy.rows.ts'
import { grouped, inBatches, tolerance, type Watch, walk } from './walk.ts'

export const MAX_CONCURRENT = 32
const MAX_CONCURRENT_BYTES = 64 * 1024 * 1024
const RECORD_AFTER = { blobs: 500, bytes: 256 * 1024 * 1024 }
const BATCH = 200
const LISTED = 1000
const TRIES = 4

/** What is known of a content at the target: copied by an earlier run, and listed there; null without a listing. */
export interface KnownBlob extends BlobToMove {
  readonly isRemembered: boolean
  readonly isListed: boolean | null
}

export type CopiedBlob =
  | { readonly kind: 'there' | 'copied' }
  | { readonly kind: 'damaged'; readonly reason: string }

export interface BlobCopier {
  /** Retries: a short outage does not end a long run. Throws StoreFailure when a store stays unavailable. */
  copy(blob: KnownBlob, signal: AbortSignal): Promise<CopiedBlob>
}

export interface CopyRoute {
  readonly from: Pick<BlobStore, 'read' | 'size'>
  readonly to: Pick<BlobStore, 'create' | 'read' | 'size' | 'remove'>
  readonly goesOn: boolean
  /** Whether to read each blob back before it counts as copied: required before `from` is given up. */
  readonly readsBack: boolean
  /** Null: hashes on this thread. */
  readonly hashing: Pick<HashingThreads, 'departure' | 'arrival'> | null
  readonly throttle?: Throttle | undefined
  readonly pause: (milliseconds: number) => Promise<void>
  /** Progress in bytes: half when written, half when read back. */
  readonly onBytes: (bytes: number) => void
}

type HashingThread = NonNullable<Reading['hashing']>

interface HashingThreads {
  readonly departure: HashingThread
  readonly arrival: HashingThread
  close(): void
}

export function startHashingThreads(): HashingThreads {
  const [departure, arrival] = [startContentHashing(), startContentHashing()]
  return {
    departure,
    arrival,
    close() {
      departure.close()
      arrival.close()
    },
  }
}

/** Copied: what was read from `from`, and with `readsBack` from `to`, has the SHA-256 of its row. */
export function createBlobCopier(route: CopyRoute): BlobCopier {
  return {
    async copy(blob, signal) {
      for (let tries = 1; ; tries++) {
        try {
          const mayBeThere = (blob.isListed ?? route.goesOn) || tries > 1
          return await copyBlob(route, blob, mayBeThere, signal)
        } catch (error) {
          const isPassing = error instanceof StoreFailure && error.reason === 'away'
          if (!isPassing || tries === TRIES) throw error
        }
        await route.pause(tries * SECOND)
        signal.throwIfAborted()
      }
    },
  }
}

async function copyBlob(
  { from, to, hashing, throttle, readsBack, onBytes }: CopyRoute,
  blob: KnownBlob,
  mayBeThere: boolean,
  signal: AbortSignal,
): Promise<CopiedBlob> {
  const onChunk = (bytes: number) => onBytes(bytes / 2)
  const arrival = { signal, hashing: hashing?.arrival ?? null }
  if (mayBeThere) {
    const isWhole = (await sizeDamage(to, blob)) === null
    if (isWhole && (blob.isRemembered || (await readDamage(to, blob, arrival)) === null)) {
      return { kind: 'there' }
    }
    // An incomplete blob of an earlier attempt would prevent the write.
    await to.remove(blob.key)
  }
  const departure = { signal, hashing: hashing?.departure ?? null, onChunk, throttle, isLenient: true }
  const damage = await copyContent(from, blob, to, blob.key, departure)
  if (damage !== null) return { kind: 'damaged', reason: await reasonOf(from, blob, damage) }
  if (!readsBack) onBytes(blob.size / 2)
  else if ((await readDamage(to, blob, { ...arrival, onChunk })) !== null) {
    await to.remove(blob.key)
    throw new Error(`the new store returned other bytes than were written to it (blob ${blob.key})`)
  }
  return { kind: 'copied' }
}

async function reasonOf(from: CopyRoute['from'], { key, size }: BlobToMove, damage: Damage): Promise<string> {
  if (damage === 'missing') return 'is missing'
  if (damage === 'unreadable') return 'cannot be read'
  const stored = damage === 'size' ? await from.size(key) : size
  return stored === size
    ? 'has other bytes than it was uploaded with'
    : `has ${stored} bytes instead of ${size}`
}

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
   * Which of the keys the target lists: one listed and recorded counts as copied, one not listed is missing. Null
   * without a listing.
   */
  readonly listed: ((keys: readonly BlobKey[]) => Promise<{ has(key: BlobKey): boolean }>) | null
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
  const isTolerable = tolerance()

  async function copied(blob: KnownBlob, stop: AbortSignal): Promise<CopiedBlob & { fault?: 'target' }> {
    if (blob.isRemembered && blob.isListed === true) return { kind: 'there' }
    try {
      return await copier.copy(blob, stop)
    } catch (error) {
      if (!isTolerable(error, stop)) throw error
      return { kind: 'damaged', fault: 'target', reason: `could not be copied (${messageOf(error)})` }
    }
  }

  async function visit(blob: KnownBlob, stop: AbortSignal): Promise<void> {
    const end = await copied(blob, stop)
    if (end.kind === 'damaged') {
      const { reason, fault = 'source' } = end
      damaged.push({ key: blob.key, reason, fault, files: await relocatedFilesOfBlob(rows, blob.id) })
    } else if (!blob.isRemembered) arrived.push(blob)
    onBlob(blob, end.kind === 'there')
  }

  async function record(isOver: boolean): Promise<void> {
    const bytes = arrived.reduce((sum, blob) => sum + blob.size, 0)
    if (!isOver && arrived.length < RECORD_AFTER.blobs && bytes < RECORD_AFTER.bytes) return
    const keys = arrived.splice(0).map((blob) => blob.key)
    if (keys.length > 0) await job.settle?.()
    await rememberRelocated(memory, keys)
  }

  const limits = { width: MAX_CONCURRENT, bytes: MAX_CONCURRENT_BYTES }
  await walk({ contents: knownBlobs(job), ...limits, signal, visit, record })
  return damaged
}

async function* knownBlobs({ rows, memory, listed }: BlobCopyJob): AsyncGenerator<KnownBlob> {
  const read = (last: BlobToMove | null) => blobsToMove(rows, last?.id ?? null, BATCH)
  for await (const blobs of inBatches(read)) {
    const keys = blobs.map((blob) => blob.key)
    const remembered = await relocatedAmong(memory, keys)
    const there = (await listed?.(keys)) ?? null
    for (const blob of blobs) {
      yield { ...blob, isRemembered: remembered.has(blob.key), isListed: there?.has(blob.key) ?? null }
    }
  }
}

function messageOf(error: unknown): string {
  const cause = error instanceof StoreFailure && error.cause !== undefined ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

/** Fills a table with what a store lists. Of two entries with one key, the one with a size stays. */
export async function noteListed(memory: Database, listed: AsyncIterable<ListedBlob>): Promise<void> {
  for await (const rows of grouped(listed, LISTED)) await addListed(memory, rows)
}

/** Reports rows copied, then compared. Stops with the signal's reason. */
export async function watchedRows(
  db: Database,
  which: Pick<RowCopy, 'sameStore'>,
  { watch, signal }: { readonly watch: Watch<'rows' | 'compare'>; readonly signal: AbortSignal },
): Promise<RowCopy['onRows']> {
  const count = await countRows(db, which)
  let step: 'copied' | 'compared' = 'copied'
  watch.begin('rows', { count, bytes: 0 })
  return async (present, rows) => {
    signal.throwIfAborted()
    if (present !== step) watch.begin('compare', { count, bytes: 0 })
    step = present
    watch.advance({ count: rows, bytes: 0, wasThere: false })
    await yieldToEventLoop()
  }
}
