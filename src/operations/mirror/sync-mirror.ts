import type { Database } from '../../database/database.ts'
import { type Clock, DAY, MINUTE } from '../../domain/clock.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import { clearMirror, type MirrorClearing } from './clearing.ts'
import { dueKeys, type MirroredContent, mirroredAfter, oldestUnmirrored, setTimes } from './mirror.rows.ts'
import { isOutage, MirrorCopier, type MirrorCopyParts } from './mirror-copier.ts'
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
