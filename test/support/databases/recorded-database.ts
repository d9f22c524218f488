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

export function recordedDatabase(db: Database): RecordedDatabase {
  const asked: CompiledQuery[] = []
  const reader = {
    gathersLookups: false,
    rows<Row>(query: Compilable<Row> | CompiledQuery<Row>) {
      const compiled = compiledQuery(query)
      asked.push(compiled)
      return db.read.rows<Row>(compiled)
    },
    version: () => null,
  }
  const readers = { read: reader, scan: reader, readPool: reader }
  return { db: Object.assign(pluggedDatabase(db, doNothing), readers), asked }
}
