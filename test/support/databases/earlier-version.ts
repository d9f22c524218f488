/** Databases with the schema of an earlier version of the program. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../../../src/database/database.ts'
import { isPostgres } from '../../../src/database/dialect.ts'

const FOLDER = join(import.meta.dir, '../../../src/database/migrations')

const statements = z.array(z.string()).readonly()
const migration = z.union([
  statements.transform((sqlite) => ({ sqlite, postgres: [] })),
  z.object({ sqlite: statements, postgres: statements }),
])

/** Applies the migrations up to that version to an empty database. */
export async function makeVersion(db: Database, version: number): Promise<void> {
  const dialect = isPostgres(db) ? 'postgres' : 'sqlite'
  await db.transaction().execute(async (trx) => {
    for (const file of readdirSync(FOLDER).sort().slice(0, version)) {
      const exported: object = await import(join(FOLDER, file))
      const steps = migration.parse(Object.values(exported)[0])
      for (const step of steps[dialect]) await sql.raw(step).execute(trx)
    }
    await sql`create table meta (key text primary key, value text not null)`.execute(trx)
    await trx
      .insertInto('meta')
      .values({ key: 'version', value: String(version) })
      .execute()
  })
}
