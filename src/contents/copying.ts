import {
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  eachChunk,
  isLost,
  isUnreadable,
  StoreFailure,
} from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import { SECOND, yieldToEventLoop } from '../domain/clock.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import { startContentHashing } from '../uploads/hashing/content-hash.ts'
import { HashingWriter } from '../uploads/hashing-writer.ts'
import {
  type BlobToMove,
  blobsToMove,
  type FileOfBlob,
  relocatedAmong,
  relocatedFilesOfBlob,
  rememberRelocated,
} from './copied.rows.ts'
import type { Throttle } from './pace.ts'
import { countRows, type RowCopy } from './row-copy.rows.ts'

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

const TRIES = 4

export type CopiedBlob =
  | { readonly kind: 'there' | 'copied' }
  | { readonly kind: 'damaged'; readonly reason: string }

export interface KnownAtTarget {
  readonly isRemembered: boolean
  /** Null: not listed. */
  readonly isListed: boolean | null
}

export interface BlobCopier {
  /** Retries: a short outage does not end a long run. Throws StoreFailure when a store stays unavailable. */
  copy(blob: BlobToMove, known: KnownAtTarget, signal: AbortSignal): Promise<CopiedBlob>
}

export interface CopyRoute {
  readonly from: Pick<BlobStore, 'read' | 'size'>
  readonly to: Pick<BlobStore, 'create' | 'read' | 'size' | 'remove'>
  readonly goesOn: boolean
  /** Whether to read each blob back before it counts as copied: required before `from` is given up. */
  readonly readsBack: boolean
  readonly verifier: ByteVerifier
  readonly throttle: Throttle
  readonly pause: (milliseconds: number) => Promise<void>
  /** Progress in bytes: half when written, half when read back. */
  readonly onBytes: (bytes: number) => void
}

/** Copied: what was read from `from`, and with `readsBack` from `to`, has the SHA-256 of its row. */
export function createBlobCopier(route: CopyRoute): BlobCopier {
  return {
    async copy(blob, { isRemembered, isListed }, signal) {
      for (let tries = 1; ; tries++) {
        try {
          const mayBeThere = (isListed ?? route.goesOn) || tries > 1
          return await copyBlob({ ...route, signal }, blob, { isRemembered, mayBeThere })
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

type Way = CopyRoute & { readonly signal: AbortSignal }

async function copyBlob(
  way: Way,
  blob: BlobToMove,
  { isRemembered, mayBeThere }: { readonly isRemembered: boolean; readonly mayBeThere: boolean },
): Promise<CopiedBlob> {
  const { from, to, onBytes } = way
  if (mayBeThere) {
    if (
      (await readableSize(to, blob)) === blob.size &&
      (isRemembered || (await isIntact(way, blob, () => {})))
    )
      return { kind: 'there' }
    // An incomplete blob of an earlier attempt would prevent the write.
    await to.remove(blob.key)
  }
  const body = await bodyOf(from, blob)
  if ('reason' in body) return { kind: 'damaged', reason: body.reason }
  const writer = await to.create(blob.key)
  try {
    const isWhole = await way.verifier.departure(blob, throttled(readable(body.bytes), way.throttle), {
      signal: way.signal,
      onChunk: (bytes) => onBytes(bytes / 2),
      store: (bytes) => writer.write(bytes),
    })
    if (!isWhole) {
      await writer.abort()
      return { kind: 'damaged', reason: 'has other bytes than it was uploaded with' }
    }
    await writer.complete()
  } catch (error) {
    await writer.abort()
    if (error instanceof Unreadable) return { kind: 'damaged', reason: 'cannot be read' }
    throw error
  }
  if (!way.readsBack) {
    onBytes(blob.size / 2)
    return { kind: 'copied' }
  }
  if (await isIntact(way, blob, (bytes) => onBytes(bytes / 2))) return { kind: 'copied' }
  await to.remove(blob.key)
  throw new Error(`the new store returned other bytes than were written to it (blob ${blob.key})`)
}

/** Null also for an unreadable entry, which is replaced. */
async function readableSize(to: CopyRoute['to'], { key }: BlobToMove): Promise<number | null> {
  try {
    return await to.size(key)
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

async function isIntact(
  { to, verifier, signal }: Way,
  blob: BlobToMove,
  onChunk: (bytes: number) => void,
): Promise<boolean> {
  try {
    const bytes = eachChunk(await to.read(blob.key, 0, blob.size, blob.size))
    return await verifier.arrival(blob, bytes, { signal, onChunk, store: null })
  } catch (error) {
    // Unreadable at the target: write it again.
    if (isLost(error) || isUnreadable(error)) return false
    throw error
  }
}

type Source = { readonly bytes: AsyncIterable<Uint8Array> } | { readonly reason: string }

async function bodyOf(from: CopyRoute['from'], blob: BlobToMove): Promise<Source> {
  try {
    return { bytes: eachChunk(await from.read(blob.key, 0, blob.size, blob.size)) }
  } catch (error) {
    if (error instanceof BlobMissing) return { reason: 'is missing' }
    if (isUnreadable(error)) return { reason: 'cannot be read' }
    if (!(error instanceof BlobDamaged)) throw error
    return { reason: `has ${await from.size(blob.key)} bytes instead of ${blob.size}` }
  }
}

async function* throttled(body: AsyncIterable<Uint8Array>, throttle: Throttle): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await throttle(chunk.byteLength)
    yield chunk
  }
}

/** Damage of this blob, not a failure of the store. */
class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

async function* readable(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    if (error instanceof StoreFailure && error.reason !== 'broken') throw error
    throw new Unreadable('the bytes cannot be read', { cause: error })
  }
}

interface Passing {
  readonly signal: AbortSignal
  readonly onChunk: (bytes: number) => void
  readonly store: ((bytes: Uint8Array) => Promise<void>) | null
}

/** Whether the bytes are the blob's; passes them on. Throws what reading and storing throw. */
type Compare = (blob: BlobToMove, body: AsyncIterable<Uint8Array>, passing: Passing) => Promise<boolean>

export interface ByteVerifier {
  readonly departure: Compare
  readonly arrival: Compare
}

const here: Compare = async (blob, body, { signal, onChunk, store }) => {
  const hash = new Bun.CryptoHasher('sha256')
  let size = 0
  for await (const chunk of body) {
    signal.throwIfAborted()
    hash.update(chunk)
    await store?.(chunk)
    onChunk(chunk.byteLength)
    size += chunk.byteLength
  }
  return size === blob.size && hash.digest('hex') === blob.sha256
}

export const verifyInline: ByteVerifier = { departure: here, arrival: here }

export function verifyOnThreads(): ByteVerifier & { close(): void } {
  const threads = [startContentHashing(), startContentHashing()] as const
  const [departure, arrival] = threads.map(comparedOn)
  if (departure === undefined || arrival === undefined) throw new Error('a thread is missing')
  return {
    departure: shortHere(departure),
    arrival: shortHere(arrival),
    close() {
      for (const thread of threads) thread.close()
    },
  }
}

/** Handing over a small blob takes longer than hashing it. */
const shortHere =
  (onThread: Compare): Compare =>
  (blob, body, passing) =>
    (blob.size <= SHORT ? here : onThread)(blob, body, passing)

const SHORT = 256 * 1024

function comparedOn(hashing: ReturnType<typeof startContentHashing>): Compare {
  return async (blob, body, { signal, onChunk, store }) => {
    const hash = hashing.start()
    const writer = new HashingWriter({ hashing, hash, store: store ?? (async () => {}), from: 0 })
    let size = 0
    try {
      for await (const chunk of body) {
        signal.throwIfAborted()
        await writer.write(chunk)
        onChunk(chunk.byteLength)
        size += chunk.byteLength
      }
      return size === blob.size && (await writer.end()).sha256 === blob.sha256
    } finally {
      await writer.rest()
      hash.drop()
    }
  }
}

interface Amount {
  readonly count: number
  readonly bytes: number
}

interface Watched {
  readonly signal: AbortSignal
  readonly watch: {
    begin(step: 'rows' | 'compare', total: Amount): void
    advance(done: Amount & { readonly wasThere: boolean }): void
  }
}

/** Reports rows copied, then compared. Stops with the signal's reason. */
export async function watchedRows(
  db: Database,
  which: Pick<RowCopy, 'sameStore'>,
  { watch, signal }: Watched,
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
