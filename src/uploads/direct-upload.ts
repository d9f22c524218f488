import { BlobDamaged, type BlobWriter, StoreFailure } from '../blobs/blob-store.ts'
import type { StoreHealth } from '../core/store/store-health.ts'
import { Refusal } from '../domain/errors.ts'
import { cleanFileName } from '../domain/file-name.ts'
import type { AccountId, BlobKey, FolderId } from '../domain/ids.ts'
import type { FileCommit, FileLink, Settle, StoredFile } from './commit.ts'
import { FileHead } from './file-head.ts'
import type { ContentHash, ContentHashing } from './hashing/content-hash.ts'
import type { Digest } from './hashing/content-hash-messages.ts'
import type { KeyNote } from './idempotency-keys.rows.ts'
import { Intake } from './intake.ts'
import type { NodeReservation } from './node-reservation.ts'
import { assertFileSize } from './size-limit.ts'

interface Parts {
  readonly health: StoreHealth
  readonly hashing: ContentHashing
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
  readonly folder: FolderId
  readonly key: BlobKey
}

/** One file whose bytes come in one request. After any error only `abort` makes sense. */
export class DirectUpload {
  readonly #parts: Parts
  readonly #target: Target
  readonly #reservation: NodeReservation
  readonly #writer: BlobWriter
  readonly #hash: ContentHash
  readonly #intake: Intake<Digest>
  readonly #head = new FileHead()
  #received = 0
  /** Whether the store has all bytes. */
  #isComplete = false
  /** Whether the row is in the database. */
  #isStored = false

  constructor(parts: Parts, target: Target, reservation: NodeReservation, writer: BlobWriter) {
    this.#parts = parts
    this.#target = target
    this.#reservation = reservation
    this.#writer = writer
    this.#hash = parts.hashing.start()
    this.#intake = new Intake({
      hashing: parts.hashing,
      hash: this.#hash,
      store: (bytes) => this.#storing(() => this.#store(bytes)),
      from: 0,
    })
  }

  /** Key of the blob and of its reservation. */
  get key(): BlobKey {
    return this.#target.key
  }

  /** Takes the bytes, hashed on the way, up to `most`. Throws Refusal when a limit is passed or the store fails. */
  async write(chunk: Uint8Array, most = Number.POSITIVE_INFINITY): Promise<void> {
    this.#received += chunk.byteLength
    if (this.#received > most) throw new Refusal('INVALID_REQUEST', 'The file is longer than was declared')
    assertFileSize(this.#received, this.#parts.maxFileSize)
    await this.#reservation.cover(this.#received)
    this.#head.take(chunk)
    await this.#intake.write(chunk)
  }

  /**
   * Returns once bytes and row would survive a power cut, what `alongside` did in the row's transaction, and what `note`
   * says.
   */
  async finish(
    rawName: string,
    declaredType: string | null,
    { alongside = null, link = null, note = null }: FinishOptions = {},
  ): Promise<StoredFile> {
    const recorded = this.#reservation.recorded()
    const digest = await this.#intake.end()
    await this.#storing(() => this.#complete(recorded))
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
    await this.#intake.rest()
    this.#hash.drop()
    try {
      // Once the row may be there, the bytes may be somebody's: the reservation asks the database when it is released.
      if (!this.#isComplete) await this.#writer.abort()
    } finally {
      await this.#reservation.release()
    }
  }

  async #store(bytes: Uint8Array): Promise<void> {
    await this.#writer.write(bytes)
    this.#reservation.wrote(bytes.byteLength)
  }

  /** What has another length than was sent to it is no file, whatever the store says. */
  async #complete(recorded: Promise<void>): Promise<void> {
    const stored = await this.#writer.complete(recorded)
    if (stored === this.#received) return
    throw new StoreFailure('broken', { cause: new BlobDamaged(this.#target.key, stored, this.#received) })
  }

  async #storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#parts.health.refusalFor(error)
    }
  }
}
