import { PostgresAdapter } from 'kysely'
import type { Queryable } from './database.ts'

export function isPostgres(db: Queryable): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
