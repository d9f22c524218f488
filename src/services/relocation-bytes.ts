/** The bytes of a relocation: each blob carried over and read back from where it arrived. */
import { type BlobBody, BlobMissing, type BlobStore, StoreFailure } from '../blobs/blob-store.ts'
import {
  type BlobToMove,
  blobsToMove,
  type FileOfBlob,
  filesOfBlob,
  relocatedAmong,
  rememberRelocated,
} from '../database/relocated-blobs.ts'
import type { Db } from '../database/schema.ts'
import { SECOND } from '../domain/clock.ts'
import type { BlobId, BlobKey } from '../domain/ids.ts'
import { type ContentHashing, startContentHashing } from './content-hash.ts'
import { Intake } from './intake.ts'

/** Blobs that are carried at the same time. */
const AT_ONCE = 16
/** Bytes of the blobs that are carried at the same time. A blob counts half of it at most, so two large ones go together. */
const BYTES_AT_ONCE = 64 * 1024 * 1024
/** So many blobs or bytes arrive before it is written down which they are. */
const REMEMBERED_TOGETHER = { blobs: 200, bytes: 256 * 1024 * 1024 }
/** Blobs that are asked of the database together. */
const BATCH = 200
/** How often a blob is tried when a store is away. */
const TRIES = 4

/** A blob that cannot be carried over because it is not what its row says. */
export interface Damage {
  readonly key: BlobKey
  readonly reason: string
  /** What it is the content of. */
  readonly files: readonly FileOfBlob[]
}

export interface Carrying {
  /** Whose rows say what there is. */
  readonly rows: Db
  /** Where it is remembered what has arrived. */
  readonly memory: Db
  readonly from: BlobStore
  readonly to: BlobStore
  /** Whether there may be anything in `to` already. */
  readonly goesOn: boolean
  readonly signal: AbortSignal
  readonly pause: (milliseconds: number) => Promise<void>
  /** Told of bytes on their way, each counted half when it is written and half when it has been read back. */
  readonly onBytes: (bytes: number) => void
  /** Told of each blob that is done with, and whether it was there before. */
  readonly onBlob: (blob: BlobToMove, wasThere: boolean) => void
}

/**
 * Carries every blob that is not there yet, and answers which ones could not be carried. Nothing counts as arrived
 * whose SHA-256, read back from the new store, is not that of the row. Memory does not grow with sizes or numbers.
 * Throws StoreFailure when a store stays away.
 */
export async function carryBytes(carrying: Carrying): Promise<Damage[]> {
  const { rows, memory, signal, onBlob } = carrying
  const damaged: Damage[] = []
  const arrived: BlobToMove[] = []
  const stop = new AbortController()
  const hands = { ...carrying, signal: AbortSignal.any([signal, stop.signal]) }
  const [departure, arrival] = [startContentHashing(), startContentHashing()]
  const crew = limitedTo(AT_ONCE, BYTES_AT_ONCE)

  async function carryOne(blob: BlobToMove, isRemembered: boolean): Promise<void> {
    const end = await carryPatiently(hands, { departure, arrival }, blob, isRemembered)
    if (end.kind === 'damaged') {
      damaged.push({ key: blob.key, reason: end.reason, files: await filesOfBlob(rows, blob.id) })
    } else if (!isRemembered) arrived.push(blob)
    onBlob(blob, end.kind === 'there')
  }

  function remember(): Promise<void> {
    return rememberRelocated(
      memory,
      arrived.splice(0).map((blob) => blob.key),
    )
  }

  function isMuchToRemember(): boolean {
    const bytes = arrived.reduce((sum, blob) => sum + blob.size, 0)
    return arrived.length >= REMEMBERED_TOGETHER.blobs || bytes >= REMEMBERED_TOGETHER.bytes
  }

  try {
    let after: BlobId | null = null
    for (;;) {
      const blobs: BlobToMove[] = await blobsToMove(rows, after, BATCH)
      after = blobs.at(-1)?.id ?? null
      if (after === null) break
      const remembered = await relocatedAmong(
        memory,
        blobs.map((blob) => blob.key),
      )
      for (const blob of blobs) {
        await crew.enter(blob.size, () => carryOne(blob, remembered.has(blob.key)))
        signal.throwIfAborted()
        if (isMuchToRemember()) await remember()
      }
    }
    await crew.allDone()
    await remember()
    return damaged
  } catch (error) {
    stop.abort()
    await crew.allDone().catch(() => {})
    // What is not remembered is read once more by the next run.
    await remember().catch(() => {})
    throw error
  } finally {
    departure.close()
    arrival.close()
  }
}

type End = { readonly kind: 'there' | 'carried' } | { readonly kind: 'damaged'; readonly reason: string }

interface Hashings {
  readonly departure: ContentHashing
  readonly arrival: ContentHashing
}

/** A store that is away for a moment does not end the work of hours. */
async function carryPatiently(
  carrying: Carrying,
  hashings: Hashings,
  blob: BlobToMove,
  isRemembered: boolean,
): Promise<End> {
  for (let tries = 1; ; tries++) {
    try {
      const mayBeThere = carrying.goesOn || tries > 1
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
    // What an earlier try has left unfinished would stand in the way.
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
  if (await isIntact((bytes) => onBytes(bytes / 2))) return { kind: 'carried' }
  await to.remove(blob.key)
  throw new Error(`the new store gives other bytes back than were written to it (blob ${blob.key})`)
}

/** Null when the blob is missing. */
async function bytesOf(store: BlobStore, blob: BlobToMove): Promise<AsyncIterable<Uint8Array> | null> {
  let body: BlobBody
  try {
    body = await store.read(blob.key, 0, blob.size)
  } catch (error) {
    if (error instanceof BlobMissing) return null
    throw error
  }
  return body instanceof Blob ? body.stream() : body
}

/** A disk that cannot read one file any more reads the others. */
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

/** Lets so many work at the same time, together on so many bytes. */
function limitedTo(most: number, mostBytes: number) {
  const working = new Set<Promise<void>>()
  let bytesInWork = 0
  let failure: { readonly error: unknown } | null = null

  return {
    /** Returns as soon as the work has begun. Throws what any work before it has failed with. */
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

    /** Throws what any work has failed with. */
    async allDone(): Promise<void> {
      await Promise.all(working)
      if (failure !== null) throw failure.error
    },
  }
}
