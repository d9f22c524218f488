import type { Database, Queryable } from '../../database/database.ts'
import type { Row } from '../../database/schema.ts'
import type { AccountId, PasskeyId } from '../../domain/ids.ts'

export type PasskeyRow = Row<'passkeys', 'id' | 'name' | 'created_at'>

export function listPasskeys(db: Database, account: AccountId): Promise<PasskeyRow[]> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'name', 'created_at'])
    .where('account_id', '=', account)
    .orderBy('id')
    .execute()
}

/** Sent to the browser so that it registers no second passkey on one device. */
export type PasskeyHandle = Row<'passkeys', 'credential_id' | 'transports'>

export function listPasskeyHandles(db: Database, account: AccountId): Promise<PasskeyHandle[]> {
  return db
    .selectFrom('passkeys')
    .select(['credential_id', 'transports'])
    .where('account_id', '=', account)
    .orderBy('id')
    .execute()
}

export type PasskeyKey = Row<'passkeys', 'id' | 'account_id' | 'credential_id' | 'public_key' | 'counter'>

export function findPasskey(db: Database, credential: string): Promise<PasskeyKey | undefined> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'account_id', 'credential_id', 'public_key', 'counter'])
    .where('credential_id', '=', credential)
    .executeTakeFirst()
}

export type NewPasskeyRow = Omit<Row<'passkeys'>, 'id'>

/** Throws a unique violation. */
export async function insertPasskey(db: Database, passkey: NewPasskeyRow): Promise<void> {
  await db.insertInto('passkeys').values(passkey).execute()
}

/** False when the passkey is gone, its key was cloned, or a response is replayed. */
export async function advanceCounter(db: Queryable, id: PasskeyId, counter: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter })
    .where('id', '=', id)
    .where((row) => (counter === 0 ? row('counter', '=', 0) : row('counter', '<', counter)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function namePasskey(
  db: Database,
  account: AccountId,
  id: PasskeyId,
  name: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ name })
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function dropPasskey(db: Database, account: AccountId, id: PasskeyId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('account_id', '=', account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
