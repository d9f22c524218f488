/** From the last known run to the next. */
export interface Outage {
  readonly began: number
  readonly ended: number
}

export function mergeOutages(outages: readonly Outage[]): readonly Outage[] {
  const joined: Outage[] = []
  for (const { began, ended } of outages.toSorted((one, other) => one.began - other.began)) {
    const last = joined.at(-1)
    if (last === undefined || began > last.ended) joined.push({ began, ended })
    else joined[joined.length - 1] = { began: last.began, ended: Math.max(last.ended, ended) }
  }
  return joined
}

/** Merged outages up to `now`: a wrong clock may have recorded later ones. */
export function outagesUntil(now: number, outages: readonly Outage[]): readonly Outage[] {
  const last = outages.at(-1)
  if (last === undefined || last.ended <= now) return outages
  return outages
    .filter(({ began }) => began < now)
    .map(({ began, ended }) => ({ began, ended: Math.min(ended, now) }))
}

/** Outages must be merged; they prolong the `lasts` milliseconds after `start`. */
export function endAfter(start: number, lasts: number, outages: readonly Outage[]): number {
  let end = start + lasts
  for (const { began, ended } of outages) {
    if (ended <= start) continue
    if (began > end) break
    end += ended - Math.max(began, start)
  }
  return end
}

/** Inverse of `endAfter` for index lookups: `start < startBefore(at, …)` exactly where `endAfter(start, …) < at`. */
export function startBefore(at: number, lasts: number, outages: readonly Outage[]): number {
  let start = at - lasts
  for (const { began, ended } of outages.toReversed()) {
    if (ended < start) break
    start -= ended - began
  }
  return start
}
