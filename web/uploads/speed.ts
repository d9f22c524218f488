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
  let figure: number | null = null

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
      const old = figure === null ? 0 : 0.5 ** (elapsed / HALF_LIFE)
      figure = (figure ?? 0) * old + rate * (1 - old)
      last = { at: now, bytes: sent }
    },
    current: () => (last.at - start < FIRST_FIGURE ? null : figure),
    quiet: (now) => Math.max(0, now - movedAt),
  }
}
