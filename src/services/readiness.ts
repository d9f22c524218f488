import { sql } from 'kysely'
import type { Db } from '../database/schema.ts'
import type { Clock } from '../domain/clock.ts'
import type { StoreHealth } from './store-health.ts'

export interface Readiness {
  /** Which parts work. Asked anew once a second at most, so that nobody can wear the disk out by asking. */
  check(): Promise<{ readonly database: boolean; readonly store: boolean }>
}

const FRESH_FOR = 1000

export function createReadiness(db: Db, health: StoreHealth, clock: Clock): Readiness {
  let last: { at: number; result: ReturnType<Readiness['check']> } | null = null

  async function answers(): Promise<boolean> {
    try {
      await sql`select 1`.execute(db)
      return true
    } catch {
      return false
    }
  }

  return {
    check() {
      const now = clock.monotonic()
      if (last === null || now - last.at >= FRESH_FOR) {
        const result = Promise.all([answers(), health.probe()]).then(([database, store]) => ({
          database,
          store,
        }))
        last = { at: now, result }
      }
      return last.result
    },
  }
}
