import { findAccount } from '../database/accounts.ts'
import { type ServerTotals, serverTotals } from '../database/all-accounts.ts'
import { type DayRow, daysSince, setSample } from '../database/days.ts'
import { latestOutages, type OutageRow } from '../database/outages.ts'
import { countReports } from '../database/reports.ts'
import type { Db } from '../database/schema.ts'
import { type Clock, DAY } from '../domain/clock.ts'
import { GUESTS } from '../domain/ids.ts'
import { dayOf, type TrafficCounter } from './traffic.ts'

/** How it stands at this moment. */
export interface Present extends ServerTotals {
  readonly guests: { readonly files: number; readonly storage_used: number }
  /** Bytes that the disk has left; null where nobody can tell. */
  readonly diskFree: number | null
  readonly reportsOpen: number
}

/** What goes on on the whole server. */
export interface Statistics {
  /**
   * The last days, the oldest first and today last: each of them, also those on which nothing happened. Besides the last
   * outages and leaps of the clock, the latest first.
   */
  read(days: number): Promise<{
    readonly now: Present
    readonly days: readonly DayRow[]
    readonly outages: readonly OutageRow[]
  }>
  /** Writes down how it stands, for today. */
  sample(): Promise<void>
}

/** How many of them are told of. */
const OUTAGES = 5

const NOTHING = {
  requests: 0,
  bytes_in: 0,
  bytes_out: 0,
  uploads: 0,
  downloads: 0,
  accounts: null,
  files: null,
  storage_used: null,
} as const

export function createStatistics(parts: {
  readonly db: Db
  /** What this node has counted and not written yet. */
  readonly traffic: TrafficCounter
  readonly freeSpace: () => Promise<number | null>
  readonly clock: Clock
  readonly report: (error: unknown) => void
}): Statistics {
  const { db, traffic, freeSpace, clock, report } = parts

  async function present(): Promise<Present> {
    const guests = await findAccount(db, GUESTS)
    return {
      ...(await serverTotals(db)),
      guests: { files: guests?.files_count ?? 0, storage_used: guests?.storage_used ?? 0 },
      diskFree: await freeSpace(),
      reportsOpen: await countReports(db, 'open'),
    }
  }

  return {
    async read(days) {
      // What is written already is worth seeing without the last seconds.
      await traffic.flush().catch(report)
      const now = clock.now()
      const wanted = Array.from({ length: days }, (_, at) => dayOf(now - (days - 1 - at) * DAY))
      const known = new Map((await daysSince(db, wanted[0] ?? dayOf(now))).map((row) => [row.day, row]))
      const rows = wanted.map((day) => known.get(day) ?? { day, ...NOTHING })
      return { now: await present(), days: rows, outages: await latestOutages(db, OUTAGES) }
    },

    async sample() {
      const { accounts, files, storage_used } = await serverTotals(db)
      const today = dayOf(clock.now())
      const [last] = await daysSince(db, today)
      const isSame = last?.accounts === accounts && last.files === files && last.storage_used === storage_used
      // An idle disk stays idle.
      if (!isSame) await setSample(db, today, { accounts, files, storage_used })
    },
  }
}
