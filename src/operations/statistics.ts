import { type ServerTotals, serverTotals } from '../accounts/account-administration.ts'
import type { Config } from '../config.ts'
import { findAccount } from '../core/accounts.rows.ts'
import type { Core } from '../core/core.ts'
import { countDamaged } from '../core/damage.rows.ts'
import { type DayRow, daysSince, setSample } from '../core/figures.rows.ts'
import { latestOutages, type OutageRow } from '../core/outages.ts'
import type { TrafficCounter } from '../core/traffic.ts'
import { type SeenProxy, unknownProxies } from '../core/unknown-proxies.ts'
import { DAY } from '../domain/clock.ts'
import { isoDay } from '../domain/days.ts'
import { GUESTS } from '../domain/ids.ts'
import { parseTrustedProxies } from '../server/call.ts'
import { countReports } from '../sharing/reports.ts'

export interface Present extends ServerTotals {
  readonly guests: { readonly files: number; readonly storage_used: number }
  /** Bytes; null when unknown. */
  readonly diskFree: number | null
  readonly reportsOpen: number
  readonly contentsDamaged: number
  /** From oldest to newest. */
  readonly unknownProxies: readonly SeenProxy[]
}

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

export function createStatistics({
  config,
  db,
  traffic,
  freeSpace,
  clock,
  report,
}: Pick<Core, 'db' | 'clock'> & {
  readonly config: Pick<Config, 'trustedProxies'>
  /** Not written yet. */
  readonly traffic: TrafficCounter
  readonly freeSpace: () => Promise<number | null>
  readonly report: (error: unknown) => void
}) {
  const trusted = parseTrustedProxies(config.trustedProxies)

  async function present(): Promise<Present> {
    const guests = await findAccount(db, GUESTS)
    return {
      ...(await serverTotals(db)),
      guests: { files: guests?.files_count ?? 0, storage_used: guests?.storage_used ?? 0 },
      diskFree: await freeSpace(),
      reportsOpen: await countReports(db, 'open'),
      contentsDamaged: await countDamaged(db),
      unknownProxies: await unknownProxies(db, trusted, clock.now()),
    }
  }

  return {
    /** The last days, oldest first, including days without activity; the latest outages and clock leaps, newest first. */
    async read(days: number): Promise<{
      readonly now: Present
      readonly days: readonly DayRow[]
      readonly outages: readonly OutageRow[]
    }> {
      // Statistics without the last seconds are still useful.
      await traffic.flush().catch(report)
      const now = clock.now()
      const wanted = Array.from({ length: days }, (_, at) => isoDay(now - (days - 1 - at) * DAY, 'UTC'))
      const known = new Map(
        (await daysSince(db, wanted[0] ?? isoDay(now, 'UTC'))).map((row) => [row.day, row]),
      )
      const rows = wanted.map((day) => known.get(day) ?? { day, ...NOTHING })
      return { now: await present(), days: rows, outages: await latestOutages(db, OUTAGES) }
    },

    async sample(): Promise<void> {
      const { accounts, files, storage_used } = await serverTotals(db)
      const today = isoDay(clock.now(), 'UTC')
      const [last] = await daysSince(db, today)
      const isSame = last?.accounts === accounts && last.files === files && last.storage_used === storage_used
      // Unchanged samples are not written, so that an idle disk stays idle.
      if (!isSame) await setSample(db, today, { accounts, files, storage_used })
    },
  }
}

export type Statistics = ReturnType<typeof createStatistics>
