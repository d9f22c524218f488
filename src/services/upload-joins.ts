import { lockAccount } from '../database/differences.ts'
import type { Db } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { beginProcessing, claimPart } from '../database/upload-parts.ts'
import { type UploadRow, uploadById } from '../database/uploads.ts'
import { Refusal } from '../domain/errors.ts'
import { dropUnclaimed } from './upload-endings.ts'

/** Final uploads and the partial ones that they are made of. */
export interface UploadJoins {
  /** What they come to together. Throws Refusal INVALID_REQUEST or OFFSET_CONFLICT for what cannot be joined. */
  sizeOf(parts: readonly UploadRow[]): number
  /** Makes the parts, with their room, those of the final upload, which is processing then. Each can be used once. */
  claim(final: UploadRow, parts: readonly UploadRow[], size: number): Promise<UploadRow>
}

export function createUploadJoins(db: Db): UploadJoins {
  return {
    sizeOf(parts) {
      if (parts.length === 0)
        throw new Refusal('INVALID_REQUEST', 'A final upload is made of at least one part')
      if (new Set(parts.map(({ id }) => id)).size < parts.length) {
        throw new Refusal('INVALID_REQUEST', 'A part may be named only once')
      }
      for (const part of parts) {
        if (part.kind !== 'partial')
          throw new Refusal('INVALID_REQUEST', 'Only partial uploads can be joined')
        if (part.state !== 'completed' || part.ended_at !== null || part.joined_into !== null)
          throw notWhole()
      }
      return parts.reduce((sum, part) => sum + part.received, 0)
    },

    async claim(final, parts, size) {
      try {
        return await inTransaction(db, async (trx) => {
          await lockAccount(trx, final.account_id)
          for (const [position, part] of parts.entries()) {
            if (!(await claimPart(trx, part, final, position))) throw notWhole()
          }
          await beginProcessing(trx, final.id, size)
          return (await uploadById(trx, final.id)) ?? final
        })
      } catch (error) {
        // A claim whose answer was lost may have gone through: then the upload goes on, whoever has the address of it.
        await dropUnclaimed(db, final)
        throw error
      }
    },
  }
}

function notWhole(): Refusal {
  return new Refusal('OFFSET_CONFLICT', 'A part is not complete yet, or belongs to another upload already')
}
