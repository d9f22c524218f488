import { SECOND } from '../../src/domain/clock.ts'
import { createSpeed } from './speed.ts'
import type { Pace } from './upload-item.ts'

/** After so long without a byte a stall is called a stall. */
const STALL = 6 * SECOND
/** After so long without a byte an estimate would only tell of the pause. */
const PAUSE = 2 * SECOND

/** Follows one file, or all of them together. */
export interface Pacer {
  /** `sent`: bytes that have gone off since some time; `left`: those that are still to go. */
  tick(sent: number, left: number, now: number): Pace
}

export function createPacer(sent: number, now: number): Pacer {
  const speed = createSpeed(now, sent)
  return {
    tick(bytes, left, at) {
      speed.sample(bytes, at)
      const quiet = speed.quiet(at)
      if (quiet > STALL) return { speed: 0, left: null, isStalled: true }
      const figure = quiet > PAUSE ? null : speed.current()
      return {
        speed: figure,
        left: figure === null || figure < 1 ? null : left / figure,
        isStalled: false,
      }
    },
  }
}
