import {
  cutOutages,
  insertOutage,
  lastFileUse,
  listOutages,
  lockLastRun,
  type OutageRow,
  setLastRun,
} from '../database/outages.ts'
import type { Db, OutageCause } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, timestamp } from '../domain/clock.ts'
import { endAfter, joinOutages, type Outage, outagesUntil, startBefore } from '../domain/outages.ts'
import type { Log } from '../log.ts'

/** How long something lasts that only ages while the service runs. */
export interface Lifetime {
  readonly days: number
  /** The last moment of what was last used then, milliseconds since the epoch. */
  endOf(usedAt: number): number
  /** What was last used before this moment is over at `at`, now unless said otherwise. */
  cutoff(at?: number): number
}

/**
 * Keeps the last time the whole service is known to have run. A longer time in which it did not is an outage, which
 * prolongs every lifetime; so is a leap of the clock, behind which a machine may have been asleep.
 */
export interface Outages {
  lifetime(days: number): Lifetime
  /** Writes down that the service runs, and learns what other nodes have noted. To be called every minute. */
  note(): Promise<void>
  /** The same when something is amiss with the clock or was with the database; asks nobody otherwise. */
  settle(): Promise<void>
}

/** What counts as an outage, and as a leap of the clock, is longer than this. */
const LONG = HOUR

const MESSAGES: Readonly<Record<OutageCause, string>> = {
  stopped: 'the service did not run for more than an hour; every file is kept that much longer',
  'clock set ahead':
    'the clock was set ahead, or this machine was asleep; every file is kept that much longer. See that the clock is right',
  'clock set back': 'the clock was set back. See that it is right',
}

function causeOf(leapt: number): OutageCause {
  return leapt > LONG ? 'clock set ahead' : 'stopped'
}

export async function createOutages(parts: {
  db: Db
  clock: Clock
  /** The clock of the timers by which `note` is called. */
  timers: Pick<Clock, 'monotonic'>
  log: Log
}): Promise<Outages> {
  const { db, clock, timers, log } = parts
  let known: readonly Outage[] = []
  /** The wall clock over the monotonic one when the service was last noted to run; null at the start. */
  let offset: number | null = null
  let notedAt = timers.monotonic()
  let hasFailed = false

  const leap = (now: number) => (offset === null ? 0 : now - clock.monotonic() - offset)
  const isAmiss = (now: number) =>
    offset === null || hasFailed || Math.abs(leap(now)) > LONG || timers.monotonic() - notedAt > LONG

  /** Changes the database; returns the outage that there was. */
  async function write(trx: Db, now: number): Promise<Omit<OutageRow, 'id'> | null> {
    const last = await lockLastRun(trx, async () => (await lastFileUse(trx)) ?? now)
    if (isAmiss(now) && now - last > LONG) {
      const outage = { began_at: last, ended_at: now, cause: causeOf(leap(now)) }
      await insertOutage(trx, outage)
      await setLastRun(trx, now)
      return outage
    }
    if (last - now > LONG && (offset === null || leap(now) < -LONG)) {
      await cutOutages(trx, now)
      const outage = { began_at: now, ended_at: now, cause: 'clock set back' } as const
      await insertOutage(trx, outage)
      await setLastRun(trx, now)
      return outage
    }
    if (now > last) await setLastRun(trx, now)
    return null
  }

  function tell(outage: Omit<OutageRow, 'id'> | null, leapt: number): void {
    if (outage === null) {
      if (Math.abs(leapt) > LONG) log.warn({ leap_ms: leapt }, 'the clock of this machine has leapt')
      return
    }
    const { began_at, ended_at, cause } = outage
    const fields = { from: timestamp(began_at), to: timestamp(ended_at) }
    log.warn({ ...fields, ...(leapt === 0 ? {} : { leap_ms: leapt }) }, MESSAGES[cause])
  }

  async function noteOnce(): Promise<void> {
    const now = clock.now()
    const difference = now - clock.monotonic()
    const leapt = leap(now)
    try {
      tell(await inTransaction(db, (trx) => write(trx, now)), leapt)
      known = joinOutages(
        (await listOutages(db)).map(({ began_at: began, ended_at: ended }) => ({ began, ended })),
      )
    } catch (error) {
      hasFailed = true
      throw error
    }
    offset = difference
    notedAt = timers.monotonic()
    hasFailed = false
  }

  let noting: Promise<void> | null = null
  /** Joins the one that is under way: each finding is told once. */
  function note(): Promise<void> {
    noting ??= noteOnce().finally(() => {
      noting = null
    })
    return noting
  }

  await note()

  return {
    note,

    async settle() {
      if (isAmiss(clock.now())) await note()
    },

    lifetime(days) {
      const lasts = days * DAY
      return {
        days,
        endOf: (usedAt) => endAfter(usedAt, lasts, outagesUntil(clock.now(), known)),
        cutoff: (at = clock.now()) => startBefore(at, lasts, outagesUntil(clock.now(), known)),
      }
    },
  }
}
