import type { Config } from '../../config.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Random } from '../../domain/random.ts'
import type { CheckWork } from '../integrity/check.ts'
import { unpaced } from '../integrity/pace.ts'
import { bringBack } from './bringing-back.ts'
import { isOutage } from './copying.ts'
import { type Mirror, openMirror } from './mirror-store.ts'

/**
 * Brings what a check finds damaged back from the mirror; undefined where there is none. A check goes on without a
 * mirror that cannot be used.
 */
export function mirrorHealing(parts: {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  readonly onFailure: (error: unknown) => void
}): CheckWork['heal'] {
  const { config, clock, random, onFailure } = parts
  if (config.mirror === null) return undefined
  const { place } = config.mirror
  let mirror: Mirror | null = null
  let isUnusable = false
  return async ({ db, blobs }, { content }) => {
    if (isUnusable) return false
    try {
      mirror ??= await openMirror({ db, clock, random, place })
      const minFree = config.minFreeSpace
      const parts = { db, blobs, mirror, clock, random, minFree, pace: unpaced }
      return (await bringBack(parts, content.id)) === 'back'
    } catch (error) {
      isUnusable = isOutage(error)
      onFailure(error)
      return false
    }
  }
}
