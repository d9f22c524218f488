/** Copies all contents and all rows, for backups, restores and relocations. */
import { type BlobStore, type ListedBlob, StoreFailure } from '../blobs/blob-store.ts'
import type { StorePlace } from '../config.ts'
import { pairMeta } from '../core/store/pairing.ts'
import type { Database } from '../database/database.ts'
import { yieldToEventLoop } from '../domain/clock.ts'
import type { BlobKey } from '../domain/ids.ts'
import { isSyncedAsWhole, syncFileSystem } from '../storage.ts'
import {
  addListed,
  type BlobToMove,
  blobsToMove,
  type FileOfBlob,
  relocatedAmong,
  relocatedFilesOfBlob,
  rememberRelocated,
} from './copied.rows.ts'
import {
  type BlobCopier,
  type CopiedBlob,
  type CopyOrder,
  type KnownBlob,
  startCopyThreads,
} from './copy-threads.ts'
import { countRows, type RowCopy } from './row-copy.rows.ts'
import { grouped, inBatches, tolerance, type Watch, walk } from './walk.ts'

const MAX_CONCURRENT = 32
const MAX_CONCURRENT_BYTES = 64 * 1024 * 1024
const RECORD_AFTER = { blobs: 500, bytes: 256 * 1024 * 1024 }
const BATCH = 200
const LISTED = 1000

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

interface Progress {
  readonly watch: Watch<'rows' | 'compare'>
  readonly signal: AbortSignal
}

export interface Copies {
  /** So far, without those that were there. */
  readonly copied: { readonly contents: number; readonly bytes: number }
  /** As `copyBlobs`. Without a listing `memory` outlives the run, and records only durable contents. */
  copy(job: Pick<BlobCopyJob, 'rows' | 'memory' | 'listed'>): Promise<UncopyableBlob[]>
}

/** Copies on threads while `use` runs. After its failure, removes what a failed sync may have lost. */
export async function withCopies<T>(
  order: Omit<CopyOrder, 'isSyncedLater'>,
  { durability, to }: Filled,
  { watch, signal }: { readonly watch: Pick<Watch<never>, 'advance'>; readonly signal: AbortSignal },
  use: (copies: Copies) => Promise<T>,
): Promise<T> {
  const { isSyncedLater } = durability
  const copied = { contents: 0, bytes: 0 }
  const settle = () => durability.settle()
  const copier = startCopyThreads({ ...order, isSyncedLater }, (bytes) => {
    durability.wrote(bytes)
    watch.advance({ count: 0, bytes, wasThere: false })
  })
  function onBlob({ key, size }: BlobToMove, wasThere: boolean): void {
    watch.advance({ count: 1, bytes: wasThere ? size : 0, wasThere })
    if (wasThere) return
    copied.contents++
    copied.bytes += size
    durability.copied(key)
  }
  try {
    return await use({
      copied,
      copy: (job) =>
        copyBlobs({ ...job, ...(job.listed === null ? { settle } : {}), copier, signal, onBlob }),
    })
  } catch (error) {
    await durability.removeLost(to)
    throw error
  } finally {
    await copier.close()
  }
}

/** A store that is filled. */
export interface Filled {
  readonly to: Pick<BlobStore, 'removeAll'>
  readonly durability: Durability
}

/** Bytes between background syncs, so that the last one is short. */
const SYNC_EVERY = 256 * 1024 * 1024

/**
 * Syncs the file system as a whole where possible: one sync a content takes longer than all else. After a power cut the
 * next run compares the contents that no point names with their hashes.
 */
export async function durabilityOf(place: StorePlace): Promise<Durability> {
  return new Durability(place.kind === 'folder' && (await isSyncedAsWhole(place.path)) ? place.path : null)
}

export class Durability {
  /** Null: each content is durable when it is complete. */
  readonly #folder: string | null
  #written = 0
  #unsynced: BlobKey[] = []
  #syncing: Promise<void> | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(folder: string | null) {
    this.#folder = folder
  }

  get isSyncedLater(): boolean {
    return this.#folder !== null
  }

  wrote(bytes: number): void {
    this.#written += bytes
    if (this.#written >= SYNC_EVERY && this.#syncing === null) void this.#sync()
  }

  /** Called with each copied content. Throws StoreFailure once a sync has failed. */
  copied(key: BlobKey): void {
    if (this.isSyncedLater) this.#unsynced.push(key)
    if (this.#failure !== null) throw this.#failure.error
  }

  /** Everything copied is durable when it returns. Throws StoreFailure. */
  async settle(): Promise<void> {
    await this.#syncing
    await this.#sync()
    if (this.#failure !== null) throw this.#failure.error
  }

  /** After a failed sync the page cache still holds bytes that the next run would trust. Never throws. */
  async removeLost(store: Filled['to']): Promise<void> {
    await this.#syncing
    if (this.#failure !== null) await store.removeAll(this.#unsynced, () => {}).catch(() => {})
  }

  /** Never throws. A failed sync is final: later ones do not make up for it. */
  async #sync(): Promise<void> {
    this.#written = 0
    if (this.#folder === null) return
    const count = this.#unsynced.length
    this.#syncing = syncFileSystem(this.#folder)
      .then(() => {
        if (this.#failure === null) this.#unsynced = this.#unsynced.slice(count)
      })
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#syncing = null
      })
    return this.#syncing
  }
}

/** Copies all rows by `copy`, but what ties a database to its store, and compares them. Stops with the signal's reason. */
export async function copyEveryRow(
  copy: (rows: RowCopy) => Promise<void>,
  rows: Pick<RowCopy, 'from' | 'to' | 'sameStore'>,
  { watch, signal }: Progress,
): Promise<void> {
  const total = { count: await countRows(rows.from, rows), bytes: 0 }
  let step: 'copied' | 'compared' = 'copied'
  watch.begin('rows', total)
  await copy({
    ...rows,
    ownMeta: Object.values(pairMeta),
    async onRows(present, count) {
      signal.throwIfAborted()
      if (present !== step) watch.begin('compare', total)
      step = present
      watch.advance({ count, bytes: 0, wasThere: false })
      await yieldToEventLoop()
    },
  })
}
