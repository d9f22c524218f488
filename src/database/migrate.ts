import { sql } from 'kysely'
import { initial } from './migrations/001-initial.ts'
import type { Db } from './schema.ts'

/** In order; the position is the version. */
const migrations: readonly (readonly string[])[] = [initial]

/**
 * Brings the database to this program's version, in one transaction, so that two that start together do it once.
 * Throws when the database is newer than the program.
 */
export async function migrate(db: Db): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`create table if not exists meta (key text primary key, value text not null)`.execute(trx)
    const row = await trx.selectFrom('meta').select('value').where('key', '=', 'version').executeTakeFirst()
    const version = Number(row?.value ?? 0)
    if (version > migrations.length) {
      throw new Error(
        `the database has version ${version}, this program knows ${migrations.length}: install a newer Holdfast`,
      )
    }
    for (const statements of migrations.slice(version)) {
      for (const statement of statements) await sql.raw(statement).execute(trx)
    }
    await trx
      .insertInto('meta')
      .values({ key: 'version', value: String(migrations.length) })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: String(migrations.length) }))
      .execute()
  })
}
