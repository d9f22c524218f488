import { isConflict, isDatabaseFailure } from './differences.ts'
import { isCommitted, type Outcome, outcomeOf } from './outcomes.ts'
import type { Db } from './schema.ts'

const MOST_TRIES = 5

/** Milliseconds between the questions what became of a transaction: a database that restarts is back within them. */
const OUTCOME_WAITS = [0, 100, 300, 600, 1000, 2000, 3000, 3000]

/**
 * Runs the work in one transaction: all of it happens or nothing. Work that lost against another transaction is done
 * again from its beginning, so it must change nothing but the database.
 *
 * When the answer to the commit is lost, PostgreSQL is asked what became of it, if the work has locked an account.
 * SQLite may say that a commit failed which went through; there `find` looks for what only this work writes. What it
 * sees is on the disk: SQLite shows nobody what it could not sync.
 */
export async function inTransaction<T>(
  db: Db,
  work: (trx: Db) => Promise<T>,
  find: () => Promise<Found<T> | null> = async () => null,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const done: (Found<T> & { readonly outcome: Outcome | null })[] = []
    try {
      return await db.transaction().execute(async (trx) => {
        const value = await work(trx)
        done.push({ value, outcome: outcomeOf(trx) })
        return value
      })
    } catch (error) {
      if (isConflict(error) && tries < MOST_TRIES) continue
      const [end] = done
      if (end === undefined || !isDatabaseFailure(error)) throw error
      if (end.outcome !== null) {
        if (await wentThrough(db, end.outcome)) return end.value
        throw error
      }
      const found = await find().catch(() => null)
      if (found === null) throw error
      return found.value
    }
  }
}

export interface Found<T> {
  readonly value: T
}

/** False also when nobody can tell in time. */
async function wentThrough(db: Db, outcome: Outcome): Promise<boolean> {
  for (const wait of OUTCOME_WAITS) {
    await Bun.sleep(wait)
    try {
      return (await isCommitted(db, outcome)) === true
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error
    }
  }
  return false
}
