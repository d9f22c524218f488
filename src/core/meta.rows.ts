import type { Queryable, Trx } from '../database/database.ts'

/** The first caller's `make` sets the value for all. */
export async function metaValue(db: Queryable, key: string, make: () => string): Promise<string> {
  const present = await metaOf(db, key)
  if (present !== null) return present
  await db
    .insertInto('meta')
    .values({ key, value: make() })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirstOrThrow()
  return row.value
}

export async function metaOf(db: Queryable, key: string): Promise<string | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value ?? null
}

export async function setMeta(trx: Trx, key: string, value: string): Promise<void> {
  await trx
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

export async function dropMeta(trx: Trx, keys: readonly string[]): Promise<void> {
  await trx.deleteFrom('meta').where('key', 'in', keys).execute()
}
