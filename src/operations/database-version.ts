import type { Database } from '../database/database.ts'
import { missingMigrations } from '../database/migrate.ts'
import { Refusal } from '../domain/errors.ts'

/** Throws Refusal PRECONDITION_FAILED for a database that another version of the program has left. */
export async function assertOwnVersion(db: Database): Promise<void> {
  if ((await missingMigrations(db)) === 0) return
  const message = 'the database is not of this program\'s version; "holdfast migrate" brings it there'
  throw new Refusal('PRECONDITION_FAILED', message)
}
