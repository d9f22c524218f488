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

export interface Aging {
  /** End of an entry last used at `usedAt`, in milliseconds since the epoch. */
  endOf(usedAt: number): number
  /** Entries last used before this moment have ended by `at` (default: now). */
  cutoff(at?: number): number
}

export interface Lifetime extends Aging {
  readonly days: number
}

/** A long gap between known runs is an outage and prolongs every lifetime; so does a jump of the clock (sleep). */
export interface Outages {
  lifetime(days: number): Lifetime
  aging(lasts: number): Aging
  /** Records that the service runs, and reads other nodes' outages. Must be called every minute. */
  note(): Promise<void>
  /**
   * Calls `note` after a jump of the clock or a database outage; otherwise costs no query. Returns the time with every
   * earlier outage recorded, so that expiry by it spares what an outage prolongs, also when the clock jumps meanwhile.
   */
  settle(): Promise<number>
}

/** Longer gaps are outages, longer clock differences jumps. */
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
  readonly timers: Pick<Clock, 'monotonic'>
  readonly log: Log
}

/** Records the run before it returns. */
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
  #known: readonly Outage[] = []
  /** Wall minus monotonic clock at the last record; null before the first. */
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

  /** Concurrent calls share one run: each outage is logged once. */
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
      // Perhaps twice: a joined run may have read the clock before the jump.
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

  #jump(now: number): number {
    return this.#offset === null ? 0 : now - this.#parts.clock.monotonic() - this.#offset
  }

  #isAmiss(now: number): boolean {
    if (this.#offset === null || this.#hasFailed) return true
    return Math.abs(this.#jump(now)) > LONG || this.#parts.timers.monotonic() - this.#notedAt > LONG
  }

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
