import { type BlobStore, isLost, readInto } from '../../blobs/blob-store.ts'
import type { Arrival } from '../../core/callers.ts'
import { nodeExists } from '../../core/nodes/nodes.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import { type ErrorCode, Refusal } from '../../domain/errors.ts'
import type { BlobKey, Sha256, UploadId } from '../../domain/ids.ts'
import { findFile } from '../../files/files.ts'
import { noteFollowed, partialOf, type UploadRow, uploadById } from '../uploads.rows.ts'
import { awaitedPartial, awaitsPartial } from './concatenation.ts'
import type { AppendLeases } from './leases.ts'

const GONE: Arrival = { kind: 'gone' }

export async function arrivalOf(db: Database, id: UploadId): Promise<Arrival> {
  const row = await uploadById(db, id)
  if (row === undefined) return GONE
  if (row.state === 'completed') return fileOf(db, row)
  if (row.ended_at !== null) return GONE
  const rows = await arrivingRows(db, row)
  if (rows !== null) return arriving(row, rows)
  // The parts may have been joined since the row was read. Otherwise one is gone, perhaps not recorded yet.
  const present = await uploadById(db, id)
  return present === undefined || awaitsPartial(present) ? GONE : arrivalOf(db, id)
}

/** The upload's row, or those of its partial uploads in order; null when one is gone. */
export async function arrivingRows(db: Database, row: UploadRow): Promise<UploadRow[] | null> {
  if (row.kind !== 'final') return [row]
  return awaitsPartial(row) ? awaitedPartial(db, row) : partialOf(db, row.id)
}

async function fileOf(db: Database, { file_id: id }: UploadRow): Promise<Arrival> {
  const file = id === null ? undefined : await findFile(db, { kind: 'id', id })
  return file === undefined ? GONE : { kind: 'there', file: file.id, key: file.blob_key, size: file.size }
}

function arriving({ size }: UploadRow, rows: readonly UploadRow[]): Arrival {
  let start = 0
  const pieces = rows.map((row) => {
    const { key, received, state } = row
    const piece = { key, start, received, progress: state === 'completed' ? null : row.progress }
    start += row.size ?? 0
    return piece
  })
  return { kind: 'arriving', size, pieces }
}

const UNREADABLE: readonly ErrorCode[] = ['UPLOAD_LOCKED', 'FOLDER_NOT_FOUND']

const uninterrupted = { isIdle: () => false, stop() {} }

/** For stores that make growing blobs readable only on request. */
export class PartialReads {
  readonly #parts

  constructor(parts: {
    readonly db: Database
    readonly blobs: BlobStore
    readonly health: StoreHealth
    readonly leases: AppendLeases
  }) {
    this.#parts = parts
  }

  /** Covers present and future bytes. The receiving node does it; repeat while they cannot be read. */
  async makeReadable(id: UploadId, key: BlobKey): Promise<void> {
    const { db } = this.#parts
    const upload = await uploadById(db, id)
    if (upload === undefined || upload.ended_at !== null) return
    const rows = ((await arrivingRows(db, upload)) ?? []).filter(({ state }) => state === 'uploading')
    if (rows.some(({ is_followed }) => is_followed === 0)) {
      await noteFollowed(
        db,
        rows.map((row) => row.id),
      )
    }
    const row = rows.find((row) => row.key === key)
    if (row !== undefined) await this.#showAtRest(row)
  }

  async #showAtRest(row: UploadRow): Promise<void> {
    const { db, health, leases } = this.#parts
    const { id, node } = row
    if (leases.isRunning(id) || (node !== null && (await nodeExists(db, node)))) return
    try {
      await leases.run(row, uninterrupted, () => this.#showKept(row))
    } catch (error) {
      // Another writer will do it, or the next append ends the upload.
      if (isLost(error) || (error instanceof Refusal && UNREADABLE.includes(error.code))) return
      throw health.refusalFor(error)
    }
  }

  async #showKept({ key, received, progress, size }: UploadRow): Promise<void> {
    if (progress === null) return
    const writer = await this.#parts.blobs.resume(key, { offset: received, progress }, size)
    try {
      await writer.makeReadable()
    } finally {
      await writer.close()
    }
  }
}

export interface BytesBefore {
  readonly length: number
  readonly sha256: Sha256
}

/** Fewer identify a longer upload too weakly. */
const FEWEST_BEFORE = 1024

/** Concurrent reads, of 64 KiB at most each. */
const AT_ONCE = 16

/** Name, size and date do not suffice to identify a file. */
export class BytesBeforeOffset {
  readonly #parts
  #running = 0
  readonly #waiting: (() => void)[] = []

  constructor(parts: {
    readonly db: Database
    readonly blobs: BlobStore
    readonly health: StoreHealth
    readonly partialReads: Pick<PartialReads, 'makeReadable'>
  }) {
    this.#parts = parts
  }

  /** At most `most` bytes, fewer where the store cannot read more; null for none. */
  async of(id: UploadId, offset: number, most: number): Promise<BytesBefore | null> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await this.#read(id, offset, Math.min(most, offset))
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  async #read(id: UploadId, offset: number, length: number): Promise<BytesBefore | null> {
    const { db, health, partialReads } = this.#parts
    if (length === 0) return null
    try {
      const row = await uploadById(db, id)
      if (row?.received !== offset) return null
      const found = await this.#readable(row, length)
      if (found !== null) return found
      await partialReads.makeReadable(id, row.key)
      const shown = await uploadById(db, id)
      return shown?.received === offset ? await this.#readable(shown, length) : null
    } catch (error) {
      // The next request that brings bytes ends a damaged upload.
      if (isLost(error)) return null
      throw health.refusalFor(error)
    }
  }

  /** Halves the length until the store can read the bytes; null below `FEWEST_BEFORE`. */
  async #readable(row: UploadRow, most: number): Promise<BytesBefore | null> {
    const { blobs } = this.#parts
    const { key, received, progress, state } = row
    const bytes = new Uint8Array(most)
    if (state === 'completed') {
      await readInto(blobs, key, received - most, bytes, received)
      return digestOf(bytes)
    }
    if (state !== 'uploading' || progress === null) return null
    const blob = await blobs.openGrowing(key)
    try {
      const kept = { offset: received, progress }
      for (let length = most; length >= Math.min(most, FEWEST_BEFORE); length = Math.floor(length / 2)) {
        const target = bytes.subarray(0, length)
        for (let at = received - length; at < received; ) {
          const end = Math.min(received, await blob.readableFrom(at, kept))
          if (end <= at) break
          const from = at - (received - length)
          await blob.readInto(at, target.subarray(from, from + end - at))
          at = end
          if (at === received) return digestOf(target)
        }
      }
      return null
    } finally {
      await blob.close()
    }
  }
}

function digestOf(bytes: Uint8Array): BytesBefore {
  return { length: bytes.length, sha256: Bun.SHA256.hash(bytes, 'hex') as Sha256 }
}
