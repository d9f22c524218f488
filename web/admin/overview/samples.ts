import type { StatisticsDay, StatisticsNow } from '../../../src/contract/operations.ts'

type Sampled = 'accounts' | 'files' | 'storage_used'

export interface Samples {
  readonly days: readonly string[]
  readonly values: readonly number[]
}

/**
 * How something stood at the end of each day, from the first day on of which it is known. A day of which it is not,
 * because the server was off, is as the day before; today is as it stands now.
 */
export function samplesOf(of: Sampled, days: readonly StatisticsDay[], now: StatisticsNow): Samples {
  const known = days.map((day, at) => (at === days.length - 1 ? now[of] : day[of]))
  const first = known.findIndex((value) => value !== null)
  let last = 0
  const values = known.slice(first).map((value) => {
    last = value ?? last
    return last
  })
  return { days: days.slice(first).map(({ day }) => day), values }
}
