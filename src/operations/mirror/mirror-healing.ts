import type { Config } from '../../config.ts'
import type { Heal } from '../integrity/check.ts'
import { bringBack } from './bringing-back.ts'
import { isOutage } from './mirror-copier.ts'
import { type Mirror, openMirror } from './mirror-store.ts'

/**
 * Brings what a check finds damaged back from the mirror; undefined where there is none. A check goes on without a
 * mirror that cannot be used.
 */
export function mirrorHealing(config: Config, onFailure: (error: unknown) => void): Heal | undefined {
  if (config.mirror === null) return undefined
  const { place } = config.mirror
  let mirror: Mirror | null = null
  let isUnusable = false
  return async (parts, { content }) => {
    if (isUnusable) return false
    try {
      mirror ??= await openMirror({ ...parts, place })
      return (await bringBack({ ...parts, mirror }, content.id)) === 'back'
    } catch (error) {
      isUnusable = isOutage(error)
      onFailure(error)
      return false
    }
  }
}
