import type { Database, Queryable } from '../../database/database.ts'
import type { Row } from '../../database/schema.ts'
import type { Sha256 } from '../../domain/ids.ts'

export type ChallengeRow = Omit<Row<'verifications'>, 'id' | 'updated_at'>

export async function insertChallenge(db: Queryable, row: ChallengeRow): Promise<void> {
  await db
    .insertInto('verifications')
    .values({ ...row, updated_at: row.created_at })
    .execute()
}

export async function findChallenge(db: Database, hash: Sha256, now: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('verifications')
    .select('value')
    .where('identifier_hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row?.value
}

/** Compare-and-swap; false when the value is no longer `before`, or the challenge has expired. */
export async function swapChallenge(
  db: Database,
  hash: Sha256,
  { before, after, now }: { readonly before: string; readonly after: string; readonly now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('verifications')
    .set({ value: after, updated_at: now })
    .where('identifier_hash', '=', hash)
    .where('value', '=', before)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Of concurrent calls one gets the value. */
export async function takeChallenge(db: Queryable, hash: Sha256, now: number): Promise<string | undefined> {
  const row = await db
    .deleteFrom('verifications')
    .where('identifier_hash', '=', hash)
    .returning(['value', 'expires_at'])
    .executeTakeFirst()
  return row === undefined || row.expires_at <= now ? undefined : row.value
}
