import type { AccountId, PasskeyId } from '../domain/ids.ts'
import type { Db } from './schema.ts'

export interface PasskeyRow {
  readonly id: PasskeyId
  readonly name: string | null
  readonly created_at: number
}

export function listPasskeys(db: Db, account: AccountId): Promise<PasskeyRow[]> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'name', 'created_at'])
    .where('account_id', '=', account)
    .orderBy('id')
    .execute()
}

/** False when the account has none of that number. */
export async function namePasskey(db: Db, account: AccountId, id: PasskeyId, name: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ name })
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** False when the account has none of that number. */
export async function dropPasskey(db: Db, account: AccountId, id: PasskeyId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
