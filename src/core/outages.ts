import type { Database, Trx } from '../database/database.ts'
import type { OutageCause } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, timestamp } from '../domain/clock.ts'
import { endAfter, mergeOutages, type Outage, outagesUntil, startBefore } from '../domain/outages.ts'
import type { Log } from '../log.ts'
import {
  cutOutages,
  insertOutage,
  lastFileUse,
  listOutages,
  lockLastRun,
  type OutageRow,
  setLastRun,
} from './outages.rows.ts'

/** A lifetime that outages do not count towards. */
export interface Aging {
  /** The end of what was last used at `usedAt`, in milliseconds since the epoch. */
  endOf(usedAt: number): number
  /** What was last used before the returned moment has ended at `at`, which is now when left out. */
  cutoff(at?: number): number
}

export interface Lifetime extends Aging {
  readonly days: number
}

/**
 * Records when the whole service was last known to run. A longer time without it is an outage, which prolongs every
 * lifetime; so does a jump of the clock, because the machine may have been asleep.
 */
export interface Outages {
  lifetime(days: number): Lifetime
  /** A lifetime of so many milliseconds. */
  aging(lasts: number): Aging
  /** Records that the service runs, and reads the outages that other nodes have recorded. To be called every minute. */
  note(): Promise<void>
  /**
   * Calls `note` when the clock has jumped or the database was away, and costs no query otherwise. Returns what the time
   * is, with every outage before it noted: whoever ends things by that time ends none that an outage has kept, also when
   * the clock jumps meanwhile.
   */
  settle(): Promise<number>
}

/** Longer times without the service are outages, and longer differences of the clock are jumps. */
const LONG = HOUR

const MESSAGES: Readonly<Record<OutageCause, string>> = {
  stopped: 'the service did not run for more than an hour; every file is kept that much longer',
  'clock set ahead':
    'the clock was set ahead, or this machine was asleep; every file is kept that much longer. See that the clock is right',
  'clock set back': 'the clock was set back. See that it is right',
}

function causeOf(jump: number): OutageCause {
  return jump > LONG ? 'clock set ahead' : 'stopped'
}

interface OutageParts {
  readonly db: Database
  readonly clock: Clock
  /** The clock of the timers by which `note` is called. */
  readonly timers: Pick<Clock, 'monotonic'>
  readonly log: Log
}

/** Records that the service runs before it returns. */
export async function createOutages(parts: OutageParts): Promise<Outages> {
  const recorded = new RecordedOutages(parts)
  await recorded.note()
  return {
    lifetime: (days) => ({ days, ...recorded.aging(days * DAY) }),
    aging: (lasts) => recorded.aging(lasts),
    note: () => recorded.note(),
    settle: () => recorded.settle(),
  }
}

type NewOutage = Omit<OutageRow, 'id'>

class RecordedOutages {
  readonly #parts: OutageParts
  /** The outages in the database, joined. */
  #known: readonly Outage[] = []
  /** Wall clock minus monotonic clock when the service was last recorded to run; null before the first time. */
  #offset: number | null = null
  #notedAt: number
  #hasFailed = false
  #noting: Promise<void> | null = null

  constructor(parts: OutageParts) {
    this.#parts = parts
    this.#notedAt = parts.timers.monotonic()
  }

  aging(lasts: number): Aging {
    const { clock } = this.#parts
    return {
      endOf: (usedAt) => endAfter(usedAt, lasts, outagesUntil(clock.now(), this.#known)),
      cutoff: (at = clock.now()) => startBefore(at, lasts, outagesUntil(clock.now(), this.#known)),
    }
  }

  /** Concurrent calls share one run, so that each outage is logged once. */
  note(): Promise<void> {
    this.#noting ??= this.#note().finally(() => {
      this.#noting = null
    })
    return this.#noting
  }

  async settle(): Promise<number> {
    for (;;) {
      const now = this.#parts.clock.now()
      if (!this.#isAmiss(now)) return now
      // Maybe twice, since a run that is joined may have read the clock before it jumped.
      await this.note()
    }
  }

  async #note(): Promise<void> {
    const { db, clock, timers } = this.#parts
    const now = clock.now()
    const offset = now - clock.monotonic()
    const jump = this.#jump(now)
    try {
      this.#logFinding(await inTransaction(db, (trx) => this.#record(trx, now)), jump)
      const rows = await listOutages(db)
      this.#known = mergeOutages(rows.map(({ began_at: began, ended_at: ended }) => ({ began, ended })))
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
    this.#offset = offset
    this.#notedAt = timers.monotonic()
    this.#hasFailed = false
  }

  /** Milliseconds by which the wall clock has moved against the monotonic clock. */
  #jump(now: number): number {
    return this.#offset === null ? 0 : now - this.#parts.clock.monotonic() - this.#offset
  }

  /** Whether there may have been an outage since the service was last recorded to run. */
  #isAmiss(now: number): boolean {
    if (this.#offset === null || this.#hasFailed) return true
    return Math.abs(this.#jump(now)) > LONG || this.#parts.timers.monotonic() - this.#notedAt > LONG
  }

  /** Writes `now` as the last run; returns the outage that ended with it, if there was one. */
  async #record(trx: Trx, now: number): Promise<NewOutage | null> {
    const last = await lockLastRun(trx, async () => (await lastFileUse(trx)) ?? now)
    const jump = this.#jump(now)
    if (now - last > LONG && this.#isAmiss(now)) {
      return insert(trx, now, { began_at: last, ended_at: now, cause: causeOf(jump) })
    }
    if (last - now > LONG && (this.#offset === null || jump < -LONG)) {
      await cutOutages(trx, now)
      return insert(trx, now, { began_at: now, ended_at: now, cause: 'clock set back' })
    }
    if (now > last) await setLastRun(trx, now)
    return null
  }

  #logFinding(outage: NewOutage | null, jump: number): void {
    const { log } = this.#parts
    if (outage === null) {
      if (Math.abs(jump) > LONG) log.warn({ leap_ms: jump }, 'the clock of this machine has leapt')
      return
    }
    const fields = { from: timestamp(outage.began_at), to: timestamp(outage.ended_at) }
    log.warn({ ...fields, ...(jump === 0 ? {} : { leap_ms: jump }) }, MESSAGES[outage.cause])
  }
}

async function insert(trx: Trx, now: number, outage: NewOutage): Promise<NewOutage> {
  await insertOutage(trx, outage)
  await setLastRun(trx, now)
  return outage
}
