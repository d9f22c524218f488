import type { Compilable } from 'kysely'
import type { Db } from './schema.ts'
import { scanReadsOf } from './sqlite.ts'
import { bindings } from './sqlite-file.ts'

/** A query that knows how to answer itself. */
interface Query<Row> extends Compilable<Row> {
  execute(): Promise<Row[]>
}

/**
 * Answers one of the many queries of a pass over very many rows, without filling SQLite's cache with rows that nobody
 * asks for twice. Sees what is committed; not for use inside a transaction.
 */
export async function inPassing<Row>(db: Db, query: Query<Row>): Promise<Row[]> {
  const scan = scanReadsOf(db)
  if (scan === null) return query.execute()
  const { sql, parameters } = query.compile()
  return scan.all<Row>(sql, bindings(parameters))
}
