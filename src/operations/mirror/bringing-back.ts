/** Brings damaged contents back from the mirror. */
import { type BlobStore, StoreFailure } from '../../blobs/blob-store.ts'
import { discardBlob, keepGarbage } from '../../core/blobs.rows.ts'
import { replaceCopy } from '../../core/damage.rows.ts'
import { assertOwnStore } from '../../core/store/pairing.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY, MINUTE } from '../../domain/clock.ts'
import type { BlobId } from '../../domain/ids.ts'
import { makeBlobKey, type Random } from '../../domain/random.ts'
import type { Pace } from '../integrity/pace.ts'
import { readDamage } from '../integrity/reading.ts'
import { copyVerified } from '../integrity/verified-copy.ts'
import { forgetCopy, type MirroredContent, mirroredContent } from './mirror.rows.ts'
import type { Mirror } from './mirror-store.ts'
import { confirmedCopy } from './reading-copies.ts'

/** Downloads that are under way read on. */
const GARBAGE_GRACE = MINUTE

export interface BringingBack {
  readonly db: Database
  readonly blobs: BlobStore
  readonly mirror: Mirror
  readonly clock: Clock
  readonly random: Random
  /** Bytes that stay free on the disk of the store. */
  readonly minFree: number
  readonly pace: Pace
}

/**
 * `gone`: the content was deleted, or uploaded again meanwhile. `none`: the mirror has no copy. `damaged`: the copy is damaged
 * too, and is forgotten.
 */
export type BroughtBack = 'back' | 'gone' | 'none' | 'damaged'

/**
 * Puts verified bytes from the mirror in the place of damaged ones, as an upload of the same content does: durable before the
 * row points to them, and nothing is left of what a kill interrupts. Throws WrongStore, StoreFailure for a full disk, and what
 * the stores throw.
 */
export async function bringBack(parts: BringingBack, id: BlobId): Promise<BroughtBack> {
  const { db, blobs, mirror, clock, random, pace } = parts
  const content = await mirroredContent(db, id)
  if (content === undefined) return 'none'
  // A store that is not mounted has lost nothing, and must not be filled.
  await assertOwnStore(db, blobs)
  await assertRoom(parts, content)
  const key = makeBlobKey(random)
  await discardBlob(db, key, clock.now() + DAY)
  const copy = { ...content, from: mirror.store, fromKey: content.mirroredKey, to: blobs, toKey: key }
  if ((await copyVerified(copy, pace)) !== null) {
    return (await isLost(parts, content)) ? 'damaged' : 'none'
  }
  const isReplaced = await inTransaction(db, async (trx) => {
    const now = clock.now()
    // The queue may have been cleared of it, after a day.
    if (!(await keepGarbage(trx, key))) return false
    if (await replaceCopy(trx, content, key, now, now + GARBAGE_GRACE)) return true
    await discardBlob(trx, key, now)
    return false
  })
  return isReplaced ? 'back' : 'gone'
}

async function assertRoom({ blobs, minFree }: BringingBack, { size }: MirroredContent): Promise<void> {
  const free = await blobs.freeSpace()
  if (free === null || free - size >= minFree) return
  throw new StoreFailure('full', {
    cause: new Error('there is no room to bring a content back from the mirror'),
  })
}

/** Looks two times more before it forgets a copy, which is removed later. */
async function isLost({ db, mirror, clock, pace }: BringingBack, content: MirroredContent): Promise<boolean> {
  const { id, mirroredKey } = content
  const look = () => readDamage(mirror.store, { ...content, key: mirroredKey }, pace)
  if ((await confirmedCopy({ db, mirror }, id, look)) === null) return false
  await mirror.assertOwn()
  await forgetCopy(db, { id, key: mirroredKey }, clock.now() + DAY)
  return true
}
