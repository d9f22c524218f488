/** How fast bytes go, smoothed so that the figure can be read. */
export interface Speed {
  /** So many bytes are sent by now. */
  sample(bytes: number, now: number): void
  /** Bytes a second; null as long as it would be a guess. */
  current(): number | null
  /** Milliseconds since anything moved. */
  quiet(now: number): number
}

/** After so long half of the figure is new. */
const HALF_LIFE = 3000
const FIRST_FIGURE = 1500

export function createSpeed(start: number, bytes: number): Speed {
  let last = { at: start, bytes }
  let movedAt = start
  let sum = 0
  /** Of all that is in `sum`: near 0 in the beginning, so that the first moment alone does not decide for long. */
  let weight = 0

  return {
    sample(sent, now) {
      const elapsed = now - last.at
      if (sent !== last.bytes) movedAt = now
      if (sent < last.bytes) {
        // What was sent did not arrive: it says nothing about how fast the line is.
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
