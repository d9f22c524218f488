import type { BlobStore } from '../../blobs/blob-store.ts'
import { generationsOf, isBehind } from '../../core/store/generations.ts'
import type { Database } from '../../database/database.ts'
import { inTransaction } from '../../database/transactions.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../../domain/clock.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import {
  dueKeys,
  forgetQueued,
  type MirroredContent,
  mirroredAfter,
  oldestUnmirrored,
  postponeKeys,
  setTimes,
} from './mirror.rows.ts'
import { isOutage, MirrorCopier, type MirrorCopyParts } from './mirror-copier.ts'
import type { Mirror } from './mirror-store.ts'
import { type RepairResult, repairFromMirror } from './repair-from-mirror.ts'

const BATCH = 50
/** A run ends its repairs after so many failures that each concern one content alone. */
const MOST_FAILURES = 10
const LOOKS_EVERY = MINUTE

export interface MirrorSync extends Omit<MirrorCopyParts, 'minFree'>, MirrorClearing {
  /** Bytes, on both disks. */
  readonly minFree: number
  readonly onRepaired: (key: BlobKey, result: RepairResult) => void
  readonly onCopied: (contents: number) => void
}

export async function needsMirrorSync(db: Database, clock: Pick<Clock, 'now'>): Promise<boolean> {
  await setTimes(db, clock.now() + DAY)
  if ((await oldestUnmirrored(db)) !== null) return true
  if ((await mirroredAfter(db, { after: null, onlyDamaged: true }, 1)).length > 0) return true
  return (await dueKeys(db, clock.now(), 1)).length > 0
}

/** Repairs, copies, removes; once. Throws the signal's reason, MirrorUnusable, and what the stores throw. */
export async function syncMirror(sync: MirrorSync): Promise<void> {
  const { clock, onCopied } = sync
  const copier = new MirrorCopier(sync)
  let looked = Number.NEGATIVE_INFINITY
  for (;;) {
    if (clock.timers.monotonic() - looked >= LOOKS_EVERY) {
      await repairAll(sync)
      looked = clock.timers.monotonic()
    }
    const copied = await copier.copySome()
    if (copied === null) break
    onCopied(copied)
  }
  await clearMirror(sync)
}

async function repairAll(sync: MirrorSync): Promise<void> {
  const { db, signal, onRepaired, onFailure } = sync
  let [after, failures]: [BlobId | null, number] = [null, 0]
  for (;;) {
    const damaged: MirroredContent[] = await mirroredAfter(db, { after, onlyDamaged: true }, BATCH)
    if (damaged.length === 0) return
    for (const { id, key } of damaged) {
      signal.throwIfAborted()
      try {
        onRepaired(key, await repairFromMirror(sync, id))
      } catch (error) {
        if (signal.aborted) throw error
        onFailure(error)
        if (isOutage(error) || ++failures >= MOST_FAILURES) return
      }
      after = id
    }
  }
}

const CLEARED_AT_ONCE = 500
const TRIED_AGAIN_AFTER = HOUR

interface MirrorClearing {
  readonly db: Database
  readonly blobs: BlobStore
  readonly mirror: Mirror
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onFailure: (error: unknown) => void
}

/** Removes copies of contents deleted a day or more ago; none while the database is older than its store. */
async function clearMirror(clearing: MirrorClearing): Promise<void> {
  const { db, blobs, mirror, clock, signal, onFailure } = clearing
  await setTimes(db, clock.now() + DAY)
  for (;;) {
    signal.throwIfAborted()
    const keys = await dueKeys(db, clock.now(), CLEARED_AT_ONCE)
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
