import { sql } from 'kysely'
import { type Database, isPostgres, type Queryable } from './database.ts'
import { lockMigrations } from './differences.ts'
import { displayNamesSchema } from './display-names-schema.ts'
import { firstSchema } from './first-schema.ts'
import { pixelsSchema } from './pixels-schema.ts'
import { inTransaction } from './transactions.ts'
import { transfersSchema } from './transfers-schema.ts'

interface Migration {
  readonly sqlite: readonly string[]
  readonly postgres: readonly string[]
}

/** In order: the position is the version of the database. Only tests change it, for databases that are older than the program. */
export const migrations: Migration[] = [firstSchema, transfersSchema, displayNamesSchema, pixelsSchema]

export class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew'
}

/**
 * Migrates the database to this program's version, or an earlier one, in one transaction under a lock, so that of several
 * nodes that start together one does it. Throws DatabaseTooNew when the database's version is higher than the program's.
 */
export async function migrate(db: Database, wanted = migrations.length): Promise<void> {
  if ((await databaseVersion(db)) >= wanted) return
  await inTransaction(db, async (trx) => {
    await lockMigrations(trx)
    await sql`create table if not exists meta (key text primary key, value text not null)`.execute(trx)
    const version = await databaseVersion(trx)
    for (const migration of migrations.slice(version, wanted)) {
      for (const statement of migration[isPostgres(trx) ? 'postgres' : 'sqlite']) {
        await sql.raw(statement).execute(trx)
      }
    }
    await trx
      .insertInto('meta')
      .values({ key: 'version', value: String(wanted) })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: String(wanted) }))
      .execute()
  })
}

/** Number of migrations that the database lacks. Throws DatabaseTooNew. */
export async function missingMigrations(db: Database): Promise<number> {
  return migrations.length - (await databaseVersion(db))
}

/** Whether the database was never migrated by any Holdfast. Throws DatabaseTooNew. */
export async function isBlank(db: Database): Promise<boolean> {
  return (await databaseVersion(db)) === 0
}

/** Schema version; 0 for an empty database. Throws DatabaseTooNew. */
export async function databaseVersion(db: Queryable): Promise<number> {
  if (!(await hasMeta(db))) return 0
  const row = await db.selectFrom('meta').select('value').where('key', '=', 'version').executeTakeFirst()
  const version = Number(row?.value ?? 0)
  if (version <= migrations.length) return version
  throw new DatabaseTooNew(
    `the database has version ${version}, this program knows ${migrations.length}: install a newer Holdfast`,
  )
}

/** Kysely's introspection would read the columns of all tables. */
async function hasMeta(db: Queryable): Promise<boolean> {
  const table = isPostgres(db)
    ? sql`select 1 where to_regclass('meta') is not null`
    : sql`select 1 from sqlite_master where type = 'table' and name = 'meta'`
  return (await table.execute(db)).rows.length > 0
}
