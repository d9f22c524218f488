import type { Database } from '../database/database.ts'
import { inTransaction } from '../database/transactions.ts'
import type { Timers } from '../domain/clock.ts'
import { fillKeysIn, KEYED_TABLES, type KeyedTable, rowsWithoutKey, type Unkeyed } from './name-keys.rows.ts'
import { withPause } from './yielding.ts'

/** Fills in missing sort keys of names, after and during an upgrade. */
export interface NameKeys {
  /** Runs until no key is missing, or `mayGoOn` returns false. */
  run(mayGoOn?: () => boolean): Promise<void>
}

/**
 * Rows per transaction, which holds the event loop as a whole on SQLite. At 300,000 files, 20 rows take 2.6 ms of CPU time
 * and 8 ms at most; 40 rows up to 19 ms.
 */
const STEP = 20

export function createNameKeys(db: Database, timers: Timers): NameKeys {
  /** Fills in one batch and returns its last row; null when no key is missing any more. */
  async function step(table: KeyedTable, before: Unkeyed | null): Promise<Unkeyed | null> {
    const rows = await rowsWithoutKey(db, table, before, STEP)
    if (rows.length > 0) await inTransaction(db, (trx) => fillKeysIn(trx, table, rows))
    return rows.at(-1) ?? null
  }

  return {
    async run(mayGoOn = () => true) {
      for (const table of KEYED_TABLES) {
        let last: Unkeyed | null = null
        do last = mayGoOn() ? await withPause(timers, () => step(table, last)) : null
        while (last !== null)
      }
    },
  }
}
