import type { Database, Queryable, Trx } from '../database/database.ts'
import { forUpdate } from '../database/differences.ts'
import type { OutageCause, Row } from '../database/schema.ts'
import { inTransaction } from '../database/transactions.ts'
import { type Clock, DAY, HOUR, timestamp } from '../domain/clock.ts'
import type { Log } from '../log.ts'
import { metaValue, setMeta } from './meta.rows.ts'

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

/** From the last known run to the next. */
interface Outage {
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

export type OutageRow = Row<'outages'>

const LAST_RUN = 'last_run'

/** Locked until the transaction ends. */
async function lockLastRun(trx: Trx, first: () => Promise<number>): Promise<number> {
  const lock = trx.selectFrom('meta').select('value').where('key', '=', LAST_RUN).modifyEnd(forUpdate(trx))
  const present = await lock.executeTakeFirst()
  if (present !== undefined) return Number(present.value)
  const made = String(await first())
  await metaValue(trx, LAST_RUN, () => made)
  return Number((await lock.executeTakeFirstOrThrow()).value)
}

export async function setLastRun(trx: Trx, at: number): Promise<void> {
  await setMeta(trx, LAST_RUN, String(at))
}

async function lastFileUse(db: Queryable): Promise<number | null> {
  const row = await db
    .selectFrom('files')
    .select('last_used_at')
    .where('removed_at', 'is', null)
    .orderBy('last_used_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.last_used_at ?? null
}

async function insertOutage(trx: Trx, outage: Omit<OutageRow, 'id'>): Promise<void> {
  await trx.insertInto('outages').values(outage).execute()
}

async function cutOutages(trx: Trx, now: number): Promise<void> {
  await trx
    .updateTable('outages')
    .set({ ended_at: now })
    .where('began_at', '<', now)
    .where('ended_at', '>', now)
    .execute()
}

export function listOutages(db: Database): Promise<OutageRow[]> {
  return db.selectFrom('outages').selectAll().orderBy('id').execute()
}

export function latestOutages(db: Database, limit: number): Promise<OutageRow[]> {
  return db.selectFrom('outages').selectAll().orderBy('id', 'desc').limit(limit).execute()
}
