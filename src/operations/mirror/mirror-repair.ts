import type { Config } from '../../config.ts'
import type { RepairBlob } from '../integrity/check.ts'
import { isOutage } from './mirror-copier.ts'
import { type Mirror, openMirror } from './mirror-store.ts'
import { repairFromMirror } from './repair-from-mirror.ts'

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
