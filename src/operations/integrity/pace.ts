import { type Clock, SECOND } from '../../domain/clock.ts'

/** Waits until so many further bytes may be read. */
export type Pace = (bytes: number) => Promise<void>

export const unpaced: Pace = async () => {}

interface Timer extends Pick<Clock, 'monotonic'> {
  /** Bun's own when left out. */
  readonly sleep?: (milliseconds: number) => Promise<void>
}

/** At most so many bytes a second on average, for all that read by it together. What was not used is not saved up. */
export function paceOf(bytesPerSecond: number, { monotonic, sleep = Bun.sleep }: Timer): Pace {
  let free = monotonic()
  return async (bytes) => {
    const now = monotonic()
    free = Math.max(free, now) + (bytes * SECOND) / bytesPerSecond
    await sleep(free - now)
  }
}
