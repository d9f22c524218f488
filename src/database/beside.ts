import type { Compilable } from 'kysely'
import type { Db } from './schema.ts'
import { readersOf } from './sqlite.ts'

/** A query that knows how to answer itself. */
interface Query<Row> extends Compilable<Row> {
  execute(): Promise<Row[]>
}

/** So many entries of an index are passed over within a few milliseconds; what skips or counts more is asked beside. */
export const FAR = 100_000

/**
 * Answers a query that may look at very many rows without holding up anybody else's request: SQLite, which works on
 * the thread that asks, is asked in another one. Sees what is committed; not for use inside a transaction.
 */
export function besideRequests<Row>(db: Db, query: Query<Row>): Promise<Row[]> {
  const readers = readersOf(db)
  if (readers === null) return query.execute()
  const { sql, parameters } = query.compile()
  return readers.all<Row>(sql, parameters)
}
