/** Brings the mirror up to date: repairs damaged contents from it, copies what it lacks, removes what is gone. */
import type { Database } from '../../database/database.ts'
import { type Clock, DAY, MINUTE } from '../../domain/clock.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import { clearMirror, type MirrorClearing } from './clearing.ts'
import { dueKeys, type MirroredContent, mirroredAfter, oldestUnmirrored, setTimes } from './mirror.rows.ts'
import { isOutage, MirrorCopier, type MirrorCopyParts } from './mirror-copier.ts'
import { type RepairResult, repairFromMirror } from './repair-from-mirror.ts'

const BATCH = 50
/** Contents that cannot be brought back, each for a reason of its own, after which the others wait. */
const MOST_FAILURES = 10
/** How often damaged contents are looked for while others are copied. */
const LOOKS_EVERY = MINUTE

export interface MirrorSync extends Omit<MirrorCopyParts, 'minFree'>, MirrorClearing {
  /** Bytes that stay free on the disks of both stores. */
  readonly minFree: number
  readonly onRepaired: (key: BlobKey, result: RepairResult) => void
  readonly onCopied: (contents: number) => void
}

/** Whether the mirror is out of date, as far as the database knows. */
export async function needsMirrorSync(db: Database, clock: Pick<Clock, 'now'>): Promise<boolean> {
  await setTimes(db, clock.now() + DAY)
  if ((await oldestUnmirrored(db)) !== null) return true
  if ((await mirroredAfter(db, { after: null, onlyDamaged: true }, 1)).length > 0) return true
  return (await dueKeys(db, clock.now(), 1)).length > 0
}

/** Does all of it once. Throws the reason of the signal, MirrorUnusable, and what the stores throw. */
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

/** What cannot be brought back is reported, and tried again the next time. */
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
