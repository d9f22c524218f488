import { type BlobStore, isLost } from '../../blobs/blob-store.ts'
import { nodeExists } from '../../core/nodes/nodes.rows.ts'
import type { StoreHealth } from '../../core/store/store-health.ts'
import type { Database } from '../../database/database.ts'
import { type ErrorCode, Refusal } from '../../domain/errors.ts'
import type { BlobKey, UploadId } from '../../domain/ids.ts'
import { arrivingRows } from '../arrival.ts'
import { type UploadRow, uploadById } from '../uploads.rows.ts'
import { noteFollowed } from './append-leases.rows.ts'
import type { AppendLeases } from './append-leases.ts'

const UNREADABLE: readonly ErrorCode[] = ['UPLOAD_LOCKED', 'FOLDER_NOT_FOUND']

const uninterrupted = { isIdle: () => false, stop() {} }

interface PartialReadsParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly health: StoreHealth
  readonly leases: AppendLeases
}

/** For stores that make growing blobs readable only on request. */
export class PartialReads {
  readonly #parts: PartialReadsParts

  constructor(parts: PartialReadsParts) {
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
