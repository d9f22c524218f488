import { assertSize, type BlobStore } from '../../blobs/blob-store.ts'
import { blobExists, discardBlob, GARBAGE_GRACE } from '../../core/blobs.rows.ts'
import type { Database } from '../../database/database.ts'
import { lockAccount } from '../../database/differences.ts'
import { inTransaction } from '../../database/transactions.ts'
import type { Clock } from '../../domain/clock.ts'
import type { BlobKey } from '../../domain/ids.ts'
import { makeBlobKey, type Random } from '../../domain/random.ts'
import { blobBytes } from '../blob-bytes.ts'
import type { ContentHashing } from '../hashing/content-hash.ts'
import type { Digest } from '../hashing/content-hash-messages.ts'
import { HashingWriter } from '../hashing-writer.ts'
import { uploadInterrupted } from '../refusals.ts'
import type { UploadRow } from '../uploads.rows.ts'
import type { AppendLease } from './append-leases.ts'
import { changeKey, partsOf } from './upload-parts.rows.ts'

export type FinalUpload = UploadRow & { readonly size: number }

export interface ConcatenationParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly hashing: ContentHashing
  readonly clock: Clock
  readonly random: Random
}

export class Concatenation {
  readonly #parts: ConcatenationParts

  constructor(parts: ConcatenationParts) {
    this.#parts = parts
  }

  /** Throws BlobMissing or BlobDamaged when a part has lost bytes. `wrote` gets the bytes stored besides the parts'. */
  async concatenate(
    final: FinalUpload,
    lease: AppendLease,
    wrote: (bytes: number) => void,
  ): Promise<{ key: BlobKey; digest: Digest }> {
    const { blobs, hashing } = this.#parts
    const pieces = await this.#piecesOf(final)
    const key = final.sitting === 0 ? final.key : await this.#freshKey(final, lease)
    const writer = await blobs.create(key, final.size)
    const hash = hashing.start()
    const store = async (bytes: Uint8Array) => {
      await writer.write(bytes)
      wrote(bytes.byteLength)
    }
    const hashingWriter = new HashingWriter({ hashing, hash, store, from: 0 })
    try {
      for (const part of pieces) {
        for await (const chunk of blobBytes(blobs, part.key, part.received)) {
          lease.assertHeld()
          await hashingWriter.write(chunk)
        }
      }
      const digest = await hashingWriter.end()
      assertSize(key, await writer.complete(), final.size)
      return { key, digest }
    } catch (error) {
      await hashingWriter.rest()
      hash.drop()
      await writer.abort()
      throw error
    }
  }

  /** Leaves the bytes as garbage, unless they are a file's by now. */
  async discard(final: FinalUpload, key: BlobKey): Promise<void> {
    const { db, clock } = this.#parts
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      if (!(await blobExists(trx, key))) await discardBlob(trx, key, clock.now() + GARBAGE_GRACE)
    })
  }

  /** A new key: an earlier try may still be writing under the previous one. */
  async #freshKey(final: FinalUpload, lease: AppendLease): Promise<BlobKey> {
    const { db, clock, random } = this.#parts
    const key = makeBlobKey(random)
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      if (!(await changeKey(trx, final.id, lease.number, key))) throw uploadInterrupted()
      await discardBlob(trx, final.key, clock.now() + GARBAGE_GRACE)
    })
    return key
  }

  /** In order. Parts being concatenated cannot end, so all exist. */
  async #piecesOf(final: FinalUpload): Promise<UploadRow[]> {
    const pieces = await partsOf(this.#parts.db, final.id)
    const length = pieces.reduce((sum, piece) => sum + piece.received, 0)
    if (pieces.some(({ ended_at }) => ended_at !== null)) throw uploadInterrupted()
    assertSize(final.key, length, final.size)
    return pieces
  }
}
