import { type BlobStore, isLost, isUnreadable } from '../../blobs/blob-store.ts'
import { readingFailure } from '../../core/file-damaged.ts'
import type { SecondCopies } from '../../core/store/second-copy.ts'
import type { Database } from '../../database/database.ts'
import type { BlobKey } from '../../domain/ids.ts'
import { findFile } from '../../files/files.rows.ts'
import type { SuspectQueue } from '../content.ts'
import { presentBlobKey } from './archive.rows.ts'
import type { PlannedFile } from './archive-plan.ts'

/** Planned files' keys may change. */
export class ArchiveContents {
  readonly #db: Database
  readonly #blobs: BlobStore
  readonly #copies: SecondCopies
  readonly #suspects: SuspectQueue

  constructor(db: Database, blobs: BlobStore, copies: SecondCopies, suspects: SuspectQueue) {
    this.#db = db
    this.#blobs = blobs
    this.#copies = copies
    this.#suspects = suspects
  }

  fill(file: PlannedFile | null, start: number, target: Uint8Array): Promise<void> {
    return this.#read(file, (key, size) => this.#blobs.readInto(key, start, target, size))
  }

  /** `end` is exclusive. Null where `fill` is as good. */
  async stream(
    file: PlannedFile | null,
    start: number,
    end: number,
  ): Promise<ReadableStream<Uint8Array> | null> {
    const body = await this.#read(file, (key, size) => this.#blobs.read(key, start, end, size))
    return body instanceof Blob ? null : body
  }

  async #read<T>(file: PlannedFile | null, read: (key: BlobKey, size: number) => Promise<T>): Promise<T> {
    if (file === null) throw new Error('a folder has no content')
    try {
      return await read(file.blobKey, file.size)
    } catch (error) {
      if (isUnreadable(error)) this.#suspects.add(file.blobId)
      if (!isLost(error)) throw error
      // A newer copy of the content may have replaced this one, or it has gone.
      const key = await presentBlobKey(this.#db, file.blobId)
      if (key === undefined) throw error
      return read(key, file.size).catch((failure: unknown) => this.#fail(file, failure))
    }
  }

  /** A later request for the archive succeeds where there is a second copy. */
  async #fail({ id, blobId }: PlannedFile, error: unknown): Promise<never> {
    if (isLost(error) && !(await this.#copies.repair(blobId))) this.#suspects.add(blobId)
    const file = await findFile(this.#db, { kind: 'id', id })
    throw file === undefined ? error : readingFailure(file, error)
  }
}
