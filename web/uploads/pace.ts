import { createSpeed } from './speed.ts'
import type { Pace } from './upload-item.ts'

/** After so long without a byte a stall is called a stall. */
const STALL = 6000

/** Follows one file, or all of them together. */
export interface Pacer {
  tick(sent: number, size: number, now: number): Pace
}

export function createPacer(sent: number, now: number): Pacer {
  const speed = createSpeed(now, sent)
  return {
    tick(bytes, size, at) {
      speed.sample(bytes, at)
      if (speed.quiet(at) > STALL) return { speed: 0, left: null, isStalled: true }
      const figure = speed.current()
      const left = figure === null || figure < 1 ? null : (size - bytes) / figure
      return { speed: figure, left, isStalled: false }
    },
  }
}
