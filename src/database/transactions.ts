import { endsWithin } from '../domain/abort.ts'
import { asTrx, type Database, type TransactionOutcome, type Trx } from './database.ts'
import { disableIdleTimeout, isConflict, isDatabaseFailure, OutcomeUnknown } from './differences.ts'
import { isCommitted } from './outcomes.ts'

const MOST_TRIES = 5

/** Milliseconds before each query; in total enough for a database restart. */
const OUTCOME_WAITS = [0, 100, 300, 600, 1000, 2000, 2000, 2000]
/** Milliseconds after sending a commit, so that the client is answered within ten seconds. */
const OUTCOME_WITHIN = 8000
/** Minimum after a slow commit. */
const LEAST_FOR_OUTCOME = 1000

/**
 * All or nothing. Work that loses a conflict is rerun, so it must have no effects outside of the database.
 *
 * When the answer to a commit is lost, PostgreSQL is asked for the outcome, if the work has locked an
 * account; throws OutcomeUnknown when it does not tell in time. SQLite may report a failed commit that was in fact applied; then `find` looks for a row that only
 * this work writes. What it finds is durable: before the error is thrown, all that was written is synced.
 */
export async function inTransaction<T>(
  db: Database,
  work: (trx: Trx) => Promise<T>,
  find: () => Promise<Found<T> | null> = async () => null,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const done: (Found<T> & {
      readonly outcome: TransactionOutcome | null
      readonly search: OutcomeSearch
    })[] = []
    try {
      return await db.transaction().execute(async (transaction) => {
        const trx = asTrx(transaction, db.executor)
        const value = await work(trx)
        done.push({ value, outcome: trx.outcome, search: outcomeSearch() })
        return value
      })
    } catch (error) {
      if (isConflict(error) && tries < MOST_TRIES) continue
      const [end] = done
      if (end === undefined || !isDatabaseFailure(error)) throw error
      if (end.outcome !== null) {
        if (await wentThrough(db, end.outcome, end.search)) return end.value
        throw error
      }
      const found = await find().catch(() => null)
      if (found === null) throw error
      return found.value
    }
  }
}

/** A read-only transaction that sees one moment. It may take any time and blocks no writers. */
export function inSnapshot<T>(db: Database, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (transaction) => {
      const trx = asTrx(transaction, db.executor)
      await disableIdleTimeout(trx)
      return work(trx)
    })
}

export interface Found<T> {
  readonly value: T
}

/** Whether the transaction was committed. Throws OutcomeUnknown. */
async function wentThrough(
  db: Database,
  outcome: TransactionOutcome,
  search: OutcomeSearch,
): Promise<boolean> {
  return (await search(() => isCommitted(db, outcome))) === true
}

/** Asks again while the database is unavailable. Throws OutcomeUnknown when it has not answered in time. */
export type OutcomeSearch = <T>(ask: () => Promise<T>) => Promise<T>

/** To be called when the commit is sent. */
export function outcomeSearch(): OutcomeSearch {
  const began = performance.now()
  return async (ask) => {
    const until = Math.max(began + OUTCOME_WITHIN, performance.now() + LEAST_FOR_OUTCOME)
    for (const wait of OUTCOME_WAITS) {
      if (performance.now() + wait > until) break
      await Bun.sleep(wait)
      try {
        const asked = ask()
        if (await endsWithin(until - performance.now(), asked)) return await asked
        break
      } catch (error) {
        if (!isDatabaseFailure(error)) throw error
      }
    }
    throw new OutcomeUnknown('the database did not tell in time whether a transaction was committed')
  }
}
