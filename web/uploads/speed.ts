/** Smoothed, so that the figure is legible. */
export interface Speed {
  sample(bytes: number, now: number): void
  /** Bytes a second; null while it would be a guess. */
  current(): number | null
  quiet(now: number): number
}

/** Milliseconds. */
const HALF_LIFE = 3000
const FIRST_FIGURE = 1500

export function createSpeed(start: number, bytes: number): Speed {
  let last = { at: start, bytes }
  let movedAt = start
  let sum = 0
  /** Total weight in `sum`: near 0 at first, so that the first sample does not dominate. */
  let weight = 0

  return {
    sample(sent, now) {
      const elapsed = now - last.at
      if (sent !== last.bytes) movedAt = now
      if (sent < last.bytes) {
        // Bytes sent before did not arrive: they say nothing about the speed.
        last = { at: now, bytes: sent }
        return
      }
      if (elapsed <= 0) return
      const rate = ((sent - last.bytes) / elapsed) * 1000
      const old = 0.5 ** (elapsed / HALF_LIFE)
      sum = sum * old + rate * (1 - old)
      weight = weight * old + 1 - old
      last = { at: now, bytes: sent }
    },
    current: () => (last.at - start < FIRST_FIGURE || weight === 0 ? null : sum / weight),
    quiet: (now) => Math.max(0, now - movedAt),
  }
}
