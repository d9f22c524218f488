import type { BlobId } from '../../domain/ids.ts'
import { readDamage } from '../integrity/reading.ts'
import { type RepairParts, repairFromCopy } from '../integrity/repair-from-copy.ts'
import { type MirroredContent, mirroredContent } from './mirror.rows.ts'
import type { Mirror } from './mirror-store.ts'
import { confirmedCopy, forgetDamaged } from './reading-copies.ts'

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
