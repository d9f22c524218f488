/** Copies single blobs to another store. */
import {
  type BlobBody,
  BlobDamaged,
  BlobMissing,
  type BlobStore,
  isLost,
  isUnreadable,
  StoreFailure,
} from '../../blobs/blob-store.ts'
import { SECOND } from '../../domain/clock.ts'
import type { Throttle } from '../integrity/throttle.ts'
import type { ByteVerifier } from './byte-verifier.ts'
import type { BlobToMove } from './relocated-blobs.rows.ts'

/** Attempts per blob while a store is unavailable. */
const TRIES = 4
/** Bytes of a file that are read at a time. */
const PIECE = 1024 * 1024

/** Outcome of copying a blob: it was at the target, or is now, or cannot be copied. */
export type CopiedBlob =
  | { readonly kind: 'there' | 'copied' }
  | { readonly kind: 'damaged'; readonly reason: string }

/** State of a blob in the new store, as far as it is known without asking it. */
export interface KnownAtTarget {
  /** Whether an earlier run has recorded it as copied. */
  readonly isRemembered: boolean
  /** Null where the new store was not listed. */
  readonly isListed: boolean | null
}

export interface BlobCopier {
  /**
   * Copies the blob unless it is there, with retries, so that a short outage of a store does not end a long run. Throws
   * StoreFailure when a store stays unavailable.
   */
  copy(blob: BlobToMove, known: KnownAtTarget, signal: AbortSignal): Promise<CopiedBlob>
}

export interface CopyRoute {
  readonly from: Pick<BlobStore, 'read' | 'size'>
  readonly to: Pick<BlobStore, 'create' | 'read' | 'size' | 'remove'>
  /** Whether `to` may contain blobs of an earlier run. */
  readonly goesOn: boolean
  /** Whether each blob is read back from `to` before it counts as copied, as it must be before `from` is given up. */
  readonly readsBack: boolean
  readonly verifier: ByteVerifier
  /** Waits until so many further bytes may be copied. */
  readonly throttle: Throttle
  readonly pause: (milliseconds: number) => Promise<void>
  /** Called with progress in bytes: half when they are written, half when they are read back. */
  readonly onBytes: (bytes: number) => void
}

/**
 * A blob counts as copied only when what was read from `from` has the SHA-256 of its row, and with `readsBack` what was read
 * back from `to`.
 */
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
    // Removes an incomplete blob of an earlier attempt, which would prevent the write.
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

/** Null too where the disk cannot read the entry: it is replaced. */
async function readableSize(to: CopyRoute['to'], { key }: BlobToMove): Promise<number | null> {
  try {
    return await to.size(key)
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

/** Whether the new store has the blob with all its bytes. */
async function isIntact(
  { to, verifier, signal }: Way,
  blob: BlobToMove,
  onChunk: (bytes: number) => void,
): Promise<boolean> {
  try {
    const bytes = piecesOf(await to.read(blob.key, 0, blob.size), blob.size)
    return await verifier.arrival(blob, bytes, { signal, onChunk, store: null })
  } catch (error) {
    // What cannot be read here is written anew from the source.
    if (isLost(error) || isUnreadable(error)) return false
    throw error
  }
}

type Source = { readonly bytes: AsyncIterable<Uint8Array> } | { readonly reason: string }

/** The bytes of the blob, or why there are none. */
async function bodyOf(from: CopyRoute['from'], blob: BlobToMove): Promise<Source> {
  try {
    return { bytes: piecesOf(await from.read(blob.key, 0, blob.size, blob.size), blob.size) }
  } catch (error) {
    if (error instanceof BlobMissing) return { reason: 'is missing' }
    if (isUnreadable(error)) return { reason: 'cannot be read' }
    if (!(error instanceof BlobDamaged)) throw error
    return { reason: `has ${await from.size(blob.key)} bytes instead of ${blob.size}` }
  }
}

/** A file is read ahead by one piece, in one call for each: through a stream a small one would take several times as long. */
export async function* piecesOf(body: BlobBody, size: number): AsyncGenerator<Uint8Array> {
  if (!(body instanceof Blob)) return yield* body
  const piece = (at: number) => {
    const bytes = body.slice(at, at + PIECE).bytes()
    // Read ahead, it may fail before anybody waits for it.
    bytes.catch(() => {})
    return bytes
  }
  let next = piece(0)
  for (let at = PIECE; at < size; at += PIECE) {
    const bytes = await next
    next = piece(at)
    yield bytes
  }
  yield await next
}

async function* throttled(body: AsyncIterable<Uint8Array>, throttle: Throttle): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await throttle(chunk.byteLength)
    yield chunk
  }
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
