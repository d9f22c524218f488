import type { Config } from '../config.ts'
import type { BlobId } from '../domain/ids.ts'
import { type RepairBlob, type RepairParts, repairFromCopy } from './damage.ts'
import { mirroredContent } from './mirror.rows.ts'
import { type Mirror, openMirror } from './mirror-place.ts'
import { checkCopy } from './mirror-reading.ts'
import { readDamage } from './reading.ts'
import { isOutage } from './walk.ts'

/** `gone`: deleted, or uploaded again meanwhile. `damaged`: the copy is damaged too, and is forgotten. */
export type RepairResult = 'repaired' | 'gone' | 'none' | 'damaged'

/** Looks twice more before it forgets a copy, which is removed later. Throws as `repairFromCopy` does. */
export async function repairFromMirror(
  parts: RepairParts & { readonly mirror: Mirror },
  id: BlobId,
): Promise<RepairResult> {
  const { db, mirror, throttle } = parts
  const content = await mirroredContent(db, id)
  if (content === undefined) return 'none'
  const from = mirror.store
  const result = await repairFromCopy({ from, fromKey: content.mirroredKey }, content, parts)
  if (result === 'repaired' || result === 'gone') return result
  const damage = await checkCopy(parts, content, (copy) => readDamage(from, copy, { throttle }))
  return damage === null ? 'none' : 'damaged'
}

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
