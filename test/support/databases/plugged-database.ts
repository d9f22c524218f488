import type { Compilable, CompiledQuery, KyselyPlugin } from 'kysely'
import type { Database } from '../../../src/database/database.ts'

/** The database with a plugin that sees every query, through any reader. */
export function pluggedDatabase(db: Database, plugin: KyselyPlugin): Database {
  const plugged = db.withPlugin(plugin)
  const reader = {
    gathersLookups: false,
    rows: async <Row>(query: Compilable<Row> | CompiledQuery<Row>) =>
      (await plugged.executeQuery(query)).rows,
    version: () => null,
  }
  const own = { read: reader, scan: reader, readPool: reader }
  const others = { durable: db.durable, nonDurable: db, executor: null, damage: db.damage }
  const database: Database = Object.assign(plugged, { ...own, ...others })
  return database
}
