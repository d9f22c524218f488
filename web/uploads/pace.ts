import { SECOND } from '../../src/domain/clock.ts'
import { createSpeed } from './speed.ts'
import type { Pace } from './upload-item.ts'

/** Without bytes for so long, an upload counts as stalled. */
const STALL = 6 * SECOND
/** Without bytes for so long, an estimate would only reflect the pause. */
const PAUSE = 2 * SECOND

export interface Pacer {
  /** `sent`: bytes sent since some time; `left`: bytes still to send. */
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
