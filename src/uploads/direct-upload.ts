import type { StoreHealth } from '../core/store/store-health.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import type { AccountId, BlobKey, FolderId } from '../domain/ids.ts'
import type { FileCommit, FileLink, Settle, StoredFile } from './commit.ts'
import type { IncomingContent } from './content/incoming-content.ts'
import { FileHead } from './file-head.ts'
import type { KeyNote } from './idempotency-keys.rows.ts'
import type { RequestReservation } from './request-reservation.ts'
import { assertFileSize } from './size-limit.ts'

interface Parts {
  readonly health: StoreHealth
  readonly commit: FileCommit
  readonly maxFileSize: number
}

interface FinishOptions {
  readonly alongside?: Settle | null
  readonly link?: FileLink | null
  readonly note?: KeyNote | null
}

interface Target {
  readonly account: AccountId
  readonly address: string | null
  readonly folder: FolderId
  readonly key: BlobKey
}

/** After any error only `abort` makes sense. */
export class DirectUpload {
  readonly #parts: Parts
  readonly #target: Target
  readonly #reservation: RequestReservation
  /** Begun with the upload, so that the disk works while the bytes come. */
  readonly #recorded: Promise<void>
  readonly #content: IncomingContent
  readonly #head = new FileHead()
  #received = 0
  #isComplete = false
  #isStored = false

  constructor(parts: Parts, target: Target, reservation: RequestReservation, content: IncomingContent) {
    this.#parts = parts
    this.#target = target
    this.#reservation = reservation
    this.#recorded = reservation.recorded()
    this.#content = content
  }

  get key(): BlobKey {
    return this.#target.key
  }

  /** Takes up to `most` bytes. Throws Refusal when a limit is passed or the store fails. */
  async write(chunk: Uint8Array, most = Number.POSITIVE_INFINITY): Promise<void> {
    this.#received += chunk.byteLength
    if (this.#received > most) throw new Refusal('INVALID_REQUEST', 'The file is longer than was declared')
    assertFileSize(this.#received, this.#parts.maxFileSize)
    await this.#reservation.cover(this.#received)
    this.#head.take(chunk)
    await this.#storing(() => this.#content.write(chunk))
  }

  /** Returns once bytes, row, `note` and the effects of `alongside` would survive a power cut. */
  async finish(
    rawName: string,
    declaredType: string | null,
    { alongside = null, link = null, note = null }: FinishOptions = {},
  ): Promise<StoredFile> {
    const digest = await this.#storing(() => this.#content.complete(this.#recorded))
    this.#isComplete = true
    const upload = {
      ...this.#target,
      digest,
      size: this.#received,
      head: this.#head.bytes(),
      name: cleanFileName(rawName),
      declaredType,
      link,
      note,
    }
    const settle: Settle = async (trx, stored) => {
      await this.#reservation.use(trx)
      await alongside?.(trx, stored)
    }
    const settled = this.#reservation.settle(this.#received)
    const file = await this.#parts.commit.commit(upload, settle, alongside === null)
    this.#isStored = true
    this.#reservation.used()
    await settled
    return file
  }

  /** Leaves nothing behind. Harmless after `finish`. */
  async abort(): Promise<void> {
    if (this.#isStored) return
    try {
      // Once the row may exist, the bytes may belong to a file: releasing the reservation asks the database.
      if (!this.#isComplete) await this.#content.abort()
    } finally {
      await this.#reservation.release()
    }
  }

  async #storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#parts.health.refusalFor(error)
    }
  }
}
