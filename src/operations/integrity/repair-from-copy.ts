import { type BlobStore, StoreFailure } from '../../blobs/blob-store.ts'
import { discardBlob, GARBAGE_GRACE, keepGarbage } from '../../core/blobs.rows.ts'
import { replaceCopy, type StoredCopy } from '../../core/damage.rows.ts'
import { assertOwnStore } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import type { Damage } from '../../database/schema.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY } from '../../domain/clock.ts'
import type { BlobKey, Sha256 } from '../../domain/ids.ts'
import { makeBlobKey, type Random } from '../../domain/random.ts'
import type { Throttle } from './throttle.ts'
import { copyVerified } from './verified-copy.ts'

export interface RepairParts {
  readonly db: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly random: Random
  /** Bytes. */
  readonly minFree: number
  readonly throttle?: Throttle
}

export interface SecondCopy {
  readonly from: Pick<BlobStore, 'read'>
  readonly fromKey: BlobKey
}

/**
 * Replaces damaged bytes by verified ones, as an upload of this content does: durable before the row points to them; a
 * kill leaves nothing behind. `gone`: the content was deleted, or uploaded again meanwhile. Otherwise the damage of the
 * second copy. Throws WrongStore, StoreFailure for a full disk, and what the stores throw.
 */
export async function repairFromCopy(
  second: SecondCopy,
  content: StoredCopy & { readonly size: number; readonly sha256: Sha256 },
  { db, blobs, clock, random, minFree, throttle }: RepairParts,
): Promise<'repaired' | 'gone' | Damage> {
  // A store that is not mounted has lost nothing, and must not be filled.
  await assertOwnStore(db, blobs)
  const free = await blobs.freeSpace()
  if (free !== null && free - content.size < minFree) {
    const cause = new Error('there is no room to bring a content back')
    throw new StoreFailure('full', { cause })
  }
  const key = makeBlobKey(random)
  await discardBlob(db, key, clock.now() + DAY)
  const damage = await copyVerified({ ...content, ...second, to: blobs, toKey: key }, throttle)
  if (damage !== null) return damage
  const isReplaced = await inTransaction(db, async (trx) => {
    const now = clock.now()
    // After a day the garbage queue may have dropped the key.
    if (!(await keepGarbage(trx, key))) return false
    if (await replaceCopy(trx, content, key, now, now + GARBAGE_GRACE)) return true
    await discardBlob(trx, key, now)
    return false
  })
  return isReplaced ? 'repaired' : 'gone'
}
