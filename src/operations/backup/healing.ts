/** Brings damaged contents back from a backup. */
import type { BlobStore } from '../../blobs/blob-store.ts'
import { replaceCopy } from '../../core/damage.rows.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { MINUTE } from '../../domain/clock.ts'
import { makeBlobKey } from '../../domain/random.ts'
import type { Wrong } from '../integrity/contents.ts'
import { readDamage, sizeDamage } from '../integrity/reading.ts'
import { copyVerified } from '../integrity/verified-copy.ts'
import { openToRead, type TargetOptions } from './target.ts'

/** Downloads that are under way read on. */
const GARBAGE_GRACE = MINUTE

export interface Healing {
  /**
   * Puts the backup's copy in the place of the damaged one, as an upload of the same content does. False where the backup
   * has none, or one that is damaged too.
   */
  heal(parts: { readonly db: Database; readonly blobs: BlobStore }, wrong: Wrong): Promise<boolean>
  close(): Promise<void>
}

/** Throws Refusal PRECONDITION_FAILED where there is no backup. */
export async function openHealing(options: TargetOptions): Promise<Healing> {
  const { clock, random } = options
  const { store, catalog } = await openToRead(options)
  return {
    async heal({ db, blobs }, { content }) {
      if ((await sizeDamage(store, content)) !== null) return false
      if ((await readDamage(store, content)) !== null) return false
      const key = makeBlobKey(random)
      const copy = { from: store, fromKey: content.key, to: blobs, toKey: key }
      if ((await copyVerified({ ...content, ...copy })) !== null) return false
      const now = clock.now()
      const isReplaced = await inTransaction(db, (trx) =>
        replaceCopy(trx, content, key, now, now + GARBAGE_GRACE),
      )
      // Somebody has uploaded it meanwhile, or deleted it.
      if (!isReplaced) await blobs.remove(key)
      return isReplaced
    },
    close: () => catalog.release(),
  }
}
