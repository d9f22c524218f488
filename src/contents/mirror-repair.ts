import type { Config } from '../config.ts'
import type { BlobId } from '../domain/ids.ts'
import type { RepairBlob } from './check.ts'
import { type RepairParts, repairFromCopy } from './damage.ts'
import { type MirroredContent, mirroredContent } from './mirror.rows.ts'
import { type Mirror, openMirror } from './mirror-place.ts'
import { confirmedCopy, forgetDamaged } from './mirror-reading.ts'
import { readDamage } from './reading.ts'
import { isOutage } from './walk.ts'

/** Undefined without a mirror. The check goes on without a mirror that cannot be used. */
export function mirrorRepair(config: Config, onFailure: (error: unknown) => void): RepairBlob | undefined {
  if (config.mirror === null) return undefined
  const { place } = config.mirror
  let mirror: Mirror | null = null
  let isUnusable = false
  return async (parts, { content }) => {
    if (isUnusable) return false
    try {
      mirror ??= await openMirror({
        ...parts,
        place,
        onFault: ({ copy, reason }) => onFailure(new Error(`of the mark of the mirror, "${copy}" ${reason}`)),
      })
      return (await repairFromMirror({ ...parts, mirror }, content.id)) === 'repaired'
    } catch (error) {
      isUnusable = isOutage(error)
      onFailure(error)
      return false
    }
  }
}

export interface MirrorRepairParts extends RepairParts {
  readonly mirror: Mirror
}

/** `gone`: deleted, or uploaded again meanwhile. `damaged`: the copy is damaged too, and is forgotten. */
export type RepairResult = 'repaired' | 'gone' | 'none' | 'damaged'

/** Throws as `repairFromCopy` does. */
export async function repairFromMirror(parts: MirrorRepairParts, id: BlobId): Promise<RepairResult> {
  const content = await mirroredContent(parts.db, id)
  if (content === undefined) return 'none'
  const copy = { from: parts.mirror.store, fromKey: content.mirroredKey }
  const result = await repairFromCopy(copy, content, parts)
  if (result === 'repaired' || result === 'gone') return result
  return (await isLost(parts, content)) ? 'damaged' : 'none'
}

/** Looks twice more before it forgets a copy, which is removed later. */
async function isLost(
  { db, mirror, clock, throttle }: MirrorRepairParts,
  content: MirroredContent,
): Promise<boolean> {
  const { id, mirroredKey: key } = content
  const look = () => readDamage(mirror.store, { ...content, key }, throttle)
  if ((await confirmedCopy({ db, mirror }, id, look)) === null) return false
  await forgetDamaged({ db, mirror, clock }, { id, key })
  return true
}
