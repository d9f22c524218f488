import { PostgresAdapter } from 'kysely'
import type { Queryable } from './database.ts'

/** For differences between the dialects, and to do with one statement of PostgreSQL what SQLite does with several. */
export function isPostgres(db: Queryable): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
