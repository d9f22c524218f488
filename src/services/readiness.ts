import { sql } from 'kysely'
import type { Db } from '../database/schema.ts'
import { type Clock, SECOND } from '../domain/clock.ts'
import type { StoreHealth } from './store-health.ts'

export interface Readiness {
  /**
   * Which parts work, within seconds. Asked anew once a second at most, and not while an earlier question is open, so
   * that nobody can wear the disk out or take up the connections by asking.
   */
  check(): Promise<{ readonly database: boolean; readonly store: boolean }>
}

const FRESH_FOR = SECOND

/** A database that stands still would be waited for much longer by those who have something to do there. */
const ANSWERS_WITHIN = 5 * SECOND

export function createReadiness(db: Db, health: StoreHealth, clock: Clock): Readiness {
  let last: { readonly at: number; isOpen: boolean; readonly result: ReturnType<Readiness['check']> } | null =
    null

  async function answers(): Promise<boolean> {
    const silence = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => silence.resolve(false), ANSWERS_WITHIN)
    const answer = sql`select 1`.execute(db).then(
      () => true,
      () => false,
    )
    try {
      return await Promise.race([answer, silence.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    check() {
      const now = clock.monotonic()
      if (last !== null && (last.isOpen || now - last.at < FRESH_FOR)) return last.result
      const result = Promise.all([answers(), health.probe()]).then(([database, store]) => ({
        database,
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
