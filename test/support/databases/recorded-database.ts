import type { Compilable, CompiledQuery, KyselyPlugin } from 'kysely'
import { compiledQuery, type Database } from '../../../src/database/database.ts'
import { pluggedDatabase } from './plugged-database.ts'

const doNothing: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  transformResult: async ({ result }) => result,
}

/** The database, and what is read from it by its readers. */
export interface RecordedDatabase {
  readonly db: Database
  readonly asked: CompiledQuery[]
}

/** `answered`: what happens after each answer, before it is told. */
export function recordedDatabase(
  db: Database,
  answered: () => Promise<void> = async () => {},
): RecordedDatabase {
  const asked: CompiledQuery[] = []
  const reader = {
    gathersLookups: false,
    async rows<Row>(query: Compilable<Row> | CompiledQuery<Row>) {
      const compiled = compiledQuery(query)
      asked.push(compiled)
      const rows = await db.read.rows<Row>(compiled)
      await answered()
      return rows
    },
    version: () => null,
  }
  const readers = { read: reader, scan: reader, readPool: reader }
  return { db: Object.assign(pluggedDatabase(db, doNothing), readers), asked }
}
