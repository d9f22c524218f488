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

const TRIES = 4
const PIECE = 1024 * 1024

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
    const bytes = piecesOf(await to.read(blob.key, 0, blob.size), blob.size)
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
    return { bytes: piecesOf(await from.read(blob.key, 0, blob.size, blob.size), blob.size) }
  } catch (error) {
    if (error instanceof BlobMissing) return { reason: 'is missing' }
    if (isUnreadable(error)) return { reason: 'cannot be read' }
    if (!(error instanceof BlobDamaged)) throw error
    return { reason: `has ${await from.size(blob.key)} bytes instead of ${blob.size}` }
  }
}

/** Reads one piece ahead, each in one call: a stream takes several times as long for small files. */
export async function* piecesOf(body: BlobBody, size: number): AsyncGenerator<Uint8Array> {
  if (!(body instanceof Blob)) return yield* body
  const piece = (at: number) => {
    const bytes = body.slice(at, at + PIECE).bytes()
    // A read ahead may fail before it is awaited.
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
