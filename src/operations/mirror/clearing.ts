import type { BlobStore } from '../../blobs/blob-store.ts'
import { generationsOf, isBehind } from '../../core/store/generations.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY, HOUR } from '../../domain/clock.ts'
import { dueKeys, forgetQueued, postponeKeys, setTimes } from './mirror.rows.ts'
import type { Mirror } from './mirror-store.ts'

const BATCH = 500
const TRIED_AGAIN_AFTER = HOUR

export interface MirrorClearing {
  readonly db: Database
  readonly blobs: BlobStore
  readonly mirror: Mirror
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onFailure: (error: unknown) => void
}

/** Removes copies of contents deleted a day or more ago; none while the database is older than its store. */
export async function clearMirror(clearing: MirrorClearing): Promise<void> {
  const { db, blobs, mirror, clock, signal, onFailure } = clearing
  await setTimes(db, clock.now() + DAY)
  for (;;) {
    signal.throwIfAborted()
    const keys = await dueKeys(db, clock.now(), BATCH)
    if (keys.length === 0 || isBehind(await generationsOf(db, blobs))) return
    await mirror.assertOwn()
    const removed = await mirror.store.removeAll(keys, onFailure)
    if (removed.length > 0) {
      const number = await mirror.advance()
      await inTransaction(db, async (trx) => {
        await mirror.remember(trx, number)
        await forgetQueued(trx, removed)
      })
    }
    const gone = new Set(removed)
    const stuck = keys.filter((key) => !gone.has(key))
    await postponeKeys(db, stuck, clock.now() + TRIED_AGAIN_AFTER)
  }
}
