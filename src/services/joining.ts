import { assertSize, type BlobStore } from '../blobs/blob-store.ts'
import { blobExists, discardBlob } from '../database/blobs.ts'
import { lockAccount } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { changeKey, partsOf } from '../database/upload-parts.ts'
import type { UploadRow } from '../database/uploads.ts'
import type { Clock } from '../domain/clock.ts'
import type { BlobKey } from '../domain/ids.ts'
import { makeBlobKey, type Random } from '../domain/random.ts'
import { blobBytes } from './blob-bytes.ts'
import { GARBAGE_GRACE } from './cleaning.ts'
import type { ContentHashing } from './content-hash.ts'
import type { Digest } from './content-hash-messages.ts'
import { Intake } from './intake.ts'
import { interrupted } from './room.ts'
import type { Sitting } from './sittings.ts'

/** Makes one blob of several. */
export interface Joining {
  /**
   * Writes the parts of a final upload one after another to a blob of its own, which is complete then: as long as the
   * final upload says, and with the digest of exactly these bytes. Throws BlobMissing or BlobDamaged when a part has not
   * all of its bytes any more. `wrote` is told of the bytes that the store has taken, beside those of the parts.
   */
  join(
    final: FinalUpload,
    sitting: Sitting,
    wrote: (bytes: number) => void,
  ): Promise<{ key: BlobKey; digest: Digest }>
  /** Leaves the joined bytes as garbage, unless they are a file's by now. */
  discard(final: FinalUpload, key: BlobKey): Promise<void>
}

export type FinalUpload = UploadRow & { readonly size: number }

export function createJoining(parts: {
  db: Db
  blobs: BlobStore
  hashing: ContentHashing
  clock: Clock
  random: Random
}): Joining {
  const { db, blobs, hashing, clock, random } = parts

  /** A blob that nobody has begun: an earlier try may have been at the one before, and may still be. */
  async function freshKey(final: FinalUpload, sitting: Sitting): Promise<BlobKey> {
    const key = makeBlobKey(random)
    await inTransaction(db, async (trx) => {
      await lockAccount(trx, final.account_id)
      if (!(await changeKey(trx, final.id, sitting.number, key))) throw interrupted()
      await discardBlob(trx, final.key, clock.now() + GARBAGE_GRACE)
    })
    return key
  }

  /** Nobody ends a part that is being joined, so all of them are there. */
  async function piecesOf(final: FinalUpload): Promise<UploadRow[]> {
    const pieces = await partsOf(db, final.id)
    const length = pieces.reduce((sum, piece) => sum + piece.received, 0)
    if (pieces.some(({ ended_at }) => ended_at !== null)) throw interrupted()
    assertSize(final.key, length, final.size)
    return pieces
  }

  return {
    async discard(final, key) {
      await inTransaction(db, async (trx) => {
        await lockAccount(trx, final.account_id)
        if (!(await blobExists(trx, key))) await discardBlob(trx, key, clock.now() + GARBAGE_GRACE)
      })
    },

    async join(final, sitting, wrote) {
      const pieces = await piecesOf(final)
      const key = final.sitting === 0 ? final.key : await freshKey(final, sitting)
      const writer = await blobs.create(key)
      const hash = hashing.start()
      const store = async (bytes: Uint8Array) => {
        await writer.write(bytes)
        wrote(bytes.byteLength)
      }
      const intake = new Intake({ hashing, hash, store, from: 0 })
      try {
        for (const part of pieces) {
          for await (const chunk of blobBytes(blobs, part.key, part.received)) {
            sitting.assertOurs()
            await intake.write(chunk)
          }
        }
        const digest = await intake.end()
        assertSize(key, await writer.complete(), final.size)
        return { key, digest }
      } catch (error) {
        await intake.rest()
        hash.drop()
        await writer.abort()
        throw error
      }
    },
  }
}
