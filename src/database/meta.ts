import type { Db } from './schema.ts'

/** The value kept under the key; the first caller's becomes everybody's. */
export async function metaValue(db: Db, key: string, make: () => string): Promise<string> {
  await db
    .insertInto('meta')
    .values({ key, value: make() })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirstOrThrow()
  return row.value
}
