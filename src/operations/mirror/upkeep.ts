/** What is to be done for the mirror: bring damaged contents back, copy what it lacks, remove what is gone. */
import type { Database } from '../../database/database.ts'
import { type Clock, DAY, MINUTE } from '../../domain/clock.ts'
import type { BlobId, BlobKey } from '../../domain/ids.ts'
import { type BroughtBack, bringBack } from './bringing-back.ts'
import { type Clearing, clearMirror } from './clearing.ts'
import { dueKeys, type MirroredContent, mirroredAfter, oldestLacking, setTimes } from './mirror.rows.ts'
import { isOutage, MirrorCopier, type MirrorCopyParts } from './mirror-copier.ts'

const BATCH = 50
/** Contents that cannot be brought back, each for a reason of its own, after which the others wait. */
const MOST_FAILURES = 10
/** How often damaged contents are looked for while others are copied. */
const LOOKS_EVERY = MINUTE

export interface Upkeep extends Omit<MirrorCopyParts, 'minFree'>, Clearing {
  /** Bytes that stay free on the disks of both stores. */
  readonly minFree: number
  readonly onBroughtBack: (key: BlobKey, result: BroughtBack) => void
  readonly onCopied: (contents: number) => void
}

/** Whether there is something to do, as far as the database knows. */
export async function isMirrorToDo(db: Database, clock: Pick<Clock, 'now'>): Promise<boolean> {
  await setTimes(db, clock.now() + DAY)
  if ((await oldestLacking(db)) !== null) return true
  if ((await mirroredAfter(db, { after: null, onlyDamaged: true }, 1)).length > 0) return true
  return (await dueKeys(db, clock.now(), 1)).length > 0
}

/** Does all of it once. Throws the reason of the signal, MirrorUnusable, and what the stores throw. */
export async function keepMirror(upkeep: Upkeep): Promise<void> {
  const { clock, onCopied } = upkeep
  const copier = new MirrorCopier(upkeep)
  let looked = Number.NEGATIVE_INFINITY
  for (;;) {
    if (clock.timers.monotonic() - looked >= LOOKS_EVERY) {
      await bringAllBack(upkeep)
      looked = clock.timers.monotonic()
    }
    const copied = await copier.copySome()
    if (copied === null) break
    onCopied(copied)
  }
  await clearMirror(upkeep)
}

/** What cannot be brought back is reported, and tried again the next time. */
async function bringAllBack(upkeep: Upkeep): Promise<void> {
  const { db, signal, onBroughtBack, onFailure } = upkeep
  let [after, failures]: [BlobId | null, number] = [null, 0]
  for (;;) {
    const damaged: MirroredContent[] = await mirroredAfter(db, { after, onlyDamaged: true }, BATCH)
    if (damaged.length === 0) return
    for (const { id, key } of damaged) {
      signal.throwIfAborted()
      try {
        onBroughtBack(key, await bringBack(upkeep, id))
      } catch (error) {
        if (signal.aborted) throw error
        onFailure(error)
        if (isOutage(error) || ++failures >= MOST_FAILURES) return
      }
      after = id
    }
  }
}
