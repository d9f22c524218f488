import { isConflict, isDatabaseFailure, transactionId, transactionStatus } from './differences.ts'
import type { Db } from './schema.ts'

const MOST_TRIES = 5

/** Milliseconds between the questions what became of a transaction: a database that restarts is back within them. */
const OUTCOME_WAITS = [0, 100, 300, 600, 1000, 2000, 3000, 3000]

/**
 * Runs the work in one transaction: all of it happens or nothing. Work that lost against another transaction is done
 * again from its beginning, so it must change nothing but the database. When the answer to the commit is lost, PostgreSQL
 * is asked what became of it, if the work has locked an account.
 */
export async function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    const done: { readonly value: T; readonly id: string | null }[] = []
    try {
      return await db.transaction().execute(async (trx) => {
        const value = await work(trx)
        done.push({ value, id: transactionId(trx) })
        return value
      })
    } catch (error) {
      if (isConflict(error) && tries < MOST_TRIES) continue
      const [end] = done
      if (
        end !== undefined &&
        end.id !== null &&
        isDatabaseFailure(error) &&
        (await wentThrough(db, end.id))
      ) {
        return end.value
      }
      throw error
    }
  }
}

/** False also when nobody can tell in time. */
async function wentThrough(db: Db, id: string): Promise<boolean> {
  for (const wait of OUTCOME_WAITS) {
    await Bun.sleep(wait)
    try {
      const status = await transactionStatus(db, id)
      if (status !== 'in progress') return status === 'committed'
    } catch (error) {
      if (!isDatabaseFailure(error)) throw error
    }
  }
  return false
}
