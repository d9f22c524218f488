import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import type { StoreHealth } from './store/store-health.ts'

type DatabaseState = 'ok' | 'down' | 'damaged'

export interface Readiness {
  /**
   * A few seconds old at most. `damaged`: it answers, but a page of its file cannot be read. At most one check a
   * second, never concurrent: frequent calls can neither wear out the disk nor exhaust the connections.
   */
  check(): Promise<{ readonly database: DatabaseState; readonly store: boolean }>
}

const FRESH_FOR = SECOND

/** Shorter than the database timeout, so that a hang is reported early. */
const ANSWERS_WITHIN = 5 * SECOND

export function createReadiness(db: Database, health: StoreHealth, clock: Clock): Readiness {
  let last: { readonly at: number; isOpen: boolean; readonly result: ReturnType<Readiness['check']> } | null =
    null

  function databaseState(isAnswering: boolean): DatabaseState {
    if (!isAnswering) return 'down'
    return db.damage?.isPresent === true ? 'damaged' : 'ok'
  }

  async function answers(): Promise<boolean> {
    const silence = Promise.withResolvers<boolean>()
    const cancel = clock.timers.after(ANSWERS_WITHIN, () => silence.resolve(false))
    const answer = sql`select 1`.execute(db).then(
      () => true,
      () => false,
    )
    try {
      return await Promise.race([answer, silence.promise])
    } finally {
      cancel()
    }
  }

  return {
    check() {
      const now = clock.monotonic()
      if (last !== null && (last.isOpen || now - last.at < FRESH_FOR)) return last.result
      const result = Promise.all([answers(), health.probe()]).then(([database, store]) => ({
        database: databaseState(database),
        store,
      }))
      const asked = { at: now, isOpen: true, result }
      const close = () => {
        asked.isOpen = false
      }
      result.then(close, close)
      last = asked
      return result
    },
  }
}
