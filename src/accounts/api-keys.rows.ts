import type { Insertable } from 'kysely'
import type { Database, Queryable, Trx } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Row, Tables } from '../database/schema.ts'
import type { AccountId, KeyId } from '../domain/ids.ts'

export interface KeyRow extends Row<'api_keys'> {
  /** Null without a restriction, or when the folder was deleted. */
  readonly folder_name: string | null
}

export function insertKey(
  db: Queryable,
  key: Omit<Insertable<Tables['api_keys']>, 'id' | 'last_used_at' | 'revoked_at'>,
): Promise<{ id: KeyId }> {
  return db.insertInto('api_keys').values(key).returning('id').executeTakeFirstOrThrow()
}

const keyHolderById = prepared((db, id: KeyId) =>
  db
    .selectFrom('api_keys')
    .select(['api_keys.account_id as account', 'api_keys.expires_at'])
    .where('api_keys.id', '=', id)
    .where('api_keys.revoked_at', 'is', null)
    .where((key) =>
      key.exists(
        key
          .selectFrom('accounts')
          .select('accounts.id')
          .whereRef('accounts.id', '=', 'api_keys.account_id')
          .where('accounts.disabled_at', 'is', null),
      ),
    ),
)

/** Null for a key that was revoked or has expired, or whose account is disabled. */
export async function keyHolderNow(db: Database, key: KeyId, now: number): Promise<AccountId | null> {
  const [row] = await keyHolderById(db, key)
  return row === undefined || (row.expires_at !== null && row.expires_at <= now) ? null : row.account
}

export function listKeys(db: Database, account: AccountId): Promise<KeyRow[]> {
  return db
    .selectFrom('api_keys')
    .select((key) => [
      'id',
      'account_id',
      'name',
      'prefix',
      'hash',
      'created_at',
      'last_used_at',
      'revoked_at',
      'scopes',
      'folder',
      'expires_at',
      key
        .selectFrom('folders')
        .whereRef('folders.identifier', '=', 'api_keys.folder')
        .where('folders.deleted_at', 'is', null)
        .select('folders.name')
        .as('folder_name'),
    ])
    .where('account_id', '=', account)
    .orderBy('id')
    .execute()
}

export async function countKeys(db: Queryable, account: AccountId): Promise<number> {
  const { keys } = await db
    .selectFrom('api_keys')
    .select((row) => row.fn.countAll<number>().as('keys'))
    .where('account_id', '=', account)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return keys
}

export async function dropKeys(trx: Trx, account: AccountId): Promise<void> {
  await trx.deleteFrom('api_keys').where('account_id', '=', account).execute()
}

export async function setKeyRevoked(db: Queryable, id: KeyId, at: number): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
}
