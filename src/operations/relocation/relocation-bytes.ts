/** Copies the blobs of a relocation, each read back from the target and verified. */
import { type BlobBody, BlobMissing, type BlobStore, StoreFailure } from '../../blobs/blob-store.ts'
import type { Database } from '../../database/database.ts'
import { SECOND } from '../../domain/clock.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import { type ContentHashing, startContentHashing } from '../../uploads/hashing/content-hash.ts'
import { Intake } from '../../uploads/intake.ts'
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
/** Attempts per blob while a store is unavailable. */
const TRIES = 4

/** A blob that cannot be copied because it differs from its row. */
export interface Damage {
  readonly key: BlobKey
  readonly reason: string
  /** Files with this content. */
  readonly files: readonly FileOfBlob[]
}

export interface Carrying {
  /** Database whose rows list the blobs. */
  readonly rows: Database
  /** Database that records copied blobs. */
  readonly memory: Database
  readonly from: Pick<BlobStore, 'read' | 'size'>
  readonly to: Pick<BlobStore, 'create' | 'read' | 'size' | 'remove'>
  /** Whether `to` may contain blobs of an earlier run. */
  readonly goesOn: boolean
  /** Whether each blob is read back from `to` before it counts as copied, as it must be before `from` is given up. */
  readonly readsBack: boolean
  /**
   * Which of the keys `to` lists, where it was listed before: a blob that is listed and recorded counts as copied without
   * a look at its size, and one that is not listed is not there. Null where it was not.
   */
  readonly listed: ((keys: readonly BlobKey[]) => Promise<ReadonlySet<BlobKey>>) | null
  readonly signal: AbortSignal
  readonly pause: (milliseconds: number) => Promise<void>
  /** Called with progress in bytes: half when they are written, half when they are read back. */
  readonly onBytes: (bytes: number) => void
  /** Called for each finished blob, and whether an earlier run had copied it. */
  readonly onBlob: (blob: BlobToMove, wasThere: boolean) => void
}

/**
 * Copies every missing blob and returns those that could not be copied. A blob counts as copied only when what was read
 * from `from` has the SHA-256 of its row, and with `readsBack` what was read back from `to`. Memory use is independent of sizes and numbers.
 * Throws StoreFailure when a store stays unavailable.
 */
export async function carryBytes(carrying: Carrying): Promise<Damage[]> {
  const { rows, memory, signal, onBlob } = carrying
  const damaged: Damage[] = []
  const arrived: BlobToMove[] = []
  const stop = new AbortController()
  const hands = { ...carrying, signal: AbortSignal.any([signal, stop.signal]) }
  const [departure, arrival] = [startContentHashing(), startContentHashing()]
  const crew = limitedTo(MAX_CONCURRENT, MAX_CONCURRENT_BYTES)

  async function carryOne(blob: BlobToMove, known: Known): Promise<void> {
    const end = await carryWithRetries(hands, { departure, arrival }, blob, known)
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
      const listed = (await carrying.listed?.(keys)) ?? null
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
  } finally {
    departure.close()
    arrival.close()
  }
}

type End = { readonly kind: 'there' | 'carried' } | { readonly kind: 'damaged'; readonly reason: string }

/** What is known of a blob in the new store without asking it. */
interface Known {
  /** Whether an earlier run has recorded it as copied. */
  readonly isRemembered: boolean
  /** Null where the new store was not listed. */
  readonly isListed: boolean | null
}

interface Hashings {
  readonly departure: ContentHashing
  readonly arrival: ContentHashing
}

/** Retries with pauses, so that a short outage of a store does not end a long relocation. */
async function carryWithRetries(
  carrying: Carrying,
  hashings: Hashings,
  blob: BlobToMove,
  { isRemembered, isListed }: Known,
): Promise<End> {
  if (isRemembered && isListed === true) return { kind: 'there' }
  for (let tries = 1; ; tries++) {
    try {
      const mayBeThere = (isListed ?? carrying.goesOn) || tries > 1
      return await carry(carrying, hashings, blob, { isRemembered, mayBeThere })
    } catch (error) {
      const isPassing = error instanceof StoreFailure && error.reason === 'away'
      if (!isPassing || tries === TRIES) throw error
    }
    await carrying.pause(tries * SECOND)
    carrying.signal.throwIfAborted()
  }
}

async function carry(
  carrying: Carrying,
  { departure, arrival }: Hashings,
  blob: BlobToMove,
  { isRemembered, mayBeThere }: { readonly isRemembered: boolean; readonly mayBeThere: boolean },
): Promise<End> {
  const { from, to, onBytes, signal } = carrying
  const isIntact = async (onChunk: (bytes: number) => void) => {
    const read = await bytesOf(to, blob)
    return read !== null && (await hashesTo(blob, read, arrival, signal, { onChunk, store: async () => {} }))
  }
  if (mayBeThere) {
    if ((await to.size(blob.key)) === blob.size && (isRemembered || (await isIntact(() => {}))))
      return { kind: 'there' }
    // Removes an incomplete blob of an earlier attempt, which would prevent the write.
    await to.remove(blob.key)
  }

  const size = await from.size(blob.key)
  if (size === null) return { kind: 'damaged', reason: 'is missing' }
  if (size !== blob.size) return { kind: 'damaged', reason: `has ${size} bytes instead of ${blob.size}` }
  const body = await bytesOf(from, blob)
  if (body === null) return { kind: 'damaged', reason: 'is missing' }
  const writer = await to.create(blob.key)
  try {
    const isWhole = await hashesTo(blob, readable(body), departure, signal, {
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
  if (!carrying.readsBack) {
    onBytes(blob.size / 2)
    return { kind: 'carried' }
  }
  if (await isIntact((bytes) => onBytes(bytes / 2))) return { kind: 'carried' }
  await to.remove(blob.key)
  throw new Error(`the new store returned other bytes than were written to it (blob ${blob.key})`)
}

/** Null when the blob is missing. */
async function bytesOf(
  store: Pick<BlobStore, 'read'>,
  blob: BlobToMove,
): Promise<AsyncIterable<Uint8Array> | null> {
  let body: BlobBody
  try {
    body = await store.read(blob.key, 0, blob.size)
  } catch (error) {
    if (error instanceof BlobMissing) return null
    throw error
  }
  return body instanceof Blob ? body.stream() : body
}

/** A file that a failing disk cannot read: damage of this blob, not a failure of the store. */
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

async function hashesTo(
  blob: BlobToMove,
  body: AsyncIterable<Uint8Array>,
  hashing: ContentHashing,
  signal: AbortSignal,
  { onChunk, store }: { onChunk: (bytes: number) => void; store: (bytes: Uint8Array) => Promise<void> },
): Promise<boolean> {
  const hash = hashing.start()
  const intake = new Intake({ hashing, hash, store, from: 0 })
  let size = 0
  try {
    for await (const chunk of body) {
      signal.throwIfAborted()
      await intake.write(chunk)
      onChunk(chunk.byteLength)
      size += chunk.byteLength
    }
    return size === blob.size && (await intake.end()).sha256 === blob.sha256
  } finally {
    await intake.rest()
    hash.drop()
  }
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
