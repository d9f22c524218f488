import { DAY } from '../../domain/clock.ts'
import type { RecoveryPoint } from './catalog.ts'

/** Keeps the newest point of each of so many days and weeks that have any. */
export interface RetentionPolicy {
  readonly daily: number
  readonly weekly: number
}

/** 1 January 1970 was a Thursday; weeks begin on Mondays, in UTC. */
const weekOf = (time: number) => Math.floor((time / DAY + 3) / 7)
const dayOf = (time: number) => Math.floor(time / DAY)

/** The oldest first. Always includes the newest. */
export function retainedPoints(
  points: readonly RecoveryPoint[],
  retention: RetentionPolicy | null,
): readonly RecoveryPoint[] {
  if (retention === null) return points
  const newestFirst = points.toSorted((a, b) => b.takenAt - a.takenAt)
  const kept = new Set(newestFirst.slice(0, 1))
  for (const [most, spanOf] of [
    [retention.daily, dayOf],
    [retention.weekly, weekOf],
  ] as const) {
    const spans = new Set<number>()
    for (const point of newestFirst) {
      const span = spanOf(point.takenAt)
      if (spans.has(span) || spans.size >= most) continue
      spans.add(span)
      kept.add(point)
    }
  }
  return points.filter((point) => kept.has(point))
}
